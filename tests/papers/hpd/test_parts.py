from __future__ import annotations

from collections.abc import Sequence

import pytest

from understudy.bench.items import Items
from understudy.metrics.statistics import interval, paired_p
from understudy.papers.hpd.parts import parts_of, what_parts_add

ALL = "dialogue+scene+attributes+relations"
METRICS = ("mrr",)


def _items(agent: str, given: str, values: Sequence[float | None]) -> Items:
    names = [f"Session-{number}" for number in range(len(values))]
    return Items({"file": "f", "agent": agent, "given": given}, names, [], {"mrr": values})


def test_what_a_part_adds_is_the_mean_paired_difference() -> None:
    bare, scene = [0.5, 0.2, 1.0, 0.25, 0.1], [1.0, 0.2, 1.0, 0.5, 0.2]
    rows = what_parts_add([_items("a", "dialogue", bare), _items("a", "dialogue+scene", scene)], METRICS, seed=0)
    (row,) = rows
    assert (row["adds"], row["to"], row["given"]) == ("scene", "dialogue", "dialogue+scene")
    assert row["value"] == pytest.approx((0.5 + 0 + 0 + 0.25 + 0.1) / 5)
    differences = [after - before for before, after in zip(bare, scene)]
    assert (row["low"], row["high"]) == pytest.approx(interval(differences)[1:])
    assert row["p_value"] == paired_p(scene, bare) == row["p_adjusted"]


def test_what_is_compared_and_adjusted_together() -> None:
    given = ("candidates", "dialogue", "dialogue+scene", "dialogue+attributes+relations", ALL)
    items = [_items("a", text, [0.1 * place, 0.2, 0.3]) for place, text in enumerate(given)]
    rows = what_parts_add([*items, _items("b", "dialogue", [0.0] * 3)], METRICS, 0)
    assert {(row["adds"], row["to"]) for row in rows} == {
        (ALL, "candidates"),
        ("scene", "dialogue"),
        ("attributes+relations", "dialogue"),
        ("attributes+relations", "dialogue+scene"),
        ("scene", "dialogue+attributes+relations"),
    }
    assert all(row["agent"] == "a" for row in rows)
    assert min(row["p_adjusted"] for row in rows) >= min(row["p_value"] for row in rows)


def test_sessions_without_a_mark_are_left_out() -> None:
    rows = what_parts_add(
        [_items("a", "dialogue", [0.5, None, 0.25]), _items("a", "dialogue+scene", [1.0, 1.0, None])], METRICS, 0
    )
    assert [(row["value"], row["n"]) for row in rows] == [(0.5, 1)]
    unmarked = [_items("a", "dialogue", [None, None]), _items("a", "dialogue+scene", [1.0, None])]
    assert what_parts_add(unmarked, METRICS, 0) == []
    assert what_parts_add(unmarked, ("f1",), 0) == []


def test_parts() -> None:
    assert parts_of("dialogue+scene+relations") == {"scene", "relations"}
    assert parts_of("candidates") == parts_of("dialogue") == frozenset()
