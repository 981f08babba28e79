"""Which item a person is given next.

Items that fewest people have are given out first, so that all fill up alike; among those, each person has an order of
their own, drawn from the study's seed and their code. An item that was given out and not answered within the study's
hours may go to somebody else. All of this is decided within one transaction of the caller's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from understudy.studies.attention import check_positions
from understudy.studies.store import ListedItem, Person, StoredStudy, StudyStore, now

__all__ = [
    "AssignedItems",
    "Assignment",
    "Completion",
    "assign_next",
    "assigned_to",
    "open_assignment",
    "progress_of",
]


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
class AssignedItems:
    """What a person has been given."""

    open: Assignment | None
    last: int | None
    """The assignment they answered last."""
    answered: Mapping[int, bool]
    """The items they answered, and whether each is an attention check."""


@dataclass(frozen=True, slots=True)
class _Count:
    """How many people an item is for, how many have it or answered it, and how many answered."""

    people: int
    given: int
    answered: int


def open_assignment(store: StudyStore, person: Person) -> Assignment | None:
    """The item that a person has and has not answered."""
    rows = store.database.rows(
        "SELECT id, item, answer FROM assignments WHERE person = ? AND answered IS NULL ORDER BY id", (person.id,)
    )
    return Assignment(*rows[0]) if rows else None


def assigned_to(store: StudyStore, person: Person) -> AssignedItems:
    rows = store.database.rows(
        """SELECT assignments.id, item, is_check, answered, CASE WHEN answered IS NULL THEN answer END
           FROM assignments JOIN items ON items.id = item WHERE person = ? ORDER BY answered, assignments.id""",
        (person.id,),
    )
    answered = [(number, item, bool(is_check)) for number, item, is_check, time, _ in rows if time is not None]
    waiting = [Assignment(number, item, draft) for number, item, _, time, draft in rows if time is None]
    return AssignedItems(
        waiting[0] if waiting else None,
        answered[-1][0] if answered else None,
        {item: is_check for _, item, is_check in answered},
    )


def assign_next(store: StudyStore, stored: StoredStudy, person: Person, assigned: AssignedItems) -> Assignment | None:
    """The item that a person has open, or a new one; None where there is nothing (more) for them."""
    if assigned.open is not None:
        store.database.rows("UPDATE assignments SET given = ? WHERE id = ?", (now(), assigned.open.id))
        return assigned.open
    item = _next_item(store, stored, person, assigned)
    if item is None:
        return None
    ((number,),) = store.database.rows(
        """INSERT INTO assignments (study, person, item, given, comment, seconds) VALUES (?, ?, ?, ?, '', 0)
           RETURNING id""",
        (stored.id, person.id, item, now()),
    )
    return Assignment(number, item, None)


def progress_of(store: StudyStore, stored: StoredStudy, assigned: AssignedItems) -> Completion:
    items = store.listed(stored.id)
    checks = sum(item.is_check for item in items)
    of = min(stored.study.items_per_person, len(items) - checks) + min(stored.study.checks, checks)
    return Completion(len(assigned.answered), max(of, len(assigned.answered)))


def _next_item(store: StudyStore, stored: StoredStudy, person: Person, assigned: AssignedItems) -> int | None:
    study, items = stored.study, store.listed(stored.id)
    checks = [item for item in items if item.is_check]
    ordinary = sum(not is_check for is_check in assigned.answered.values())
    positions = check_positions(study, len(items) - len(checks), person.code)
    due = sum(position <= ordinary for position in positions)
    if len(assigned.answered) - ordinary < min(due, len(checks)):
        return next(check.id for check in checks if check.id not in assigned.answered)
    if ordinary >= study.items_per_person:
        return None
    return _least_given(items, _counts(store, stored), assigned, f"{study.seed} {person.code}")


def _least_given(
    items: tuple[ListedItem, ...], counts: Mapping[int, _Count], assigned: AssignedItems, seed: str
) -> int | None:
    own = {item.name for item in items if item.id in assigned.answered}
    complete = {item.name for item in items if item.id in counts and counts[item.id].answered >= counts[item.id].people}
    left = [
        item
        for item in items
        if item.id in counts
        and item.id not in assigned.answered
        and counts[item.id].given < counts[item.id].people
        and own.isdisjoint(item.follows)
        and complete.issuperset(item.follows)
    ]
    if not left:
        return None
    least = min(counts[item.id].given for item in left)
    return min((item for item in left if counts[item.id].given == least), key=lambda item: _draw(seed, item.name)).id


def _counts(store: StudyStore, stored: StoredStudy) -> dict[int, _Count]:
    """By item, attention checks left out."""
    oldest = datetime.now(UTC) - timedelta(hours=stored.study.hours)
    since = oldest.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    rows = store.database.rows(
        """SELECT items.id, people,
                  coalesce(sum(CASE WHEN answered IS NOT NULL OR given >= ? THEN 1 ELSE 0 END), 0), count(answered)
           FROM items LEFT JOIN assignments ON item = items.id
           WHERE items.study = ? AND is_check = 0 GROUP BY items.id, people""",
        (since, stored.id),
    )
    return {int(number): _Count(int(people), int(given), int(done)) for number, people, given, done in rows}


def _draw(seed: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {name}".encode()).digest()
