from __future__ import annotations

import realdata
from understudy.bench.people import BenchInputs, bench_people


def test_the_model_beats_the_rule_on_novels_it_has_not_seen() -> None:
    data = realdata.folder("pdnc").parent
    rows = bench_people(BenchInputs(data, limit=6000), ["addressee"])["rows"]
    accuracy = {(row["model"], row["condition"]): row for row in rows if row["metric"] == "accuracy"}
    for condition in (None, "single"):
        assert accuracy["model", condition]["low"] > accuracy["rule", condition]["high"]
        assert accuracy["rule", condition]["value"] > accuracy["most frequent", condition]["value"]
    assert accuracy["model", "single"]["value"] > 0.92
    assert next(row["value"] for row in rows if row["metric"] == "coverage") > 0.99
