from __future__ import annotations

import json
from pathlib import Path

import pytest

from understudy.bench.run import Items, compare_runs, write_items
from understudy.errors import InputError

NAMES = [f"{dialogue}.{place}" for dialogue in range(1, 41) for place in (1, 2)]


def saved(path: Path, *runs: tuple[str, str, list[int]], names: list[str] = NAMES) -> Path:
    write_items(path, [Items({"agent": a, "condition": c}, names, ranks) for a, c, ranks in runs], {"seed": 0})
    return path


def test_a_run_compared_with_itself(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.json", ("x", "none", [1, 4] * 40))
    document = compare_runs(path, path)
    assert {row["metric"] for row in document["rows"]} == {"hits@1", "hits@5", "mrr"}
    for row in document["rows"]:
        assert (row["value"], row["low"], row["high"], row["p_value"], row["n"]) == (0, 0, 0, 1, 80)
    assert (document["differ"], document["differ_most"]) == (0, [])


def test_a_better_run_is_better_by_how_much(tmp_path: Path) -> None:
    before = saved(tmp_path / "a.json", ("x", "none", [2, 2] * 40))
    after = saved(tmp_path / "b.json", ("x", "none", [1, 2] * 39 + [20, 2]))
    document = compare_runs(before, after)
    row = next(row for row in document["rows"] if row["metric"] == "hits@1")
    assert (row["first"], row["second"]) == (0, pytest.approx(39 / 80))
    assert row["value"] == pytest.approx(39 / 80)
    assert row["low"] > 0
    assert row["p_adjusted"] < 0.001
    assert document["differ"] == 40
    assert document["differ_most"][0]["second_rank"] == 1


def test_single_agents_are_paired_whatever_their_names(tmp_path: Path) -> None:
    first = saved(tmp_path / "a.json", ("x", "none", [1] * 80), ("x", "self_original", [1] * 80))
    second = saved(tmp_path / "b.json", ("y", "self_original", [2] * 80))
    rows = compare_runs(first, second)["rows"]
    assert {(row["agent"], row["condition"]) for row in rows} == {("x -> y", "self_original")}


def test_of_several_agents_those_of_the_same_name_or_those_asked_for(tmp_path: Path) -> None:
    first = saved(tmp_path / "a.json", ("x", "none", [1] * 80), ("y", "none", [2] * 80))
    second = saved(tmp_path / "b.json", ("y", "none", [1] * 80), ("z", "none", [1] * 80))
    assert {row["agent"] for row in compare_runs(first, second)["rows"]} == {"y"}
    assert {row["agent"] for row in compare_runs(first, second, ("x", "z"))["rows"]} == {"x -> z"}
    with pytest.raises(InputError, match=r"--agents"):
        compare_runs(first, second, ("x", "nobody"))


def test_only_common_items_count_in_any_order(tmp_path: Path) -> None:
    first = saved(tmp_path / "a.json", ("x", "none", [1, 2, 3]), names=["1.1", "1.2", "2.1"])
    second = saved(tmp_path / "b.json", ("x", "none", [3, 1]), names=["2.1", "1.1"])
    document = compare_runs(first, second)
    assert all((row["value"], row["n"], row["unpaired"]) == (0, 2, 1) for row in document["rows"])
    apart = saved(tmp_path / "c.json", ("x", "none", [3]), names=["9.9"])
    with pytest.raises(InputError, match="no item in common"):
        compare_runs(first, apart)


def test_items_without_a_mark_are_left_out_of_that_metric(tmp_path: Path) -> None:
    names = ["1.1", "1.2", "2.1"]
    runs = []
    for number, marks in enumerate(([0.1, None, 0.5], [0.3, 0.9, None])):
        runs.append(tmp_path / f"{number}.json")
        judged = {"agent": "x", "condition": "none"}
        write_items(runs[-1], [Items(judged, names, [1, 1, 2], {"f1": marks, "rep": [None] * 3})], {"seed": 0})
    rows = {row["metric"]: row for row in compare_runs(runs[0], runs[1])["rows"]}
    assert (rows["f1"]["n"], rows["f1"]["value"]) == (1, pytest.approx(0.2))
    assert (rows["hits@1"]["n"], rows["hits@1"]["value"]) == (3, 0)
    assert "rep" not in rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON"),
        ("[]", "item by item"),
        ('{"rows": []}', "item by item"),
        ('{"items": [{"judged": {}}]}', "lacks"),
        ('{"items": [{"judged": {}, "names": ["a"], "ranks": [0]}]}', "a rank from 1"),
        ('{"items": [{"judged": {}, "names": ["a", "a"], "ranks": [1, 2]}]}', "no name twice"),
        ('{"items": [{"judged": {}, "names": ["a"], "ranks": [1], "marks": {"m": []}}]}', "one mark"),
    ],
)
def test_a_damaged_run_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    good = saved(tmp_path / "a.json", ("x", "none", [1] * 80))
    bad = tmp_path / "b.json"
    bad.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        compare_runs(good, bad)
    assert json.loads(good.read_text())["manifest"] == {"seed": 0}
