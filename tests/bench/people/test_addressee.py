from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import realdata
from understudy.bench.people import BenchInputs, bench_people

Rows = dict[tuple[str, str | None], dict[str, Any]]


def rows_of(data: Path) -> Rows:
    """Rows of accuracy; how many lines can be judged at all is judged here."""
    rows = bench_people(BenchInputs(data, limit=6000), ["addressee"])["rows"]
    assert next(row["value"] for row in rows if row["metric"] == "coverage") > 0.99
    return {(row["model"], row["condition"]): row for row in rows if row["metric"] == "accuracy"}


def test_a_model_of_three_short_novels_beats_the_rule_on_the_fourth(tmp_path: Path) -> None:
    for novel in ("TheAwakening", "TheGambler", "TheSportOfTheGods", "WhereAngelsFearToTread"):
        link = tmp_path / "pdnc" / novel
        link.parent.mkdir(exist_ok=True)
        link.symlink_to((realdata.folder("pdnc") / novel).resolve())
    accuracy = rows_of(tmp_path)
    for condition, margin in ((None, 0.02), ("single", 0.04)):  # half of what it is
        assert accuracy["model", condition]["value"] > accuracy["rule", condition]["value"] + margin
        assert accuracy["rule", condition]["value"] > accuracy["most frequent", condition]["value"] + margin
    assert accuracy["model", "single"]["value"] > 0.88


@pytest.mark.thorough
def test_the_model_beats_the_rule_on_novels_it_has_not_seen() -> None:
    accuracy = rows_of(realdata.folder("pdnc").parent)
    for condition in (None, "single"):
        assert accuracy["model", condition]["low"] > accuracy["rule", condition]["high"]
        assert accuracy["rule", condition]["value"] > accuracy["most frequent", condition]["value"]
    assert accuracy["model", "single"]["value"] > 0.92
