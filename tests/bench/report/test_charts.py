"""The learning curve of a report."""

from __future__ import annotations

import re
from typing import Any

from understudy.bench.report import html_report
from understudy.bench.report.charts import learning_section


def point(share: float, value: float | None, show: str = "FRIENDS") -> dict[str, Any]:
    low, high = (None, None) if value is None else (value - 0.05, min(value + 0.05, 1.0))
    return {"show": show, "share": share, "value": value, "low": low, "high": high}


def test_more_lessons_stand_further_right_and_better_figures_higher() -> None:
    drawn = learning_section([point(1.0, 0.85), point(0.25, 0.7), point(0.5, 0.8)])
    circles = [(float(x), float(y)) for x, y in re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    assert [x for x, _ in circles] == sorted(x for x, _ in circles)
    assert [y for _, y in circles] == sorted((y for _, y in circles), reverse=True)
    (first, _), (second, _), (third, _) = circles
    assert abs((second - first) - (third - second)) < 0.5, "doubling is one step"


def test_each_show_has_a_line_and_names_are_escaped() -> None:
    drawn = learning_section([point(share, 0.8, show) for share in (0.5, 1.0) for show in ("A<b>", "The_Office")])
    assert drawn.count('class="c0"') >= 2
    assert drawn.count('class="c1"') >= 2
    assert "A&lt;b&gt;" in drawn
    assert "The Office" in drawn


def test_one_share_is_no_curve() -> None:
    assert learning_section([point(1.0, 0.85), point(1.0, 0.9, "Frasier")]) == ""
    assert learning_section([point(1.0, 0.85), point(0.5, None)]) == ""


def test_a_report_has_the_curve() -> None:
    document = {"rows": [], "manifest": {"seed": 0}, "learning": [point(0.5, 0.7), point(1.0, 0.8)]}
    assert "Learning curve" in html_report(document, "Guessing")
