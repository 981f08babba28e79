"""What the shipped model counts beside the fit of vectors: words in common, and how near a reply is to anything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from understudy.agents import agent_named
from understudy.agents.commonness import Commonness
from understudy.agents.shared_words import SharedWords
from understudy.dialogue import Situation, Turn
from understudy.encoding import Context, SentenceEncoder
from understudy.encoding.encoder import BACKGROUND, shipped_model
from understudy.errors import InputError
from understudy.persona import Persona


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder(cache=False)


def test_words_of_the_profile_of_what_was_said_and_of_what_was_heard_count(encoder: SentenceEncoder) -> None:
    words = SharedWords(encoder)
    texts = ["My walrus sleeps.", "Nothing of the kind."]
    for context in (
        Context(own=("I own a walrus.",)),
        Context(turns=((True, "I own a walrus."), (False, "Really?"))),
        Context(turns=((False, "Do you own a walrus?"),)),
    ):
        shared, other = words.of(context, texts)
        assert shared > other >= 0
    assert words.of(Context(), texts) == [0, 0]


def test_only_the_last_thing_heard_counts_as_heard(encoder: SentenceEncoder) -> None:
    words = SharedWords(encoder)
    turns = ((False, "A walrus"), (True, "Oh"), (False, "Goodbye"))
    assert words.of(Context(turns=turns), ["My walrus"]) == [0]
    assert words.of(Context(turns=turns[:1]), ["My walrus"]) > [0]


def test_a_rare_word_in_common_counts_more_than_a_common_one(encoder: SentenceEncoder) -> None:
    words = SharedWords(encoder)
    rare, common = words.of(Context(own=("The walrus.",)), ["A walrus.", "The end."])
    assert rare > common > 0


def test_what_suits_anything_is_nearer_to_anything(encoder: SentenceEncoder) -> None:
    texts = ["That is great, what do you do for a living?", "The ninth of December, in the smoke room, by the tongs."]
    anybody, nobody = Commonness(encoder).of(texts, encoder.encode(texts))
    assert anybody > nobody


def test_a_model_without_them_does_without(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(shipped_model(), bare)
    (bare / BACKGROUND).unlink()
    card = json.loads((bare / "model.json").read_text())
    (bare / "model.json").write_text(json.dumps({**card, "words": {}, "commonness": 0}))
    asked = (Situation(Persona("Ines", profile=("I own a walrus.",))), [Turn("You", "Any pets?")], ["A walrus."])
    (plain,), (whole,) = agent_named(str(bare)).score(*asked), agent_named("encoder").score(*asked)
    assert plain != whole


def test_a_model_whose_background_is_missing_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(shipped_model(), broken)
    (broken / BACKGROUND).unlink()
    with pytest.raises(InputError, match="not whole"):
        agent_named(str(broken)).score(Situation(Persona("Ines")), [], ["Hello."])
