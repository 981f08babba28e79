"""The organiser's pages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from server.studies.conftest import AS_ORGANISER, AskStudy
from studied import RATED, study_of
from understudy.server.studies.pages import since
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
