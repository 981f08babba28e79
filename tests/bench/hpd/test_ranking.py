from __future__ import annotations

import pytest

from understudy.bench.hpd.ranking import METRICS, ranking_marks, ranking_rows, session_ranks, what_parts_add
from understudy.bench.items import Items
from understudy.dialogue import Example, Situation
from understudy.metrics.statistics import interval, paired_p
from understudy.persona import Persona

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


def test_what_a_part_adds_is_the_mean_paired_difference() -> None:
    bare, scene = [0.5, 0.2, 1.0, 0.25, 0.1], [1.0, 0.2, 1.0, 0.5, 0.2]
    rows = what_parts_add([_items("a", "dialogue", bare), _items("a", "dialogue+scene", scene)], seed=0)
    (row,) = [row for row in rows if row["metric"] == "mrr"]
    assert (row["adds"], row["to"], row["given"]) == ("scene", "dialogue", "dialogue+scene")
    assert row["value"] == pytest.approx((0.5 + 0 + 0 + 0.25 + 0.1) / 5)
    differences = [after - before for before, after in zip(bare, scene)]
    assert (row["low"], row["high"]) == pytest.approx(interval(differences)[1:])
    assert row["p_value"] == paired_p(scene, bare) == row["p_adjusted"]


def test_what_is_compared_and_adjusted_together() -> None:
    given = ("candidates", "dialogue", "dialogue+scene", "dialogue+attributes+relations", ALL)
    items = [_items("a", text, [0.1 * place, 0.2, 0.3]) for place, text in enumerate(given)]
    rows = [row for row in what_parts_add([*items, _items("b", "dialogue", [0.0] * 3)], 0) if row["metric"] == "mrr"]
    assert {(row["adds"], row["to"]) for row in rows} == {
        (ALL, "candidates"),
        ("scene", "dialogue"),
        ("attributes+relations", "dialogue"),
        ("attributes+relations", "dialogue+scene"),
        ("scene", "dialogue+attributes+relations"),
    }
    assert all(row["agent"] == "a" for row in rows)
    assert min(row["p_adjusted"] for row in rows) >= min(row["p_value"] for row in rows)
