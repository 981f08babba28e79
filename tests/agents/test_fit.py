"""The terms of the score beside the fit of vectors: shared words and hubness; and the cache of encoded texts."""

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

from understudy.agents import agent_named
from understudy.agents.fit import CachedEncoder, Hubness, SharedWords
from understudy.errors import InputError
from understudy.language.encoding import Context, Floats
from understudy.language.encoding.encoder import BACKGROUND, SentenceEncoder, shipped_model
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Persona


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
        shared, unrelated = words.scores(context, texts)
        assert shared > unrelated >= 0
    assert words.scores(Context(), texts) == [0, 0]


def test_only_the_last_thing_heard_counts_as_heard(encoder: SentenceEncoder) -> None:
    words = SharedWords(encoder)
    turns = ((False, "A walrus"), (True, "Oh"), (False, "Goodbye"))
    assert words.scores(Context(turns=turns), ["My walrus"]) == [0]
    assert words.scores(Context(turns=turns[:1]), ["My walrus"]) > [0]


def test_a_rare_word_in_common_counts_more_than_a_common_one(encoder: SentenceEncoder) -> None:
    words = SharedWords(encoder)
    rare, common = words.scores(Context(own=("The walrus.",)), ["A walrus.", "The end."])
    assert rare > common > 0


def test_a_reply_to_anything_is_a_hub(encoder: SentenceEncoder) -> None:
    texts = ["That is great, what do you do for a living?", "The ninth of December, in the smoke room, by the tongs."]
    usual, special = Hubness(encoder).scores(texts, encoder.encode(texts))
    assert usual > special


def test_a_cache_emptied_by_another_thread_loses_nothing(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a reply is scored, another thread scores so many that the cache is emptied."""
    monkeypatch.setattr("understudy.agents.fit.MAX_CACHED", 2)
    texts = ["Good evening.", "The ledger is gone.", "Nobody came."]
    vectors = encoder.encode(texts)
    expected = Hubness(encoder).scores(texts, vectors)
    hubness, score = Hubness(encoder), Hubness._score
    others = encoder.encode(["One.", "Two.", "Three."])

    def interrupted(self: Hubness, vector: NDArray[np.float64]) -> float:
        monkeypatch.setattr(Hubness, "_score", score)
        with ThreadPoolExecutor(1) as pool:
            for _ in range(2):
                pool.submit(hubness.scores, ["One.", "Two.", "Three."], others).result(timeout=60)
        monkeypatch.setattr(Hubness, "_score", interrupted)
        return score(self, vector)

    monkeypatch.setattr(Hubness, "_score", interrupted)
    assert hubness.scores(texts, vectors) == expected


def test_threads_do_not_wait_while_another_text_is_encoded(encoder: SentenceEncoder) -> None:
    started, go_on = Event(), Event()

    class Slow:
        width, weights, sharpness = encoder.width, encoder.weights, encoder.sharpness
        encode_contexts, cached = encoder.encode_contexts, encoder.cached

        def encode(self, texts: Sequence[str], role: str = "reply", keep: bool = True) -> Floats:
            if "slow" in texts:
                started.set()
                assert go_on.wait(60)
            return encoder.encode(texts, role, keep)

    cached = CachedEncoder(Slow())
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(cached.encode, ["slow", "quick"])
        assert started.wait(60)
        quick = pool.submit(cached.encode, ["quick"]).result(timeout=60)
        assert not slow.done()
        go_on.set()
        np.testing.assert_array_equal(slow.result(timeout=60)[1], quick[0])


def test_a_model_without_them_does_without(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(shipped_model(), bare)
    (bare / BACKGROUND).unlink()
    card = json.loads((bare / "model.json").read_text())
    (bare / "model.json").write_text(json.dumps({**card, "words": {}, "commonness": 0}))
    question = (Situation(Persona("Ines", profile=("I own a walrus.",))), [Turn("You", "Any pets?")], ["A walrus."])
    (plain,), (whole,) = agent_named(str(bare)).score(*question), agent_named("encoder").score(*question)
    assert plain != whole


def test_a_model_whose_background_is_missing_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(shipped_model(), broken)
    (broken / BACKGROUND).unlink()
    with pytest.raises(InputError, match="not whole"):
        agent_named(str(broken)).score(Situation(Persona("Ines")), [], ["Hello."])
