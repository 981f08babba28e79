"""Answers by the hour, then by the day."""

from __future__ import annotations

from understudy.server.studies.pace_chart import pace_bars, pace_chart


def test_hours_without_answers_are_bars_of_nothing() -> None:
    assert pace_bars([("2026-01-01T22", 3), ("2026-01-02T01", 2)]) == [
        ("22:00", 3),
        ("23:00", 0),
        ("00:00", 0),
        ("01:00", 2),
    ]
    assert pace_bars([]) == []


def test_a_long_study_is_shown_by_the_day() -> None:
    bars = pace_bars([("2026-01-30T22", 3), ("2026-01-30T23", 1), ("2026-02-02T01", 2)])
    assert bars == [("30 Jan", 4), ("31 Jan", 0), ("01 Feb", 0), ("02 Feb", 2)]


def test_the_chart_is_as_tall_as_its_tallest_bar_and_says_so() -> None:
    chart = str(pace_chart([("2026-01-01T07", 12), ("2026-01-01T08", 6)]))
    assert "Answers by the hour, 12 at most" in chart
    heights = [float(part.partition('"')[0]) for part in chart.split('height="')[1:]]
    assert len(heights) == 2 and heights[0] == 2 * heights[1]
    assert "<title>07:00: 12</title>" in chart
