"""The organiser's pages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from server.studies.conftest import AS_ORGANISER, AskStudy
from studyserver import RATED, study_of
from understudy.server.drawing.charts import pace_bars, pace_chart
from understudy.server.studies.routes import since
from understudy.studies.store import StudyStore

NOW = datetime(2026, 1, 3, 12, 59, tzinfo=UTC)


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (None, "never"),
        ("2026-01-03T12:00Z", "this hour"),
        ("2026-01-03T11:00Z", "1 hour ago"),
        ("2026-01-02T13:00Z", "23 hours ago"),
        ("2026-01-01T11:00Z", "2 days ago"),
    ],
)
def test_how_long_ago_is_said_coarsely(time: str | None, words: str) -> None:
    assert since(time, NOW) == words


def test_titles_are_text(ask: AskStudy, store: StudyStore) -> None:
    store.add_study("evil & co", study_of(title="<b>Bold</b>"), [RATED])
    listed = ask("GET", "/studies", headers=AS_ORGANISER).text
    assert "&lt;b&gt;Bold" in listed and 'href="/studies/evil%20%26%20co"' in listed
    assert "&lt;b&gt;Bold" in ask("GET", "/studies/evil & co", headers=AS_ORGANISER).text
    (token,) = store.invite("evil & co", 1)
    assert "&lt;b&gt;Bold" in ask("GET", f"/take/{token}").text


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
