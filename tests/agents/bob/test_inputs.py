from __future__ import annotations

from pathlib import Path

import pytest

from models import tiny_base
from people import hearing, situation, tie
from understudy.agents.bob.inputs import CONTEXT_TOKENS, PERSONA_TOKENS, DialogueSequencer, conditioned_context
from understudy.errors import InputError
from understudy.language.encoding import Context
from understudy.training.pretrained import Base, load_base


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
