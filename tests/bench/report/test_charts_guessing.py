"""The report's pictures of who is taken for whom, and of what telling takes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from understudy.bench.report import html_report
from understudy.bench.report.charts import Bar, confusions_section, flows_section, panel

NASTY = "<b>O'Neil & sons</b>"


def confusion(model: str, counts: list[list[int]], names: list[str] | None = None) -> dict[str, Any]:
    return {
        "model": model,
        "show": "The_Show",
        "names": names or ["Ann", "Ben", "Cas"][: len(counts)],
        "counts": counts,
    }


def strengths(html: str) -> list[tuple[str, float]]:
    return [(colour, float(share)) for colour, share in re.findall(r"fill:var\(--(\w+)\);fill-opacity:([\d.]+)", html)]


def test_squares_are_coloured_by_share_of_the_line() -> None:
    html = confusions_section([confusion("m", [[8, 2, 0], [0, 4, 4], [0, 0, 5]])])
    shades = strengths(html)
    assert [colour for colour, _ in shades] == [
        "right",
        "wrong",
        "wrong",
        "wrong",
        "right",
        "wrong",
        "wrong",
        "wrong",
        "right",
    ]
    (_, ann), (_, for_ben), (_, never), *_ = shades
    assert ann == pytest.approx(0.8 * shades[8][1], abs=0.002)
    assert for_ben == pytest.approx(shades[5][1] * 0.2 / 0.5, abs=0.002)  # the worst share is the strongest red
    assert never == 0
    assert "Ann taken for Ben: 2 of 10" in html and "Cas told: 5 of 5" in html
    assert re.findall(r'class="count"[^>]*>(\d+)<', html) == ["8", "2", "4", "4", "5"]
    assert "The Show" in html


def test_the_model_that_is_right_most_often_comes_first_and_open() -> None:
    html = confusions_section([confusion("poor", [[1, 9], [9, 1]]), confusion("good", [[9, 1], [1, 9]])])
    assert html.index("<details open><summary>good") < html.index("<details><summary>poor")


def test_a_large_cast_is_cut_to_those_masked_most_but_shares_are_of_all() -> None:
    names = [f"Somebody number {number}" for number in range(200)]
    counts = [[3 if a == b else 1 if b == 199 else 0 for b in range(200)] for a in range(200)]
    html = confusions_section([confusion("m", counts, names)])
    assert html.count("<rect") == 100
    assert "Somebody number 0 told: 3 of 4" in html


FLOW = {
    "show": "The_Show", "to": "history", "n": 12, "evidence": ["personality", "memory"], "ends": ["none", "direct"],
    "links": [
        {"evidence": "personality", "history": "none", "count": 3},
        {"evidence": "memory", "history": "none", "count": 1},
        {"evidence": "memory", "history": "direct", "count": 9},
    ],
}  # fmt: skip


def test_bands_are_as_thick_as_their_counts_and_end_where_they_should() -> None:
    html = flows_section([FLOW])
    heights = [float(height) for height in re.findall(r'<rect class="\w+"[^>]*height="([\d.]+)"', html)]
    assert heights == pytest.approx([heights[0], 10 / 3 * heights[0], 4 / 3 * heights[0], 3 * heights[0]], abs=0.2)
    bands = [tuple(map(float, groups)) for groups in re.findall(r'd="M\d+ ([\d.]+)C[^V]* ([\d.]+)V([\d.]+)C', html)]
    thick = [low - high for _, high, low in bands]
    assert thick == pytest.approx([thick[0], thick[0] / 3, 3 * thick[0]], abs=0.2)
    assert bands[1][1] == pytest.approx(bands[0][2], abs=0.15)  # at 'none' the second lies under the first
    assert "memory, direct: 9" in html and "need of history" in html
    order = [html.index(f"{name} <tspan") for name in ("personality", "memory", "none", "direct")]
    assert order == sorted(order)


def test_nothing_is_drawn_of_nothing() -> None:
    assert confusions_section([]) == ""
    assert flows_section([]) == flows_section([{**FLOW, "links": []}]) == ""


def test_they_are_part_of_a_report_and_escaped() -> None:
    nasty_flow = {**FLOW, "show": NASTY}
    row = {"model": NASTY, "show": "A_Show", "metric": "accuracy", "value": 0.5, "low": 0.4, "high": 0.6, "n": 9}
    unasked = {
        "model": "people",
        "value": None,
        "low": None,
        "high": None,
        "paper": 0.99,
        "reason": "told by the paper",
    }
    document = {
        "rows": [
            row | {"paper": None},
            row | {"speakers": 2, "metric": "accuracy_by_speakers", "paper": 0.8},
            row | unasked,
        ],
        "confusions": [confusion(NASTY, [[1, 0], [0, 1]], [NASTY, "Ben"])],
        "flows": [nasty_flow],
        "manifest": {},
    }
    html = html_report(document, "Who?")
    assert "Who is taken for whom" in html and "What telling takes" in html
    assert "<b>O'Neil" not in html and "&lt;b&gt;O" in html
    assert "A Show" in html and "A_Show" not in html
    assert "by show, speakers" in html
    assert "told by the paper" in html and "0.9900" in html


def test_a_difference_below_nothing_goes_to_the_left_of_nothing() -> None:
    drawn = panel("gain", [Bar("a", -0.1, -0.2, 0.1, None, 0), Bar("b", 0.1, 0.0, 0.2, None, 1)], 0.2, -0.2)
    (left, wide), (right, same) = (
        (float(x), float(width))
        for x, width in re.findall(r'<rect class="c\d" x="([\d.]+)"[^>]*width="([\d.]+)"', drawn)
    )
    assert wide == pytest.approx(same, abs=0.2) and left + wide == pytest.approx(right, abs=0.2)
    assert [float(at) for at in re.findall(r">(-?[\d.]+)</text>", drawn)][:3] == [-0.2, 0, 0.2]
