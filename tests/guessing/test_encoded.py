"""Guessers that read with a sentence encoder: here one that counts words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from talkers import WORDS, masked, personas, scene, scenes, training_scenes
from understudy.guessing.baselines import (
    ROWS,
    EncodedGuesser,
    Vectors,
    fit_pooling,
    multi_row,
    rows,
    scene_pooling,
    vanilla_encoder,
    whole,
    windows,
)
from understudy.guessing.scenes import masks_of

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
    guesser = make(training_scenes(TOLD), Counting())
    right = []
    for item in FRESH:
        hidden = masked(item)
        results = guesser.guess(hidden.scene, personas(hidden.candidates))
        right += [
            max(results[mask], key=lambda name: results[mask][name]) == who for mask, who in hidden.answers.items()
        ]
    assert np.mean(right) > 0.6  # of three


def test_what_is_read_is_cut_as_the_model_says() -> None:
    talk = scene(("P0", "the tide"), ("P1", "the oven"))
    read = {}
    for name, make in (("whole", vanilla_encoder), ("rows", multi_row), ("windows", scene_pooling),
                       ("alone", partial(multi_row, alone=True))):  # fmt: skip
        encoder = Counting()
        guesser = make(training_scenes(TOLD[:4]), encoder)
        encoder.read.clear()
        guesser.guess(talk, personas(["Ann", "Ben"]))
        read[name] = encoder.read
    assert read["whole"] == read["alone"] == ["the tide", "the oven"]
    assert read["rows"] == ["the tide", "the oven / the tide"]
    assert read["windows"] == ["I: the tide you: the oven", "you: the tide I: the oven"]


def test_the_longest_scene_is_an_option() -> None:
    encoder = Counting()
    guesser = scene_pooling(training_scenes(TOLD[:4]), encoder, longest=4)
    encoder.read.clear()
    guesser.guess(scene(("P0", "the tide"), ("P1", "the oven"), ("P0", "the boat")), personas(["Ann", "Ben"]))
    assert not any("boat" in text for text in encoder.read)


def test_lessons_never_show_a_name_of_who_speaks() -> None:
    encoder = Counting()
    scene_pooling(training_scenes(TOLD), encoder)
    assert not any(f"{who}:" in text for text in encoder.read for who in WORDS)


def test_a_mask_without_a_row_may_be_anybody() -> None:
    guesser = multi_row(training_scenes(TOLD), Counting(), fill_empty=False)
    long = scene(("P0", "tide boat oar"), *[("P1", "bread oven flour")] * 15)
    results = guesser.guess(long, personas(["Ann", "Ben"]))
    assert results["P0"] == {"Ann": 0.5, "Ben": 0.5}
    assert results["P1"]["Ben"] > 0.5
    assert multi_row(training_scenes(TOLD), Counting()).guess(long, personas(["Ann", "Ben"]))["P0"]["Ann"] > 0.5


def test_candidates_are_weighed_among_themselves() -> None:
    guesser = vanilla_encoder(training_scenes(TOLD), Counting())
    talk = scene(("P0", "tide boat oar"), ("P1", "bread oven flour"))
    three = guesser.guess(talk, personas(["Ann", "Ben", "Cleo"]))
    two = guesser.guess(talk, personas(["Cleo", "Ben"]))
    assert two["P0"]["Ben"] / two["P0"]["Cleo"] == pytest.approx(three["P0"]["Ben"] / three["P0"]["Cleo"])
    assert list(two["P0"]) == ["Cleo", "Ben"]
    assert sum(two["P0"].values()) == pytest.approx(1)


TALK = scene(
    ("P1", "One."), (None, "A knock."), ("Gunther", "Two."), ("P0", "Three."), ("P1", "Four."), ("Pat", "Five.")
)


def test_masks_come_in_the_order_of_speaking_and_nobody_else_does() -> None:
    assert masks_of(TALK) == ("P1", "P0")


def test_whole_is_all_that_a_mask_says() -> None:
    assert whole(TALK) == {"P1": ["One. Four."], "P0": ["Three."]}


def test_a_row_is_an_utterance_and_what_came_before_nearest_first() -> None:
    assert rows(TALK) == {"P1": ["Four. / Three. / Two. / One.", "One."], "P0": ["Three. / Two. / One."]}


def test_rows_are_taken_from_the_end_and_who_has_none_gets_one() -> None:
    long = scene(("P0", "Early."), *[("P1", f"Line {number}.") for number in range(ROWS + 3)])
    assert rows(long)["P0"] == ["Early."]
    assert rows(long, fill_empty=False)["P0"] == []
    assert rows(long)["P1"][0].startswith(f"Line {ROWS + 2}.")
    assert rows(long, from_end=False)["P0"] == ["Early."]
    assert rows(long, from_end=False)["P1"][0] == "Line 0. / Early."
    assert len(rows(long, from_end=False)["P1"]) == ROWS - 1


def test_a_row_ends_before_it_is_too_long() -> None:
    talk = scene(("P0", "word " * 40), ("P1", "word " * 9), ("P0", "Ha."))
    assert rows(talk)["P0"][0] == f"Ha. / {'word ' * 9}"


def test_a_window_is_heard_by_each_mask_in_its_own_way() -> None:
    assert windows(TALK) == {
        "P1": ["I: One. (A knock.) Gunther: Two. you: Three. I: Four. Pat: Five."],
        "P0": ["you: One. (A knock.) Gunther: Two. I: Three. you: Four. Pat: Five."],
    }


def test_windows_end_with_the_longest_scene_but_nobody_is_left_without() -> None:
    long = scene(*[("P0", "word " * 30)] * 5, ("P1", "Late."))
    results = windows(long, longest=100)
    assert [len(text.split()) for text in results["P0"]] == [93]
    assert results["P1"] == ["I: Late."]


def test_attention_finds_the_text_that_tells() -> None:
    """Each mask has one telling text among noise; the mean of them would say little."""
    rng = np.random.default_rng(0)
    masks, texts, width = 300, 6, 12
    labels = rng.integers(0, 3, masks)
    vectors = rng.normal(0, 1.0, (masks, texts, width)).astype(np.float32)
    vectors[:, :, 0] = 0
    telling = rng.integers(0, texts, masks)
    vectors[np.arange(masks), telling] = 0
    vectors[np.arange(masks), telling, 0] = 3  # 'look here'
    vectors[np.arange(masks), telling, 1 + labels] = 2
    starts = np.arange(0, masks * texts + 1, texts)
    flat = vectors.reshape(-1, width)
    learned = fit_pooling(flat[: 200 * texts], starts[:201], labels[:200], 3, regularisation=0.001)
    results = learned.scores(flat[200 * texts :], starts[:101])
    assert (results.argmax(axis=1) == labels[200:]).mean() > 0.95
    assert np.exp(results).sum(axis=1) == pytest.approx(np.ones(100))


def test_the_order_of_a_masks_texts_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(8, 4)).astype(np.float32)
    starts = np.array([0, 3, 5, 8])
    learned = fit_pooling(vectors, starts, np.array([0, 1, 0]), 2)
    permuted = vectors[[2, 1, 0, 4, 3, 7, 5, 6]]
    assert learned.scores(permuted, starts) == pytest.approx(learned.scores(vectors, starts), abs=1e-5)
