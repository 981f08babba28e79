"""What history adds, and whether what was needed is found."""

from __future__ import annotations

import pytest

from guesses import annotation, scene
from understudy.bench.guess_history import history_gain, retrieval_rows
from understudy.readers.annotations import Instance


def test_the_gain_is_told_for_each_need_of_history() -> None:
    guessed, told = [], []
    for number in range(20):
        guessed += scene("joint", "S", number, ["A", "B"], ["A", "B"])
        guessed += scene("plain", "S", number, ["A", "B"], ["A" if number % 2 else "B", "B"])
        told += [annotation(number, 0, history="direct" if number < 10 else "indirect"), annotation(number, 1)]
    rows = {row["history"]: row for row in history_gain(guessed, told, "joint", "plain")}
    assert list(rows) == ["needed", "direct", "indirect", "none"]
    assert rows["needed"]["value"] == pytest.approx(0.5) and rows["needed"]["n"] == 20
    assert 0 < rows["needed"]["low"] < 0.5 < rows["needed"]["high"] and rows["needed"]["p_adjusted"] < 0.05
    assert (rows["direct"]["value"], rows["indirect"]["n"]) == (0.5, 10)
    assert (rows["none"]["value"], rows["none"]["p_adjusted"]) == (0, 1)
    turned = {row["history"]: row["value"] for row in history_gain(guessed, told, "plain", "joint")}
    assert turned["needed"] == pytest.approx(-0.5)


def test_without_annotations_the_gain_is_unknown_and_says_why() -> None:
    guessed = [*scene("a", "S", 1, ["A", "B"], ["A", "B"]), *scene("b", "S", 1, ["A", "B"], ["A", "B"])]
    for row in history_gain(guessed, [], "a", "b"):
        assert row["value"] is None and row["n"] == 0 and "annotated" in row["reason"]


def test_recall_is_whether_one_needed_scene_is_among_the_first() -> None:
    ranked = {
        Instance((1, 1), 30, 0): [29, 12, 28, 11, 10],
        Instance((1, 1), 30, 1): [29, 12, 28, 11, 10],
        Instance((1, 1), 31, 0): [30, 29, 28, 27, 26, 25],
        Instance((1, 1), 32, 0): [31],
    }
    needed = {
        Instance((1, 1), 30, 0): frozenset({29, 1}),
        Instance((1, 1), 30, 1): frozenset({28}),
        Instance((1, 1), 31, 0): frozenset({25}),  # found sixth
        Instance((1, 1), 32, 0): frozenset(),  # took no history: nothing to find
        Instance((1, 1), 33, 0): frozenset({1}),  # not asked
    }
    rows = {row["metric"]: row for row in retrieval_rows("encoder", ranked, needed)}
    assert [rows[f"history_recall@{k}"]["value"] for k in (1, 3, 5)] == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert {row["n"] for row in rows.values()} == {3}
    assert rows["history_recall@3"]["paper"] == 0.355 and rows["history_recall@1"]["paper"] is None
    assert rows["history_recall@3"]["low"] <= 2 / 3 <= rows["history_recall@3"]["high"]


def test_recall_without_a_file_of_needed_scenes_is_null_with_a_reason() -> None:
    for row in retrieval_rows("encoder", {Instance((1, 1), 30, 0): [29]}, {}):
        assert row["value"] is None and row["low"] is None and "no file says" in row["reason"]
