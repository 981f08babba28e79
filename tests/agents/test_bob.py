"""BERT over BERT as an agent, with a tiny network of random weights."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models import tiny_base, tiny_model
from people import hearing, situation, tie
from understudy.agents import agent_named
from understudy.agents.bob import (
    CONTEXT_TOKENS,
    PERSONA_TOKENS,
    TEXT_TOKENS,
    BobAgent,
    DialogueSequencer,
    beam_search,
    conditioned_context,
)
from understudy.agents.pools import own_past
from understudy.errors import InputError
from understudy.language.encoding import Context
from understudy.language.model_folder import read_tensors, write_tensors
from understudy.story.dialogue import BatchAgent, BatchLanguageModel, Turn
from understudy.training.pretrained import Base, load_base

pytest.importorskip("torch", reason="the network needs the extra 'train'")

TOMAS = situation(profile=("i mend clocks .", "i live by the mill ."))
BAKER = situation(profile=("i bake bread .",), relations=(tie("Ines", "affection", 8),), faced="Ines")
TALK = [
    *hearing("hello , where do you live ?"),
    Turn("Tomas", "by the mill ."),
    *hearing("and what do you do all day ?"),
]
TEXTS = [
    "i mend clocks all day .",
    "",
    "i bake bread .",
    "where is the brass key that you lost in the boat by the mill ?",
]
QUESTIONS = [(TOMAS, TALK, TEXTS), (BAKER, hearing("hello"), TEXTS[:1]), (TOMAS, [], TEXTS[1:])]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model("bob", tmp_path_factory.mktemp("models") / "bob")


@pytest.fixture(scope="module")
def agent(model: Path) -> BobAgent:
    return BobAgent(model)


def test_it_speaks_the_protocols(agent: BobAgent, model: Path) -> None:
    assert isinstance(agent, BatchAgent) and isinstance(agent, BatchLanguageModel)
    assert isinstance(agent_named(str(model), candidates=own_past), BobAgent)


def test_what_follows_does_not_change_the_probability_of_what_came_before(agent: BobAgent) -> None:
    whole = agent.log_probs(TOMAS, TALK, "i mend clocks all day by the mill")
    for words in (1, 3, 5):
        part = agent.log_probs(TOMAS, TALK, " ".join("i mend clocks all day by the mill".split()[:words]))
        assert len(part) == words + 1
        assert part[:-1] == pytest.approx(whole[:words], abs=1e-5)


def test_probabilities_of_a_next_word_sum_to_one(agent: BobAgent, model: Path) -> None:
    vocabulary = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    words = [word for word in vocabulary if not word.startswith("[")]
    first = [values[0] for values in agent.log_probs_many([(TOMAS, TALK, words)])[0]]
    end = agent.log_probs(TOMAS, TALK, "")[0]
    assert 0 < np.exp(first).sum() + np.exp(end) <= 1 + 1e-5
    assert np.exp(first).sum() + np.exp(end) > 0.5  # the rest are special tokens


def test_many_at_once_are_as_one_at_a_time(agent: BobAgent) -> None:
    together = agent.log_probs_many(QUESTIONS)
    for (given, history, texts), values in zip(QUESTIONS, together):
        assert len(values) == len(texts)
        for text, own in zip(texts, values):
            assert own == pytest.approx(agent.log_probs(given, history, text), abs=1e-4)
    scores = agent.score_many(QUESTIONS)
    assert scores[0] == pytest.approx(agent.score(*QUESTIONS[0]), abs=1e-4)
    asked = [(given, history) for given, history, _ in QUESTIONS]
    assert [reply.text for reply in agent.reply_many(asked)] == [agent.reply(*question).text for question in asked]
    assert agent.reply_many([]) == [] and agent.log_probs_many([]) == []


def test_a_score_is_the_mean_log_probability(agent: BobAgent) -> None:
    expected = [np.mean(agent.log_probs(TOMAS, TALK, text)) for text in TEXTS]
    assert agent.score(TOMAS, TALK, TEXTS) == pytest.approx(expected, abs=1e-6)


def test_persona_and_history_are_read_by_per_and_history_alone_by_ori(model: Path, tmp_path: Path) -> None:
    per, ori = BobAgent(model), BobAgent(tiny_model("bob", tmp_path / "ori", input="ori"))
    assert per.score(TOMAS, TALK, TEXTS) != per.score(BAKER, TALK, TEXTS)
    assert ori.score(TOMAS, TALK, TEXTS) == ori.score(BAKER, TALK, TEXTS)
    assert ori.score(TOMAS, TALK, TEXTS) != ori.score(TOMAS, TALK[:1], TEXTS)


def test_the_consistency_decoder_reads_the_persona_again(model: Path) -> None:
    agents = [BobAgent(model, decoder=decoder) for decoder in ("response", "consistency")]
    first, second = (agent.score(TOMAS, TALK, TEXTS) for agent in agents)
    assert first != second
    with pytest.raises(InputError, match="choose from response, consistency"):
        BobAgent(model, decoder="third")


def test_a_reply_is_what_it_says_it_is_worth(agent: BobAgent) -> None:
    reply = agent.reply(TOMAS, TALK)
    assert reply.log_probs is not None and reply.candidates[0].score == pytest.approx(np.mean(reply.log_probs))
    assert reply.log_probs == pytest.approx(agent.log_probs(TOMAS, TALK, reply.text), abs=1e-4)


def test_more_beams_find_replies_that_are_no_less_probable(model: Path) -> None:
    greedy, wide = BobAgent(model), BobAgent(model, beams=4)
    asked = [(TOMAS, TALK), (BAKER, hearing("hello")), (TOMAS, hearing("where is the key ?"))]
    replies = (agent.reply_many(asked) for agent in (greedy, wide))
    first, second = ([reply.candidates[0].score or 0.0 for reply in each] for each in replies)
    assert np.mean(second) >= np.mean(first)


def test_a_text_without_end_is_read_up_to_a_limit(agent: BobAgent) -> None:
    assert len(agent.log_probs(TOMAS, TALK, "where " * 10_000)) == TEXT_TOKENS - 1


def test_a_damaged_folder_says_so(tmp_path: Path) -> None:
    folder = tiny_model("bob", tmp_path / "bob")
    tensors, _ = read_tensors(folder / "weights.safetensors")
    name = "cross.consistency.persona.0.key.weight"
    write_tensors(folder / "weights.safetensors", {key: value for key, value in tensors.items() if key != name})
    with pytest.raises(InputError, match=rf"{name}.*train the model again"):
        BobAgent(folder)
    write_tensors(folder / "weights.safetensors", {**tensors, name: tensors[name][:3]})
    with pytest.raises(InputError, match="not those of such a network"):
        BobAgent(folder)
    write_tensors(folder / "weights.safetensors", {**tensors, name: tensors[name] * np.float16("nan")})
    with pytest.raises(InputError, match="not finite"):
        BobAgent(folder)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        BobAgent(folder)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return load_base(tiny_base(tmp_path_factory.mktemp("base")))


def sequencer(base: Base, given: str = "per") -> DialogueSequencer:
    return DialogueSequencer(base.form, base.tokenizer, base.shape.words, given)


LONG = Context(own=("i mend clocks .",) * 40, theirs=("i bake bread .",), turns=((False, "where do you live ? " * 40),))


def test_ties_to_the_one_faced_come_before_the_profile() -> None:
    given = situation(profile=("I mend clocks.",), relations=(tie("Ines", "affection", -8),), faced="Ines")
    context = conditioned_context(given, hearing("Hello."))
    assert len(context.own) == 2 and "Ines" in context.own[0] and context.own[1] == "I mend clocks."
    assert context.turns == ((False, "Hello."),)


def test_lengths_are_bounded_and_what_was_said_last_is_kept(base: Base) -> None:
    read = sequencer(base)
    (context,), (persona,) = read.contexts([LONG]), read.personas([LONG])
    assert len(context) == CONTEXT_TOKENS and len(persona) == PERSONA_TOKENS
    (last,) = (ids[1:] for ids in read.replies(["do you live ?"], 64))
    assert context[-len(last) :] == last
    assert len(read.replies(["where " * 100], 64)[0]) == 64


def test_ori_reads_only_what_was_said(base: Base) -> None:
    bare = Context(turns=LONG.turns)
    assert sequencer(base, "ori").contexts([LONG]) == sequencer(base).contexts([bare])
    assert sequencer(base, "ori").personas([LONG]) == sequencer(base).personas([bare])
    assert sequencer(base).contexts([LONG]) != sequencer(base).contexts([bare])
    with pytest.raises(InputError, match="choose from ori, per"):
        sequencer(base, "all")


def test_a_premise_stands_where_a_persona_does(base: Base) -> None:
    for given in ("ori", "per"):
        assert sequencer(base, given).premises(["i mend clocks"]) == sequencer(base).personas(
            [Context(("i mend clocks",))]
        )


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ("i ' m a clock ##maker . you ?", "I'm a clockmaker. You?"),
        ("what ' s well - known ( here ) ?", "What's well-known (here)?"),
        ("he said hi , and i left !", "He said hi, and I left!"),
        ("##ly .", "Ly."),
    ],
)
def test_word_pieces_become_text(base: Base, pieces: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pieces:
        def id_to_token(self, index: int) -> str:
            return pieces.split()[index]

    read = sequencer(base)
    monkeypatch.setattr(read, "_tokenizer", Pieces())
    assert read.text(range(len(pieces.split()))) == text


def test_special_tokens_are_unspeakable_and_words_are_not(base: Base, tmp_path: Path) -> None:
    read = sequencer(base)
    (words,) = (ids[1:-1] for ids in read.replies(["i mend clocks ."], 64))
    assert not set(words) & set(read.unspeakable)
    assert {base.form.first, base.mask, *base.form.markers.values()} <= set(read.unspeakable)
    assert base.form.last not in read.unspeakable
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be read as a tokenizer"):
        DialogueSequencer(base.form, tmp_path / "tokenizer.json", 10, "per")


# Beam search over a language model that is a table.


torch = pytest.importorskip("torch", reason="search needs the extra 'train'")

FIRST, LAST, UNSPEAKABLE = 0, 1, 2
A, B, C = 3, 4, 5


def table(after: dict[tuple[int, ...], dict[int, float]]) -> Callable[[Sequence[Sequence[int]], Sequence[int]], Any]:
    """Probabilities of the next word by the words so far; elsewhere all of it ends."""

    def next_log_probs(beginnings: Sequence[Sequence[int]], _questions: Sequence[int]) -> Any:
        rows = [after.get(tuple(beginning[1:]), {LAST: 1.0}) for beginning in beginnings]
        return torch.tensor([[math.log(row.get(word, 1e-9)) for word in range(6)] for row in rows])

    return next_log_probs


GARDEN_PATH = table({(): {A: 0.6, B: 0.4}, (A,): {A: 0.4, B: 0.3, C: 0.3}, (B,): {C: 1.0}, (A, A): {A: 0.5, B: 0.5}})
"""Greedily A A .., of 0.24 or less; but B C has a probability of 0.4."""


def search(model: Any, **options: Any) -> list[tuple[int, ...]]:
    return [reply.tokens for reply in beam_search(model, 1, FIRST, LAST, (FIRST, UNSPEAKABLE), **options)]


def test_one_beam_is_greedy_and_more_find_what_is_more_probable() -> None:
    assert search(GARDEN_PATH, beams=1)[0][:2] == (A, A)
    assert search(GARDEN_PATH, beams=2) == [(B, C, LAST)]


def test_the_score_is_the_mean_log_probability_of_its_tokens() -> None:
    (reply,) = beam_search(GARDEN_PATH, 1, FIRST, LAST, (), beams=2)
    assert reply.log_probs == pytest.approx((math.log(0.4), 0.0, 0.0), abs=1e-6)
    assert reply.score == pytest.approx(math.log(0.4) / 3)


def test_no_run_of_three_is_said_twice() -> None:
    forever = table({beginning: {A: 0.6, B: 0.3, LAST: 0.1} for beginning in every(4)})
    (reply,) = search(forever, longest=12)
    runs = [reply[start : start + 3] for start in range(len(reply) - 2)]
    assert len(runs) == len(set(runs))


def every(length: int) -> list[tuple[int, ...]]:
    beginnings: list[tuple[int, ...]] = [()]
    for _ in range(length):
        beginnings += [(*beginning, word) for beginning in beginnings for word in (A, B, C)]
    return beginnings


def test_special_tokens_are_never_said_and_nothing_is_too_short_or_too_long() -> None:
    silent = table({(): {LAST: 0.9, UNSPEAKABLE: 0.09, B: 0.01}, (B,): {LAST: 0.9, C: 0.1}})
    assert search(silent) == [(B, C, LAST)]
    endless = table({beginning: {A: 0.5, B: 0.3, C: 0.2} for beginning in every(5)})
    assert len(search(endless, longest=4)[0]) == 4


def test_questions_are_answered_apart() -> None:
    def next_log_probs(beginnings: Sequence[Sequence[int]], questions: Sequence[int]) -> Any:
        wanted = [[A, B, LAST], [C, C, A, B, LAST]]
        rows = torch.full((len(beginnings), 6), -20.0)
        for row, (beginning, question) in enumerate(zip(beginnings, questions)):
            rows[row, wanted[question][len(beginning) - 1]] = 0.0
        return rows

    for beams in (1, 3):
        replies = beam_search(next_log_probs, 2, FIRST, LAST, (), beams=beams)
        assert [reply.tokens for reply in replies] == [(A, B, LAST), (C, C, A, B, LAST)]
