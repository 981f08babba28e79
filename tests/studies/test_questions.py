"""Questions of a study's material: from a story's lines, probes, messages and sessions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hpdsessions
from understudy.errors import AgentError, InputError
from understudy.story.dialogue import Reply, Situation, Turn
from understudy.story.persona import Persona
from understudy.studies import Study
from understudy.studies import questions as module
from understudy.studies.questions import OWN, AgentReplies, AskedQuestion, dialogue_block, persona_blocks, questions_of


def _asked(folder: Path, seed: int = 0, **material: Any) -> list[AskedQuestion]:
    return questions_of(Study("prefer", "A study", seed=seed, material=material, folder=folder))[1]


def test_a_storys_own_lines_are_asked_for(tmp_path: Path) -> None:
    asked = _asked(tmp_path, story="demo", characters=["Zita"], limit=5)
    assert len(asked) == 5
    assert {question.situation.persona.name for question in asked} == {"Zita Karst"}
    assert all(question.own and len(question.history) >= 2 for question in asked)
    moments = [question.situation.persona.moment for question in asked]
    assert moments == sorted(moments)
    assert asked != _asked(tmp_path, seed=1, story="demo", characters=["Zita"], limit=5)


def test_lines_before_a_moment(tmp_path: Path, story: Path) -> None:
    every = _asked(tmp_path, story=str(story), turns=1, limit=100)
    early = _asked(tmp_path, story=str(story), turns=1, limit=100, at="2.1")
    assert 0 < len(early) < len(every)
    assert {question.name for question in early} < {question.name for question in every}


def test_the_probes_of_a_story_that_comes_with_the_program(tmp_path: Path) -> None:
    asked = _asked(tmp_path, story="demo", questions="probes.toml", limit=4)
    assert len(asked) == 4
    assert all(len(question.history) == 1 and question.own is None for question in asked)


def test_probes_beside_the_study_come_first(tmp_path: Path, story: Path) -> None:
    probe = '[[probe]]\nwho = "Ines"\nat = "2.1"\nfacing = "Tobias"\nask = "Where is the key?"\nmust = ["hook"]\n'
    several = probe.replace('"Where is the key?"', '["Hello.", "Where is it?"]')
    (tmp_path / "probes.toml").write_text(probe + several, encoding="utf-8")
    (question,) = _asked(tmp_path, story=str(story), questions="probes.toml")
    assert question.name == "probe 1"
    assert [(turn.speaker, turn.text) for turn in question.history] == [("Tobias Rook", "Where is the key?")]


def test_messages_are_put_to_each_character(tmp_path: Path, story: Path) -> None:
    (tmp_path / "messages.txt").write_text("Good morning.\n\nWho has the key?\n", encoding="utf-8")
    asked = _asked(
        tmp_path, story=str(story), characters=["Ines", "Mara"], questions="messages.txt", facing="Tobias", at="2.1"
    )
    assert [question.name for question in asked] == [
        "message 1.Ines Vale", "message 1.Mara Quill", "message 2.Ines Vale", "message 2.Mara Quill",
    ]  # fmt: skip
    assert {question.history[0].speaker for question in asked} == {"Tobias Rook"}


def test_sessions_carry_what_was_proposed(tmp_path: Path) -> None:
    sessions = hpdsessions.sessions(2)
    first = next(iter(sessions.values()))
    first["proposed"] = [
        {"text": text, "agent": agent} for text, agent in (("One.", "a"), ("Two.", "b"), ("Three.", "a"))
    ]
    hpdsessions.write(tmp_path / "set.json", sessions)
    story, asked = questions_of(Study("criteria", "", material={"questions": "set.json"}, folder=tmp_path))
    assert story is None
    assert asked[0].proposed == {"a": "One.", "b": "Two."}
    assert asked[0].own == first["positive_response"]
    assert asked[1].proposed == {}


def test_a_judge_sees_scene_attributes_and_the_ties_to_those_there(tmp_path: Path) -> None:
    hpdsessions.write(tmp_path / "set.json", hpdsessions.sessions(1))
    (question,) = _asked(tmp_path, questions="set.json")
    titles = [block.title for block in persona_blocks(question.situation)]
    assert titles == ["The scene", "Who Wren is", "What Wren knows of Moss", "How Wren stands to others"]
    said = dialogue_block(question, "Here it is.")
    assert [(line.speaker, line.text, line.is_asked) for line in said.lines] == [
        ("Moss", "Have you seen my compass?", False),
        ("Wren", "Here it is.", True),
    ]


def test_ties_to_those_who_are_away_are_left_out(tmp_path: Path, story: Path) -> None:
    (tmp_path / "messages.txt").write_text("Hello.\n", encoding="utf-8")
    material: dict[str, Any] = {"story": str(story), "characters": ["Ines"], "questions": "messages.txt", "at": "2.2"}
    (faced,) = _asked(tmp_path, **material, facing="Mara")
    (alone,) = _asked(tmp_path, **material)
    shown = json.dumps([block.title for block in persona_blocks(replace(faced.situation, present=()))])
    assert "stands to others" not in shown
    assert "stands to others" in json.dumps([block.title for block in persona_blocks(alone.situation)])


@pytest.mark.parametrize("questions", ["notes.pdf", "what is it"])
def test_other_files_are_refused(tmp_path: Path, questions: str) -> None:
    with pytest.raises(InputError, match="probes"):
        _asked(tmp_path, story="demo", questions=questions)


class Counting:
    """Says how often it was asked; fails on a word."""

    def __init__(self, card: dict[str, str] | None = None) -> None:
        self.asked = 0
        self.card = card

    def reply(self, _: Situation, history: Sequence[Turn]) -> Reply:
        if history[-1].text == "fail":
            raise AgentError("no connection")
        self.asked += 1
        return Reply(f"(coughs) {history[-1].text} once more")


@pytest.fixture
def agents(monkeypatch: pytest.MonkeyPatch) -> dict[str, Counting]:
    known: dict[str, Counting] = {}

    def load(names: Sequence[str], _: object) -> dict[str, Counting]:
        return {name: known.setdefault(name, Counting()) for name in names}

    monkeypatch.setattr(module, "load_agents", load)
    return known


def _question(text: str, own: str | None = None, **proposed: str) -> AskedQuestion:
    return AskedQuestion(f"q {text}", Situation(Persona("Zita")), (Turn("Tom", text),), own, proposed)


def _study(folder: Path) -> Study:
    return Study("likely", "A study", folder=folder)


def test_a_stopped_run_goes_on(tmp_path: Path, agents: dict[str, Counting]) -> None:
    first = AgentReplies(_study(tmp_path), None)
    assert first.reply("a", _question("hello")) == "hello once more"
    with pytest.raises(AgentError, match="no connection"):
        first.reply("a", _question("fail"))
    again = AgentReplies(_study(tmp_path), None)
    assert again.reply("a", _question("hello")) == "hello once more"
    assert agents["a"].asked == 1


def test_another_question_agent_or_model_is_asked(tmp_path: Path, agents: dict[str, Counting]) -> None:
    replies = AgentReplies(_study(tmp_path), None)
    for name, text in (("a", "hello"), ("b", "hello"), ("a", "goodbye")):
        replies.reply(name, _question(text))
    assert (agents["a"].asked, agents["b"].asked) == (2, 1)
    agents["a"].card = {"trained": "anew"}
    replies.reply("a", _question("hello"))
    assert agents["a"].asked == 3


def test_what_is_known_already_needs_no_agent(tmp_path: Path, agents: dict[str, Counting]) -> None:
    replies = AgentReplies(_study(tmp_path), None)
    asked = _question("hello", "As I said.", a="Proposed.")
    assert replies.reply("a", asked) == "Proposed."
    assert replies.reply(OWN, asked) == "As I said."
    assert replies.reply(OWN, _question("hello")) is None
    assert agents == {}


def test_equal_replies_are_one_with_all_who_gave_it(tmp_path: Path, agents: dict[str, Counting]) -> None:
    replies = AgentReplies(_study(tmp_path), None)
    found = replies.different(["a", "b", "c", OWN], _question("hello", "Go.", c="Stay."))
    assert sorted(found) == [("Go.", [OWN]), ("Stay.", ["c"]), ("hello once more", ["a", "b"])]
    assert set(agents) == {"a", "b"}
