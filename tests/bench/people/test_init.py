from __future__ import annotations

from pathlib import Path

import pytest

from understudy.bench import people
from understudy.bench.people import BenchInputs, Task, bench_people
from understudy.bench.run import Row, figure_row
from understudy.errors import InputError
from understudy.metrics.statistics import Interval


def _lines(inputs: BenchInputs) -> list[Row]:
    lines = (inputs.judged / "lines.txt").read_text(encoding="utf-8").split()
    return [figure_row({"task": "lines", "model": "rule"}, "share", (Interval(0.5, 0.4, 0.6), len(lines)))]


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "TASKS", {"lines": Task(_lines, ("lines.txt",)), "none": Task(_lines, ("none/*",))})


@pytest.mark.usefixtures("tasks")
def test_a_task_without_its_files_says_so_and_the_others_are_judged(tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("a b c")
    document = bench_people(BenchInputs(tmp_path))
    assert document["rows"][0] == {
        "task": "lines", "model": "rule", "metric": "share", "value": 0.5, "low": 0.4, "high": 0.6, "n": 3,
        "paper": None,
    }  # fmt: skip
    assert document["rows"][1]["value"] is None and "none/*" in document["rows"][1]["reason"]
    assert list(document["manifest"]["data"]) == ["lines.txt"]


@pytest.mark.usefixtures("tasks")
def test_data_of_ones_own_is_judged_in_the_place_of_the_data(tmp_path: Path) -> None:
    for name, text in (("data", "a"), ("own", "a b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lines.txt").write_text(text)
    document = bench_people(BenchInputs(tmp_path / "data", tmp_path / "own"), ["lines"])
    assert [each["n"] for each in document["rows"]] == [2]


@pytest.mark.usefixtures("tasks")
def test_a_task_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'line'.*lines"):
        bench_people(BenchInputs(tmp_path), ["line"])
