"""Guessers that read with a sentence encoder: here one that counts words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from talkers import WORDS, lessons, masked, personas, scene, scenes
from understudy.guessing.encoded import EncodedGuesser, multi_row, scene_pooling, vanilla_encoder
from understudy.guessing.pooling import Vectors

TOLD, FRESH = scenes(40, seed=1, own=2), scenes(20, seed=2, own=2)
Make = Callable[..., EncodedGuesser]


class Counting:
    """A vector has a place for every word that anybody has of their own, and one for each of those said as 'I'."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.read += texts
        rows = [self._counts(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(-1, 2 * len(WORDS))

    def _counts(self, text: str) -> list[float]:
        own = " ".join(part for part in text.replace(" you:", " I:you:").split("I:") if not part.startswith("you:"))
        return [sum(said.count(word) for word in words) / 2 for said in (text, own) for words in WORDS.values()]


@pytest.mark.parametrize("make", [vanilla_encoder, multi_row, scene_pooling, partial(multi_row, alone=True)])
def test_it_learns_who_says_what(make: Make) -> None:
    guesser = make(lessons(TOLD), Counting())
    right = []
    for one in FRESH:
        hidden = masked(one)
        found = guesser.guess(hidden.scene, personas(hidden.candidates))
        right += [max(found[mask], key=lambda name: found[mask][name]) == who for mask, who in hidden.answers.items()]
    assert np.mean(right) > 0.6  # of three


def test_what_is_read_is_cut_as_the_model_says() -> None:
    talk = scene(("P0", "the tide"), ("P1", "the oven"))
    read = {}
    for name, make in (("whole", vanilla_encoder), ("rows", multi_row), ("windows", scene_pooling),
                       ("alone", partial(multi_row, alone=True))):  # fmt: skip
        encoder = Counting()
        guesser = make(lessons(TOLD[:4]), encoder)
        encoder.read.clear()
        guesser.guess(talk, personas(["Ann", "Ben"]))
        read[name] = encoder.read
    assert read["whole"] == read["alone"] == ["the tide", "the oven"]
    assert read["rows"] == ["the tide", "the oven / the tide"]
    assert read["windows"] == ["I: the tide you: the oven", "you: the tide I: the oven"]


def test_the_longest_scene_is_an_option() -> None:
    encoder = Counting()
    guesser = scene_pooling(lessons(TOLD[:4]), encoder, longest=4)
    encoder.read.clear()
    guesser.guess(scene(("P0", "the tide"), ("P1", "the oven"), ("P0", "the boat")), personas(["Ann", "Ben"]))
    assert not any("boat" in text for text in encoder.read)


def test_lessons_never_show_a_name_of_who_speaks() -> None:
    encoder = Counting()
    scene_pooling(lessons(TOLD), encoder)
    assert not any(f"{who}:" in text for text in encoder.read for who in WORDS)


def test_a_mask_without_a_row_may_be_anybody() -> None:
    guesser = multi_row(lessons(TOLD), Counting(), fill_empty=False)
    long = scene(("P0", "tide boat oar"), *[("P1", "bread oven flour")] * 15)
    found = guesser.guess(long, personas(["Ann", "Ben"]))
    assert found["P0"] == {"Ann": 0.5, "Ben": 0.5}
    assert found["P1"]["Ben"] > 0.5
    assert multi_row(lessons(TOLD), Counting()).guess(long, personas(["Ann", "Ben"]))["P0"]["Ann"] > 0.5


def test_candidates_are_weighed_among_themselves() -> None:
    guesser = vanilla_encoder(lessons(TOLD), Counting())
    talk = scene(("P0", "tide boat oar"), ("P1", "bread oven flour"))
    three = guesser.guess(talk, personas(["Ann", "Ben", "Cleo"]))
    two = guesser.guess(talk, personas(["Cleo", "Ben"]))
    assert two["P0"]["Ben"] / two["P0"]["Cleo"] == pytest.approx(three["P0"]["Ben"] / three["P0"]["Cleo"])
    assert list(two["P0"]) == ["Cleo", "Ben"]
    assert sum(two["P0"].values()) == pytest.approx(1)
