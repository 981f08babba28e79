from __future__ import annotations

from understudy.formats.hpd.relations import ChangeLog, DatedSpan
from understudy.story.types import Moment, Source

AT = Source("file", 1)


def told(*statements: tuple[str, str | None, tuple[int, int]]) -> list[tuple[str, str, str, str | None]]:
    """What a ledger makes of (key, value, (chapter, scene))."""
    ledger: ChangeLog[str, str] = ChangeLog()
    spans: list[DatedSpan[str, str]] = []
    for key, value, (chapter, scene) in statements:
        span = ledger.record(key, value, Moment((chapter,)), Moment((chapter, scene)), AT)
        spans += [span] if span else []
    spans += ledger.open_spans()
    return [(span.key, span.value, span.since.dotted, span.until.dotted if span.until else None) for span in spans]


def test_the_same_again_is_no_change() -> None:
    assert told(("hair", "red", (1, 1)), ("hair", "red", (2, 1))) == [("hair", "red", "1", None)]


def test_a_new_value_ends_the_old_one_at_its_chapter() -> None:
    assert told(("hair", "red", (1, 1)), ("hair", "grey", (3, 2))) == [
        ("hair", "red", "1", "3"),
        ("hair", "grey", "3", None),
    ]


def test_what_is_said_to_be_absent_has_ended_and_may_begin_again() -> None:
    assert told(("key", "brass", (1, 1)), ("key", None, (2, 1)), ("key", "brass", (4, 1))) == [
        ("key", "brass", "1", "2"),
        ("key", "brass", "4", None),
    ]


def test_a_second_change_within_a_chapter_is_dated_by_its_scene() -> None:
    assert told(("mood", "low", (1, 1)), ("mood", "high", (1, 2))) == [
        ("mood", "low", "1", "1.2"),
        ("mood", "high", "1.2", None),
    ]


def test_what_is_not_mentioned_goes_on() -> None:
    assert told(("a", "x", (1, 1)), ("b", "y", (2, 1))) == [("a", "x", "1", None), ("b", "y", "2", None)]
