"""What each main character has said and heard so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.guessing import clues as clues_module
from understudy.guessing.clues import SAYINGS, TOPICS, SceneMemory
from understudy.guessing.features import Bag, Terms
from understudy.language.lexical.rows import Reals

SPACES = ("own", "heard", "answer")
CLUES = [*SAYINGS, *TOPICS]


def bag(own: str = "", heard: str = "", answer: str = "") -> Bag:
    content = {"own": own, "heard": heard, "answer": answer}
    return {space: {word: text.split().count(word) for word in text.split()} for space, text in content.items()}


VOCABULARY = [bag("tide boat key", "tide boat key", "tide boat key")] * 2 + [bag("so", "so", "so")] * 5
TERMS = Terms(VOCABULARY, SPACES)


def told(*past: tuple[int, Bag], people: int = 2) -> SceneMemory:
    """A scene for each of what somebody said."""
    results = SceneMemory(TERMS, people)
    for who, said in past:
        results.remember(TERMS.counted([said]), [who])
    return results


def clues(results: SceneMemory, request: Bag) -> dict[str, list[float]]:
    """Each clue, for each person."""
    table = results.clues(TERMS.counted([request]))[0]
    return {clue: table[:, index].tolist() for index, clue in enumerate(CLUES)}


def test_who_knows_nothing_tells_nothing() -> None:
    assert not np.any(told().clues(TERMS.counted([bag("tide", "boat")])))


def test_who_said_it_is_likely_to_say_it_again() -> None:
    results = told(*[(0, bag("tide")), (1, bag("boat"))] * 4)
    for clue, (first, second) in clues(results, bag("tide")).items():
        if clue.startswith(("own", "said said")):
            assert first > second
        else:
            assert first == second == 0


def test_what_was_heard_comes_up_crosswise() -> None:
    results = clues(told((0, bag("so", heard="key")), (1, bag("so"))), bag("key"))
    assert results["said heard in the last 4 scenes"][0] > results["said heard in the last 4 scenes"][1] == 0
    results = clues(told((0, bag("key")), (1, bag("so"))), bag("so", heard="key"))
    assert results["heard said in the last 4 scenes"][0] > results["heard said in the last 4 scenes"][1] == 0


def test_what_was_said_lately_counts_more_the_shorter_the_memory() -> None:
    """One said 'tide' long ago, the other a scene ago."""
    results = clues(
        told((0, bag("tide")), *[(0, bag("so"))] * 40, (1, bag("tide")), *[(1, bag("so"))] * 2), bag("tide")
    )
    old, new = results["said said in the last 4 scenes"]
    assert new > 10 * old > 0
    older, newer = results["said said in the last 250 scenes"]
    assert older / newer > old / new


def test_half_a_life_later_it_counts_half() -> None:
    """With nothing else said, the cosine falls only against what a memory must at least hold."""
    now, later = (
        clues(told((0, bag("tide")), *[(1, bag("so"))] * scenes), bag("tide"))["said said in the last 4 scenes"][0]
        for scenes in (0, 4)
    )
    # length / (length + 0.3) where the length is 2 ** (-1 / 4) a scene later, and half of that four scenes on
    assert now == pytest.approx(2**-0.25 / (2**-0.25 + 0.3))
    assert later == pytest.approx(2**-1.25 / (2**-1.25 + 0.3))


BAGS = st.builds(
    bag, *[st.lists(st.sampled_from(["tide", "boat", "key", "so", "unknown"]), max_size=5).map(" ".join)] * 3
)
PAST = st.lists(st.tuples(st.integers(0, 2), BAGS), max_size=12)


def answers(past: Sequence[tuple[int, Bag]]) -> list[Reals]:
    """What a memory says of each scene before it is told who it was."""
    results, table = SceneMemory(TERMS, 3), list[Reals]()
    for who, said in past:
        table.append(results.clues(TERMS.counted([said])))
        results.remember(TERMS.counted([said]), [who])
    return table


@given(PAST, PAST, PAST)
def test_nothing_later_changes_an_earlier_answer(past: list[tuple[int, Bag]], one: list[tuple[int, Bag]],
                                                 other: list[tuple[int, Bag]]) -> None:  # fmt: skip
    first, second = answers([*past, *one]), answers([*past, *other])
    for index in range(len(past)):
        assert (first[index] == second[index]).all()


@given(PAST)
def test_rescaling_changes_no_value(past: list[tuple[int, Bag]]) -> None:
    usual = answers(past)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clues_module, "LARGEST", 1.5)
        rescaled = answers(past)
    for a, b in zip(usual, rescaled):
        assert a == pytest.approx(b, rel=1e-9, abs=1e-12)


def test_rescaling_comes_to_pass_in_a_long_story() -> None:
    """Beyond what numbers could hold without it: 2 ** (5000 / 4)."""
    results = told(*[(number % 2, bag("tide" if number % 2 else "boat")) for number in range(5000)])
    table = results.clues(TERMS.counted([bag("tide")]))
    assert np.isfinite(table).all()
    assert table[0, 1, CLUES.index("said said in the last 4 scenes")] > 0.7


def test_there_is_a_clue_of_each_kind_for_everybody() -> None:
    assert told().clues(TERMS.counted([bag("so"), bag()])).shape == (2, 2, len(CLUES))
