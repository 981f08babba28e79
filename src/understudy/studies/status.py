"""How far a study is: answers, pace, people and comments, and never who wrote what."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from understudy.studies.agreement import failed_checks
from understudy.studies.store import StoredStudy, StudyStore

__all__ = ["PersonStatus", "StudyStatus", "status_of"]

HOUR = len("2026-01-01T00")
MOST_COMMENTS = 100


@dataclass(frozen=True, slots=True)
class PersonStatus:
    code: str
    state: str
    answered: int
    failed_checks: int
    last_seen: str | None


@dataclass(frozen=True, slots=True)
class StudyStatus:
    name: str
    title: str
    kind: str
    closed: str | None
    items: int
    complete: int
    """Items that have all the answers they need."""
    answers: int
    wanted: int
    people: list[PersonStatus]
    pace: list[tuple[str, int]]
    """Answers in each hour that had some, as ('2026-01-01T07', 12)."""
    seconds: float | None
    """The median time for an answer."""
    comments: list[tuple[str, str]]
    """Item and comment, the newest first."""

    def document(self) -> dict[str, Any]:
        return asdict(self)


def status_of(store: StudyStore, stored: StoredStudy) -> StudyStatus:
    given = store.given(stored.id)
    failed = failed_checks(given)
    ordinary = [each for each in given if not each.item.is_check]
    answered = Counter(each.person for each in given)
    by_item = Counter(each.item.name for each in ordinary)
    wanted = {
        item.name: stored.study.people_per_item if item.people is None else item.people
        for item in store.items(stored.id).values()
        if not item.is_check
    }
    times = sorted(each.seconds for each in ordinary if each.seconds)
    return StudyStatus(
        stored.name,
        stored.study.title,
        stored.study.kind,
        stored.closed,
        len(wanted),
        sum(by_item[name] >= people for name, people in wanted.items()),
        len(ordinary),
        sum(wanted.values()),
        [
            PersonStatus(person.code, person.state, answered[person.code], failed.get(person.code, 0), person.seen)
            for person in store.people(stored.id)
        ],
        sorted(Counter(each.answered[:HOUR] for each in given).items()),
        times[len(times) // 2] if times else None,
        [(each.item.name, each.comment) for each in reversed(given) if each.comment][:MOST_COMMENTS],
    )
