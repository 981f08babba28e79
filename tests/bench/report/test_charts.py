"""The learning curve of a report, and its forest plot of agreement with people."""

from __future__ import annotations

import re
from typing import Any

from understudy.bench.report import html_report
from understudy.bench.report.charts import forest_section, learning_section


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


def row(measure: str, value: float | None, p: float = 0.5, of: str = "bot", chats: str = "all") -> dict[str, Any]:
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    figure = {"metric": "spearman", "value": value, "low": low, "high": high, "n": 40, "paper": None, "p_adjusted": p}
    return {"measure": measure, "of": of, "chats": chats, **figure}


def test_the_largest_stands_first_and_furthest_right() -> None:
    drawn = forest_section([row("rep", -0.3), row("turns", 0.4, 0.001), row("dist-1", 0.1)])
    names = re.findall(r'class="name"[^>]*>([^<]+)<', drawn)
    assert names == ["turns, bot", "dist-1, bot", "rep, bot"]
    xs = [float(x) for x in re.findall(r'circle cx="([\d.]+)"', drawn)]
    assert xs == sorted(xs, reverse=True)
    fills = re.findall(r'style="fill:([^;]+);', drawn)
    assert fills == ["var(--c0)", "var(--card)", "var(--card)"], "filled where it is significant"


def test_each_set_of_chats_has_a_plot_and_what_has_no_value_none() -> None:
    drawn = forest_section([row("a<b", 0.2), row("turns", 0.1, chats="both talk"), row("greeting", None)])
    assert drawn.count("<svg class=") == 2 and "a&lt;b" in drawn and "greeting" not in drawn
    assert forest_section([{"scorer": "words", "metric": "accuracy", "value": 0.5, "low": 0.4, "high": 0.6}]) == ""
    assert forest_section([row("greeting", None)]) == ""


def test_a_report_has_agreement_once() -> None:
    accuracy = {"scorer": "words", "chats": "all", "metric": "accuracy", "value": 0.7, "low": 0.6, "high": 0.8, "n": 9}
    page = html_report({"rows": [row("turns", 0.4), accuracy | {"paper": None}], "manifest": {"seed": 0}}, "Chats")
    assert "Agreement with people" in page
    assert "<summary>spearman</summary>" not in page and "<summary>accuracy</summary>" in page
