"""Which item a person is given next.

Items that fewest people have are given out first, so that all fill up alike; among those, each person has an order of
their own, drawn from the study's seed and their code. An item that was given out and not answered within the study's
hours may go to somebody else. All of this is decided within one transaction of the caller's.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from understudy.studies.store import Participant, StoredStudy, StudyStore, now, time_text
from understudy.studies.study import Study

__all__ = [
    "AssignedItems",
    "Assignment",
    "PersonProgress",
    "assign_next",
    "assigned_to",
    "is_to_come",
    "open_assignment",
    "progress_of",
]


@dataclass(frozen=True, slots=True)
class Assignment:
    id: int
    item: int
    draft: str | None
    """The answer that was taken back, as JSON, and its comment."""
    comment: str = ""
    given: str = ""


@dataclass(frozen=True, slots=True)
class PersonProgress:
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


def open_assignment(store: StudyStore, person: Participant) -> Assignment | None:
    """The item that a person has and has not answered."""
    rows = store.database.rows(
        "SELECT id, item, answer FROM assignments WHERE person = ? AND answered IS NULL ORDER BY id", (person.id,)
    )
    return Assignment(*rows[0]) if rows else None


def assigned_to(store: StudyStore, person: Participant) -> AssignedItems:
    rows = store.database.rows(
        """SELECT assignments.id, item, is_check, answered, CASE WHEN answered IS NULL THEN answer END, comment, given
           FROM assignments JOIN items ON items.id = item WHERE person = ? ORDER BY answered, assignments.id""",
        (person.id,),
    )
    answered = [(number, item, bool(is_check)) for number, item, is_check, time, *_ in rows if time is not None]
    waiting = [Assignment(number, item, *draft) for number, item, _, time, *draft in rows if time is None]
    return AssignedItems(
        waiting[0] if waiting else None,
        answered[-1][0] if answered else None,
        {item: is_check for _, item, is_check in answered},
    )


def assign_next(
    store: StudyStore, stored: StoredStudy, person: Participant, assigned: AssignedItems
) -> Assignment | None:
    """The item that a person has open, or a new one; None where there is nothing (more) for them."""
    if assigned.open is not None and not _is_taken_over(store, stored, assigned.open):
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


def is_to_come(store: StudyStore, stored: StoredStudy, assigned: AssignedItems) -> bool:
    """Whether an item waits for others that are not complete yet, and could then be this person's."""
    if sum(not is_check for is_check in assigned.answered.values()) >= stored.study.items_per_person:
        return False
    items = store.listed(stored.id)
    own = {item.name for item in items if item.id in assigned.answered}
    with_room = {
        item
        for item, people, answers in store.database.rows(
            """SELECT items.id, people, count(answered) FROM items LEFT JOIN assignments ON item = items.id
               WHERE items.study = ? AND follows <> '[]' GROUP BY items.id, people""",
            (stored.id,),
        )
        if answers < people
    }
    return any(item.id in with_room and own.isdisjoint(item.follows) for item in items)


def _is_taken_over(store: StudyStore, stored: StoredStudy, assignment: Assignment) -> bool:
    """Whether an item lay too long with somebody, and others have filled it meanwhile; then it is theirs no more."""
    since = _oldest(stored)
    if assignment.given >= since or assignment.draft is not None:
        return False
    ((people, takers),) = store.database.rows(
        """SELECT people, count(CASE WHEN assignments.id <> ? AND (answered IS NOT NULL OR given >= ?) THEN 1 END)
           FROM items JOIN assignments ON item = items.id WHERE items.id = ? GROUP BY people""",
        (assignment.id, since, assignment.item),
    )
    if takers < people:
        return False
    store.database.rows("DELETE FROM assignments WHERE id = ?", (assignment.id,))
    return True


def _oldest(stored: StoredStudy) -> str:
    """When an item must have been given out for its person to keep it."""
    return time_text(datetime.now(UTC) - timedelta(hours=stored.study.hours))


def progress_of(store: StudyStore, stored: StoredStudy, assigned: AssignedItems) -> PersonProgress:
    items = store.listed(stored.id)
    checks = sum(item.is_check for item in items)
    of = min(stored.study.items_per_person, len(items) - checks) + min(stored.study.checks, checks)
    return PersonProgress(len(assigned.answered), max(of, len(assigned.answered)))


def _next_item(store: StudyStore, stored: StoredStudy, person: Participant, assigned: AssignedItems) -> int | None:
    study, items = stored.study, store.listed(stored.id)
    checks = [item for item in items if item.is_check]
    ordinary = sum(not is_check for is_check in assigned.answered.values())
    positions = _check_positions(study, len(items) - len(checks), person.code)
    due = sum(position <= ordinary for position in positions)
    if len(assigned.answered) - ordinary < min(due, len(checks)):
        return next(check.id for check in checks if check.id not in assigned.answered)
    if ordinary >= study.items_per_person:
        return None
    names = {item.id: item.name for item in items}
    least = _least_given(store, stored, assigned.answered)
    return min(least, key=lambda item: _draw(study.seed, person.code, names[item]), default=None)


def _least_given(store: StudyStore, stored: StoredStudy, answered: Container[int]) -> list[int]:
    """Of the items that somebody who answered some may be given, those that fewest people have."""
    rows: list[tuple[int, int, int, int]] = store.database.rows(
        """SELECT items.id, people, count(CASE WHEN answered IS NOT NULL OR given >= ? THEN 1 END), count(answered)
           FROM items LEFT JOIN assignments ON item = items.id
           WHERE items.study = ? AND is_check = 0 GROUP BY items.id, people ORDER BY items.id""",
        (_oldest(stored), stored.id),
    )
    items = store.listed(stored.id)
    after = {item.id: item.follows for item in items if item.follows}
    names = {item.id: item.name for item in items} if after else {}
    own = {name for item, name in names.items() if item in answered}
    complete = {names[item] for item, people, _, done in rows if done >= people} if after else set()
    left = [
        (holders, item)
        for item, people, holders, _ in rows
        if holders < people
        and item not in answered
        and (item not in after or (own.isdisjoint(after[item]) and complete.issuperset(after[item])))
    ]
    fewest = min((holders for holders, _ in left), default=0)
    return [item for holders, item in left if holders == fewest]


def _check_positions(study: Study, ordinary: int, code: str) -> frozenset[int]:
    """After how many answers of a person a check comes; never before the first."""
    rng = random.Random(f"{study.seed} {code}")  # noqa: S311
    last = max(1, min(ordinary, study.items_per_person))
    return frozenset(rng.sample(range(1, last + 1), min(study.checks, last)))


def _draw(seed: int, code: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed} {code} {name}".encode()).digest()
