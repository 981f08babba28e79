from __future__ import annotations

from pathlib import Path

import realdata
from understudy.bench.people import BenchInputs, bench_people
from understudy.bench.run import Row


def rows_of(data: Path, task: str) -> dict[tuple[str, str | None, str], Row]:
    rows = bench_people(BenchInputs(data), [task])["rows"]
    return {(row["model"], row["condition"], row["metric"]): row for row in rows}


def test_familiarity_of_the_embedded_stories(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "familiarity")
    figure = rows["familiarity", None, "spearman"]
    assert figure["value"] > 0.5 > rows["lines", None, "spearman"]["value"]
    assert figure["low"] < figure["value"] < figure["high"]


def test_affection_is_better_than_chance(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "affection")["feelings", None, "concordance"]["low"] > 0.5


def test_sessions_of_others() -> None:
    rows = rows_of(realdata.folder("hpd").parent, "affection-hpd")
    assert rows["feelings", "towards Harry", "concordance"]["n"] > 100
    assert rows["feelings", "towards Harry", "concordance"]["value"] > 0.55
