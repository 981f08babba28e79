"""What a person is given next: an item to answer, or a partner to talk with.

Items that fewest people have are given out first, so that all fill up alike; among those, each person has an order of
their own, drawn from the study's seed and their code. An item that was given out and not answered within the study's
hours may go to somebody else.

In a live study people are paired as they come, at random, and none is told whether the partner is a person. Somebody
who comes sits down with one of those who wait, if any; else at a chat that nobody has begun. Whether a chat is with a
person or an agent was drawn when the study was made, and so was who begins. Partners arrive after a wait that is drawn,
people and agents alike; an agent also comes where somebody has waited longer than the study's patience. Nobody talks
with the same person twice. A chat whose partner goes before a word was said is given up for another.

All of this is decided within one transaction of the caller's, so that two who come at once are not given the same.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from understudy.studies import Study
from understudy.studies.item import StudyItem
from understudy.studies.store import Participant, StoredStudy, StudyStore, now, time_text

PERSON = "person"
LOST_S = 30
"""Somebody whose page has not been heard of for so long is not waiting any more."""


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
    return assigned_to(store, person).open


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
    return time_ago(3600 * stored.study.hours)


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


@dataclass(frozen=True, slots=True)
class Seat:
    item: int
    side: int
    person: int | None
    agent: str | None
    joined: str
    seen: str
    has_left: int
    """1 once they are gone for good."""


def sit_down(store: StudyStore, stored: StoredStudy, person: Participant) -> Seat | None:
    """The seat a person has, or a new one; None where there is no chat (more) for them."""
    if (assignment := open_assignment(store, person)) is not None:
        seat = seat_of(store, assignment.item, person.id)
        if not _is_given_up(store, seat):
            _invite_agent(store, stored, seat)
            return seat
    ((chats,),) = store.database.rows("SELECT count(*) FROM assignments WHERE person = ?", (person.id,))
    if chats >= stored.study.items_per_person:
        return None
    rng = random.Random(f"{stored.study.seed} {person.code} {chats}")  # noqa: S311
    _free_seats(store, stored)
    waiting = _waiting(store, stored, person)
    if waiting:
        item = rng.choice(waiting)
        return _take(store, stored, person, item, 1, rng.uniform(*store.item(item).hidden["arrives_s"]))
    fresh = _fresh(store, stored)
    if not fresh:
        return None
    item = rng.choice(fresh)
    seat = _take(store, stored, person, item, 0)
    hidden = store.item(item).hidden
    if hidden["partner"] != PERSON:
        _seat_agent(store, item, str(hidden["partner"]), rng.uniform(*hidden["arrives_s"]))
    return seat


def has_seat(store: StudyStore, stored: StoredStudy, person: Participant) -> bool:
    """Whether `sit_down` would give somebody who is in no chat a seat."""
    return bool(_waiting(store, stored, person) or _fresh(store, stored))


def seat_of(store: StudyStore, item: int, person: int) -> Seat:
    return next(seat for seat in seats_at(store, item) if seat.person == person)


def seats_at(store: StudyStore, item: int) -> list[Seat]:
    rows = store.database.rows(
        "SELECT item, side, person, agent, joined, seen, has_left FROM seats WHERE item = ? ORDER BY side", (item,)
    )
    return [Seat(*row) for row in rows]


def time_ago(seconds: float) -> str:
    return time_ahead(-seconds)


def time_ahead(seconds: float) -> str:
    return time_text(datetime.now(UTC) + timedelta(seconds=seconds))


def _free_seats(store: StudyStore, stored: StoredStudy) -> None:
    """Give up the chats that all people have left before a word was said: they get another when they come back."""
    rows = store.database.rows(
        """SELECT seats.item FROM seats JOIN items ON items.id = seats.item
           WHERE items.study = ? AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.item = seats.item)
           GROUP BY seats.item HAVING max(CASE WHEN person IS NULL OR has_left = 1 THEN '' ELSE seen END) < ?""",
        (stored.id, time_ago(LOST_S)),
    )
    for (item,) in rows:
        _give_up(store, item)


def _is_given_up(store: StudyStore, seat: Seat) -> bool:
    """Whether a chat was without a word when the partner went; it is taken apart, and its person gets another."""
    if _has_begun(store, seat.item):
        return False
    partners = [each for each in seats_at(store, seat.item) if each.side != seat.side]
    is_alone = all(each.has_left or (each.agent is None and each.seen < time_ago(LOST_S)) for each in partners)
    if not is_alone or (not partners and seat.side == 0):
        return False  # somebody is there, or is still to come
    _give_up(store, seat.item)
    return True


def _give_up(store: StudyStore, item: int) -> None:
    store.database.rows("DELETE FROM seats WHERE item = ?", (item,))
    store.database.rows("DELETE FROM assignments WHERE item = ? AND answered IS NULL", (item,))


def _has_begun(store: StudyStore, item: int) -> bool:
    return bool(store.database.rows("SELECT 1 FROM messages WHERE item = ?", (item,)))


def _waiting(store: StudyStore, stored: StoredStudy, person: Participant) -> list[int]:
    """Chats where one person sits, who is there now and whom this person has not talked with."""
    rows = store.database.rows(
        """SELECT seats.item FROM seats JOIN items ON items.id = seats.item
           WHERE items.study = ? AND seats.side = 0 AND seats.seen >= ? AND seats.has_left = 0 AND seats.person <> ?
             AND NOT EXISTS (SELECT 1 FROM seats AS others WHERE others.item = seats.item AND others.side = 1)
             AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.item = seats.item)
             AND seats.person NOT IN (
                 SELECT theirs.person FROM seats AS own JOIN seats AS theirs ON theirs.item = own.item
                 WHERE own.person = ? AND theirs.person IS NOT NULL)
           ORDER BY seats.item""",
        (stored.id, time_ago(LOST_S), person.id, person.id),
    )
    return [int(item) for (item,) in rows if store.item(item).hidden["partner"] == PERSON]


def _fresh(store: StudyStore, stored: StoredStudy) -> list[int]:
    """Chats at which nobody has sat."""
    rows = store.database.rows(
        """SELECT id FROM items WHERE study = ? AND is_check = 0
           AND NOT EXISTS (SELECT 1 FROM seats WHERE seats.item = items.id) ORDER BY id""",
        (stored.id,),
    )
    return [int(item) for (item,) in rows]


def _take(
    store: StudyStore, stored: StoredStudy, person: Participant, item: int, side: int, after_s: float = 0.0
) -> Seat:
    store.database.rows(
        "INSERT INTO seats (item, side, person, joined, seen) VALUES (?, ?, ?, ?, ?)",
        (item, side, person.id, time_ahead(after_s), now()),
    )
    store.database.rows(
        "INSERT INTO assignments (study, person, item, given, comment, seconds) VALUES (?, ?, ?, ?, '', 0)",
        (stored.id, person.id, item, now()),
    )
    return seat_of(store, item, person.id)


def _seat_agent(store: StudyStore, item: int, agent: str, after_s: float) -> None:
    joined = time_ahead(after_s)
    store.database.rows(
        "INSERT INTO seats (item, side, agent, joined, seen) VALUES (?, 1, ?, ?, ?)", (item, agent, joined, joined)
    )


def _invite_agent(store: StudyStore, stored: StoredStudy, seat: Seat) -> None:
    """After the study's patience an agent takes the seat beside somebody who waits, if the study has agents."""
    item: StudyItem = store.item(seat.item)
    hidden: Any = item.hidden
    if not hidden["agents"] or seat.side or len(seats_at(store, seat.item)) > 1 or _has_begun(store, seat.item):
        return
    if seat.joined <= time_ago(hidden["patience_s"]):
        rng = random.Random(f"{stored.study.seed} {item.name} agent")  # noqa: S311
        _seat_agent(store, seat.item, rng.choice(hidden["agents"]), 0.0)
        store.database.rows("UPDATE items SET people = 1 WHERE id = ?", (seat.item,))  # nobody else is to come
