from __future__ import annotations

import pytest

from understudy.bench.run import Items
from understudy.papers.hpd.measures import METRICS, ranking_marks, ranking_rows, session_ranks
from understudy.story.dialogue import Example, Situation
from understudy.story.persona import Persona

ALL = "dialogue+scene+attributes+relations"


def example(name: str, candidates: int = 11) -> Example:
    texts = tuple(f"reply {number}" for number in range(candidates))
    return Example(Situation(Persona("Wren")), (), texts, frozenset({0}), name)


def test_ten_candidates_are_left_without_the_last_wrong_one() -> None:
    scores = [5.0, *range(9), 6.0]  # the last wrong reply beats the right one, and so do three others
    assert session_ranks(scores, {0}) == (6,)
    assert session_ranks(scores, {0}, among=10) == (5,)
    assert session_ranks([9.0, 10.0, 8.0], {0}, among=10) == (2,)  # fewer than ten stay as they are


def test_the_right_reply_is_never_left_out_wherever_it_stands() -> None:
    scores = [*range(10), 9.5]
    assert session_ranks(scores, {10}, among=10) == (1,)  # the wrong reply with 9 is left out


def test_marks_by_hand_and_the_mean_over_repeats() -> None:
    first, second = [0.5] + [0.0] * 9 + [1.0], [0.0] * 11
    marks = ranking_marks([example("a"), example("b")], [[first, second], [first, first]])
    assert marks["mrr"] == pytest.approx([1 / 2, (1 / 11 + 1 / 2) / 2])
    assert marks["p@1"] == [0, 0]
    assert marks["r10@1"] == [1, 0.5]
    assert marks["r10@5"] == [1, 0.5]
    assert marks["map"] == marks["mrr"]


def test_several_right_replies_share_the_recall() -> None:
    one = Example(Situation(Persona("Wren")), (), ("a", "b", "c", "d"), frozenset({0, 2}), "s")
    marks = ranking_marks([one], [[[3.0, 2.0, 1.0, 0.0]]])
    assert marks["r10@1"] == [0.5]
    assert marks["map"] == pytest.approx([(1 + 2 / 3) / 2])


def test_rows_have_the_papers_figures() -> None:
    items = _items("encoder", "dialogue", [1.0, 0.5])
    rows = {row["metric"]: row for row in ranking_rows({"agent": "encoder", "given": "dialogue"}, items, 0)}
    assert set(rows) == set(METRICS)
    assert rows["mrr"]["value"] == 0.75
    assert (rows["mrr"]["paper"], rows["r10@5"]["paper"]) == (0.468, 0.788)


def _items(agent: str, given: str, values: list[float]) -> Items:
    names = [f"Session-{number}" for number in range(len(values))]
    return Items({"file": "f", "agent": agent, "given": given}, names, [], dict.fromkeys(METRICS, values))
