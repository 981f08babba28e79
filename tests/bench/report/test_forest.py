"""The forest plot of agreement with people."""

from __future__ import annotations

import re
from typing import Any

from understudy.bench.report import html_report
from understudy.bench.report.forest import forest_section


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


def test_a_report_has_it_once() -> None:
    accuracy = {"scorer": "words", "chats": "all", "metric": "accuracy", "value": 0.7, "low": 0.6, "high": 0.8, "n": 9}
    page = html_report({"rows": [row("turns", 0.4), accuracy | {"paper": None}], "manifest": {"seed": 0}}, "Chats")
    assert "Agreement with people" in page
    assert "<summary>spearman</summary>" not in page and "<summary>accuracy</summary>" in page
