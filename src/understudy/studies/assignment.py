"""Which item a person is given next.

Items that fewest people have are given out first, so that all fill up alike; among those, each person has an order of
their own, drawn from the study's seed and their code. An item that was given out and not answered within the study's
hours may go to somebody else. All of this is decided within one transaction of the caller's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from understudy.studies.attention import check_positions
from understudy.studies.store import Person, StoredStudy, StudyStore, now

__all__ = ["Assignment", "Completion", "assign_next", "open_assignment", "progress_of"]


@dataclass(frozen=True, slots=True)
class Assignment:
    id: int
    item: int
    draft: str | None
    """The answer that was taken back, as JSON."""


@dataclass(frozen=True, slots=True)
class Completion:
    """How many items a person has answered, and how many there will be as far as can be told."""

    answered: int
    of: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: int
    name: str
    people: int
    given: int
    complete: bool
    follows: tuple[str, ...]


def open_assignment(store: StudyStore, person: Person) -> Assignment | None:
    """The item that a person has and has not answered."""
    rows = store.database.rows(
        "SELECT id, item, answer FROM assignments WHERE person = ? AND answered IS NULL ORDER BY id", (person.id,)
    )
    return Assignment(*rows[0]) if rows else None


def assign_next(store: StudyStore, stored: StoredStudy, person: Person) -> Assignment | None:
    """The item that a person has open, or a new one; None where there is nothing (more) for them."""
    if (current := open_assignment(store, person)) is not None:
        store.database.rows("UPDATE assignments SET given = ? WHERE id = ?", (now(), current.id))
        return current
    item = _next_item(store, stored, person)
    if item is None:
        return None
    ((number,),) = store.database.rows(
        """INSERT INTO assignments (study, person, item, given, comment, seconds) VALUES (?, ?, ?, ?, '', 0)
           RETURNING id""",
        (stored.id, person.id, item, now()),
    )
    return Assignment(number, item, None)


def progress_of(store: StudyStore, stored: StoredStudy, person: Person) -> Completion:
    answered = _answered(store, person)
    ((ordinary, checks),) = store.database.rows(
        "SELECT sum(1 - is_check), sum(is_check) FROM items WHERE study = ?", (stored.id,)
    )
    of = min(stored.study.items_per_person, int(ordinary)) + min(stored.study.checks, int(checks))
    return Completion(len(answered), max(of, len(answered)))


def _next_item(store: StudyStore, stored: StoredStudy, person: Person) -> int | None:
    study = stored.study
    answered = _answered(store, person)
    ordinary = sum(not is_check for is_check in answered.values())
    candidates = _candidates(store, stored)
    checks = store.database.rows("SELECT id FROM items WHERE study = ? AND is_check = 1 ORDER BY id", (stored.id,))
    positions = check_positions(study, len(candidates), person.code)
    due = sum(position <= ordinary for position in positions)
    checks_answered = len(answered) - ordinary
    if checks_answered < min(due, len(checks)):
        return next(int(check) for (check,) in checks if int(check) not in answered)
    if ordinary >= study.items_per_person:
        return None
    names = {candidate.id: candidate.name for candidate in candidates}
    own = {names[item] for item in answered if item in names}
    complete = {candidate.name for candidate in candidates if candidate.complete}
    left = [
        candidate
        for candidate in candidates
        if candidate.id not in answered
        and candidate.given < candidate.people
        and own.isdisjoint(candidate.follows)
        and complete.issuperset(candidate.follows)
    ]
    return min(left, key=lambda each: (each.given, _draw(study.seed, person.code, each.name))).id if left else None


def _answered(store: StudyStore, person: Person) -> dict[int, bool]:
    """The items a person has answered, and whether each is an attention check."""
    rows = store.database.rows(
        """SELECT item, is_check FROM assignments JOIN items ON items.id = item
           WHERE person = ? AND answered IS NOT NULL""",
        (person.id,),
    )
    return {int(item): bool(is_check) for item, is_check in rows}


def _candidates(store: StudyStore, stored: StoredStudy) -> list[_Candidate]:
    """The study's own items, with how many people each is with or was answered by."""
    oldest = datetime.now(UTC) - timedelta(hours=stored.study.hours)
    since = oldest.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    rows: Iterable[tuple[int, str, int, str, int, int]] = store.database.rows(
        """SELECT items.id, name, people, follows,
                  coalesce(sum(CASE WHEN answered IS NOT NULL OR given >= ? THEN 1 ELSE 0 END), 0), count(answered)
           FROM items LEFT JOIN assignments ON item = items.id
           WHERE items.study = ? AND is_check = 0 GROUP BY items.id, name, people, follows""",
        (since, stored.id),
    )
    return [
        _Candidate(int(number), name, int(people), int(given), int(done) >= int(people), tuple(json.loads(follows)))
        for number, name, people, follows, given, done in rows
    ]


def _draw(seed: int, code: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {code} {name}".encode()).digest()
