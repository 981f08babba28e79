from __future__ import annotations

import math

from understudy.metrics.statistics import Estimate, Interval


def test_what_is_not_a_number_is_missing_with_its_reason() -> None:
    assert Estimate.of("r", Interval(math.nan, 0, 1), 3, "all equal") == Estimate.missing("r", 3, "all equal")
    assert Estimate.of("r", Interval(0.5, math.nan, math.nan), 1, "") == Estimate("r", 0.5, None, None, 1)


def test_a_row_has_the_keys_that_reports_have() -> None:
    row = Estimate("r", 0.5, 0.25, 0.75, 9).row()
    assert row == {"metric": "r", "value": 0.5, "low": 0.25, "high": 0.75, "n": 9, "paper": None}
    assert Estimate.missing("r", 3, "all equal").row()["reason"] == "all equal"
