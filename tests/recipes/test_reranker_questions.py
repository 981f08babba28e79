"""What the reranker is asked: chats and novels, drawn anew each time."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import novel_texts
from recipes.reranker.novels import NovelQuestions, novels_of
from recipes.reranker.questions import CANDIDATES, ChatQuestions, NextReply
from understudy.training.dialogues import ProfiledDialogue

CHAT = ProfiledDialogue(
    (("I sail.", "I am old."), ("I bake.", "I sing.")),
    ((0, "Hello."), (1, "Hi, I bake bread."), (0, "I sail."), (1, "Where to?"), (0, "North."), (1, "Cold there.")),
)
OTHER = ProfiledDialogue((("I mend clocks.",), ("I farm.",)), ((0, "Tick."), (1, "Tock."), (0, "Late again.")))


@pytest.fixture
def novels(tmp_path: Path) -> list[NovelQuestions]:
    return novels_of(novel_texts.folder(tmp_path / "pdnc"), held_back=False)


def drawn(source: ChatQuestions | NovelQuestions, index: int, times: int = 30) -> list[NextReply]:
    return [source.draw(index, Random(seed)) for seed in range(times)]


def test_every_turn_but_the_first_of_a_chat_is_asked_for() -> None:
    chats = ChatQuestions([CHAT, OTHER])
    assert len(chats) == 7
    for question in drawn(chats, 3):
        assert question.replies[0] == "North."
        assert len(question.replies) == CANDIDATES
        assert question.turns[-1][1] == "Where to?"
        assert question.turns[-1][0] != question.name
        assert "Where to?" not in question.replies[1:3] and "Cold there." not in question.replies[1:3]


def test_a_chats_profile_is_that_of_whoever_answers_and_is_sometimes_withheld() -> None:
    told = {question.about for question in drawn(ChatQuestions([CHAT, OTHER]), 3)}
    assert "" in told
    assert {word for about in told for word in about.split()} == {"I", "sail.", "am", "old."}


def test_a_reply_that_says_the_same_is_marked() -> None:
    asked = NextReply("Ines", "", "", (), ("No.", "no. ", "Yes.", "No."))
    assert asked.repeated == [False, True, False, True]


def test_speeches_of_novels_answer_one_another(novels: list[NovelQuestions]) -> None:
    harbour = novels[0]
    assert len(novels) == 2
    for question in drawn(harbour, 10):
        right = question.replies[0]
        assert len(question.replies) == CANDIDATES
        assert question.turns[-1][0] != question.name
        assert right not in [text for _, text in question.turns]
    lengths = {len(question.turns) for question in drawn(harbour, 20)}
    assert len(lengths) > 2


def test_the_narration_around_is_the_scene_and_never_has_a_speech(novels: list[NovelQuestions]) -> None:
    settings = [question.setting for question in drawn(novels[0], 15)]
    assert "" in settings
    assert any("gulls" in setting for setting in settings)
    assert not any("boat number" in setting or "Where is" in setting for setting in settings)
    assert not any('"' in setting for setting in settings)


def test_the_novels_held_back_are_others(tmp_path: Path) -> None:
    folder = novel_texts.folder(tmp_path / "pdnc")
    (held,) = novels_of(folder, held_back=True)
    assert all("Awakening" in reply for reply in held.replies)
    assert not any("Awakening" in reply for novel in novels_of(folder, held_back=False) for reply in novel.replies)


def test_one_wrong_reply_may_be_of_another_novel(novels: list[NovelQuestions]) -> None:
    texts = {reply for question in drawn(novels[0], 5, 60) for reply in question.replies[1:]}
    assert any("Orchard" in text for text in texts)


def test_the_same_chance_draws_the_same(novels: list[NovelQuestions]) -> None:
    assert novels[0].draw(4, Random(3)) == novels[0].draw(4, Random(3))
