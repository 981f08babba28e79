"""What the shipped model counts beside the fit of vectors: words in common, and how near a reply is to anything."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from numpy.typing import NDArray

from understudy.agents import agent_named, commonness
from understudy.agents.commonness import Commonness
from understudy.agents.fit import Vectors
from understudy.agents.shared_words import SharedWords
from understudy.dialogue import Situation, Turn
from understudy.encoding import Context, Floats, SentenceEncoder
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


def test_what_another_thread_does_meanwhile_loses_nothing(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one reply is worked out, others ask for so many that what is remembered is given up."""
    monkeypatch.setattr(commonness, "KEPT", 2)
    texts = ["Good evening.", "The ledger is gone.", "Nobody came."]
    vectors = encoder.encode(texts)
    expected = Commonness(encoder).of(texts, vectors)
    common, near = Commonness(encoder), Commonness._near
    others = encoder.encode(["One.", "Two.", "Three."])

    def interrupted(self: Commonness, vector: NDArray[np.float64]) -> float:
        monkeypatch.setattr(Commonness, "_near", near)
        with ThreadPoolExecutor(1) as pool:
            for _ in range(2):
                pool.submit(common.of, ["One.", "Two.", "Three."], others).result(timeout=60)
        monkeypatch.setattr(Commonness, "_near", interrupted)
        return near(self, vector)

    monkeypatch.setattr(Commonness, "_near", interrupted)
    assert common.of(texts, vectors) == expected


def test_nobody_waits_while_another_text_is_encoded(encoder: SentenceEncoder) -> None:
    started, go_on = Event(), Event()

    class Slow:
        width, weights, sharpness = encoder.width, encoder.weights, encoder.sharpness
        encode_contexts = encoder.encode_contexts

        def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats:
            if "slow" in texts:
                started.set()
                assert go_on.wait(60)
            return encoder.encode(texts, role, keep)

    vectors = Vectors(Slow())
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(vectors.of, ["slow", "quick"])
        assert started.wait(60)
        quick = pool.submit(vectors.of, ["quick"]).result(timeout=60)
        assert not slow.done()
        go_on.set()
        np.testing.assert_array_equal(slow.result(timeout=60)[1], quick[0])


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
