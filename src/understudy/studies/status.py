"""How far a study is: answers, pace, people and comments, and never who wrote what."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from understudy.studies.agreement import failed_checks
from understudy.studies.store import StoredStudy, StudyStore

__all__ = ["PersonStatus", "StudyStatus", "status_of"]

HOUR = len("2026-01-01T00")
MOST_COMMENTS = 100
ANSWERED = """FROM assignments JOIN items ON items.id = assignments.item
              WHERE assignments.study = ? AND answered IS NOT NULL"""
ORDINARY = f"{ANSWERED} AND is_check = 0"


@dataclass(frozen=True, slots=True)
class PersonStatus:
    code: str
    state: str
    answered: int
    failed_checks: int
    last_seen: str | None
    """To the hour, as '2026-01-01T07:00Z'."""


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
    """Counted by the database; only answers to attention checks are parsed."""
    with store.database.snapshot():
        rows, study = store.database.rows, (stored.id,)
        ((items, wanted),) = rows(
            "SELECT count(*), coalesce(sum(people), 0) FROM items WHERE study = ? AND is_check = 0", study
        )
        ((complete,),) = rows(
            """SELECT count(*) FROM items WHERE study = ? AND is_check = 0 AND people <= (
                   SELECT count(*) FROM assignments WHERE item = items.id AND answered IS NOT NULL)""",
            study,
        )
        ((answers,),) = rows(f"SELECT count(*) {ORDINARY}", study)
        comments = rows(
            f"""SELECT name, comment {ANSWERED} AND comment <> ''
                ORDER BY answered DESC, assignments.id DESC LIMIT {MOST_COMMENTS}""",
            study,
        )
        pace = rows(f"SELECT substr(answered, 1, {HOUR}), count(*) {ANSWERED} GROUP BY 1 ORDER BY 1", study)
        return StudyStatus(
            stored.name,
            stored.study.title,
            stored.study.kind,
            stored.closed,
            items,
            complete,
            answers,
            int(wanted),
            _people(store, stored),
            [(hour, count) for hour, count in pace],
            _median_seconds(store, stored),
            [(item, comment) for item, comment in comments],
        )


def _people(store: StudyStore, stored: StoredStudy) -> list[PersonStatus]:
    counts = store.database.rows(f"SELECT person, count(*) {ANSWERED} GROUP BY person", (stored.id,))
    answered: dict[int, int] = dict(counts)
    checks = [item.name for item in store.listed(stored.id) if item.is_check]
    failed = failed_checks(store.answers(stored.id, checks)) if checks else {}
    return [
        PersonStatus(
            person.code, person.state, answered.get(person.id, 0), failed.get(person.code, 0), _hour(person.seen)
        )
        for person in store.people(stored.id)
    ]


def _hour(time: str | None) -> str | None:
    """Not closer: beside the newest comments, the minute would tell who wrote them."""
    return None if time is None else f"{time[:HOUR]}:00Z"


def _median_seconds(store: StudyStore, stored: StoredStudy) -> float | None:
    timed = f"{ORDINARY} AND seconds > 0"
    ((count,),) = store.database.rows(f"SELECT count(*) {timed}", (stored.id,))
    rows = store.database.rows(f"SELECT seconds {timed} ORDER BY seconds LIMIT 1 OFFSET ?", (stored.id, count // 2))
    return float(rows[0][0]) if rows else None
