"""Studies, their items, the people who take part and what they answered; the same on SQLite and PostgreSQL.

Every change is one transaction, and one is made at a time, in whichever process: what is read in it cannot have changed
before it is written. So several servers can give out items of one database.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from understudy.database import Database, Migration, migrate, open_database
from understudy.errors import InputError, UnderstudyError
from understudy.studies import Study, study_from_document
from understudy.studies.item import Answer, StudyItem, item_from_document
from understudy.studies.kind import GivenAnswer

INVITED, ACTIVE, ENDED = "invited", "active", "ended"
MOST_LINKS = 10_000
PERSONAL_TABLES = ("people", "assignments", "seats", "messages")
UNKNOWN = "this link is not known here: check that it is whole, or ask who sent it for a new one"
CACHED_ITEMS = 512
CACHED_STUDIES = 64
STUDY_COLUMNS = "studies.id, name, document, closed"
PERSON_COLUMNS = "people.id, study, code, state, seen"


class UnknownToken(UnderstudyError):
    """A link that was never made, or whose person has withdrawn."""


@dataclass(frozen=True, slots=True)
class StoredStudy:
    id: int
    name: str
    study: Study
    closed: str | None


@dataclass(frozen=True, slots=True)
class Participant:
    id: int
    study: int
    code: str
    state: str
    seen: str | None


@dataclass(frozen=True, slots=True)
class ListedItem:
    """What decides whether an item can be given to somebody, without what it shows."""

    id: int
    name: str
    is_check: bool
    follows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogEntry:
    happened: str
    what: str


def now() -> str:
    """The time as it is stored: texts of it sort as the times do."""
    return time_text(datetime.now(UTC))


def time_text(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def open_study_store(location: str | Path) -> StudyStore:
    """Open a file (created if need be), or a postgresql:// address."""
    return StudyStore(open_database(location, APPLICATION_ID, PURPOSE))


class StudyStore:
    """Closed by its opener. Items never change, so they are parsed once and then cached."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.item = lru_cache(CACHED_ITEMS)(self._load_item)
        self.listed = lru_cache(CACHED_STUDIES)(self._list_items)
        try:
            migrate(database, migrations(database))
        except BaseException:
            database.close()
            raise

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> StudyStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def transaction(self) -> AbstractContextManager[None]:
        return self.database.transaction()

    # Studies

    def add_study(self, name: str, study: Study, items: Iterable[StudyItem]) -> StoredStudy:
        """Store a study under a name. One that is there keeps its items; its texts and limits may change."""
        document = json.dumps(study.document(), ensure_ascii=False)
        with self.transaction():
            stored = self._find_study(name)
            if stored is None:
                ((number,),) = self.database.rows(
                    """INSERT INTO studies (name, document, digest, invited, created) VALUES (?, ?, ?, 0, ?)
                       RETURNING id""",
                    (name, document, study.digest, now()),
                )
                self._add_items(number, study, items)
            elif stored.study.digest != study.digest:
                raise InputError(
                    f"the study '{name}' has other items in this database: kind, material, checks and seed of a study "
                    "that has begun stay as they are; give the changed one another name with --name"
                )
            else:
                self.database.rows("UPDATE studies SET document = ? WHERE id = ?", (document, stored.id))
                self._set_people(stored.id, study)
        return self.study(name)

    def _add_items(self, number: int, study: Study, items: Iterable[StudyItem]) -> None:
        names: set[str] = set()
        for item in items:
            if item.name in names:
                raise InputError(f"two items are called '{item.name}': give each its own name")
            names.add(item.name)
            after, document = json.dumps(item.after), json.dumps(item.document(), ensure_ascii=False)
            self.database.rows(
                "INSERT INTO items (study, name, people, is_check, follows, document) VALUES (?, ?, ?, ?, ?, ?)",
                (number, item.name, _people_of(item, study), int(item.is_check), after, document),
            )
        if not names:
            raise InputError("the material gives no item to ask about: see the comments under [material]")

    def _set_people(self, number: int, study: Study) -> None:
        for item, document in self.database.rows("SELECT id, document FROM items WHERE study = ?", (number,)):
            people = _people_of(item_from_document(json.loads(document)), study)
            self.database.rows("UPDATE items SET people = ? WHERE id = ? AND people <> ?", (people, item, people))

    def studies(self) -> list[StoredStudy]:
        return [_study(row) for row in self.database.rows(f"SELECT {STUDY_COLUMNS} FROM studies ORDER BY id")]

    def study(self, name: str) -> StoredStudy:
        stored = self._find_study(name)
        if stored is None:
            names = ", ".join(f"'{each.name}'" for each in self.studies()) or "it has none yet"
            raise InputError(f"there is no study '{name}' in this database ({names}): open one with `study serve`")
        return stored

    def _find_study(self, name: str) -> StoredStudy | None:
        rows = self.database.rows(f"SELECT {STUDY_COLUMNS} FROM studies WHERE name = ?", (name,))
        return _study(rows[0]) if rows else None

    def close_study(self, name: str, is_closed: bool = True) -> None:
        """A closed study gives out no items and takes no answers; it can be opened again."""
        with self.transaction():
            stored = self.study(name)
            self.database.rows("UPDATE studies SET closed = ? WHERE id = ?", (now() if is_closed else None, stored.id))
            self.log(stored.id, "closed" if is_closed else "opened again")

    def delete_study(self, name: str) -> None:
        with self.transaction():
            self.database.rows("DELETE FROM studies WHERE id = ?", (self.study(name).id,))
        self.database.erase_deleted(PERSONAL_TABLES)

    # People

    def invite(self, name: str, count: int) -> list[str]:
        """Tokens of new participants; this is the only time they are known."""
        if not 1 <= count <= MOST_LINKS:
            raise InputError(f"{count} links at once: make 1 to {MOST_LINKS:,}")
        tokens = [new_token() for _ in range(count)]
        with self.transaction():
            stored = self.study(name)
            # Codes are never given again: results that name one may be older than its person's withdrawal.
            ((last,),) = self.database.rows(
                "UPDATE studies SET invited = invited + ? WHERE id = ? RETURNING invited", (count, stored.id)
            )
            for number, token in enumerate(tokens, int(last) - count + 1):
                self.database.rows(
                    "INSERT INTO people (study, code, token, state, asked, created) VALUES (?, ?, ?, ?, ?, ?)",
                    (stored.id, f"p{number}", hash_token(token), INVITED, "{}", now()),
                )
            self.log(stored.id, f"{count} links made")
        return tokens

    def person(self, token: str) -> Participant:
        return self.participant(token)[0]

    def participant(self, token: str) -> tuple[Participant, StoredStudy]:
        """The person of a token and their study."""
        columns = f"{PERSON_COLUMNS}, {STUDY_COLUMNS}"
        query = f"SELECT {columns} FROM people JOIN studies ON studies.id = study WHERE token = ?"
        rows = self.database.rows(query, (hash_token(token),))
        if not rows:
            raise UnknownToken(UNKNOWN)
        return Participant(*rows[0][:5]), _study(rows[0][5:])

    def people(self, study: int) -> list[Participant]:
        rows = self.database.rows(f"SELECT {PERSON_COLUMNS} FROM people WHERE study = ? ORDER BY id", (study,))
        return [Participant(*row) for row in rows]

    def end(self, name: str, code: str) -> None:
        """End a person's link; what they have answered stays."""
        with self.transaction():
            stored = self.study(name)
            rows = self.database.rows(
                "UPDATE people SET state = ? WHERE study = ? AND code = ? RETURNING id", (ENDED, stored.id, code)
            )
            if not rows:
                raise InputError(f"'{name}' has no participant '{code}': see `study status`")
            self.database.rows("DELETE FROM assignments WHERE person = ? AND answered IS NULL", (rows[0][0],))
            self.database.rows("UPDATE seats SET has_left = 1 WHERE person = ?", (rows[0][0],))
            self.log(stored.id, f"the link of {code} was ended")

    def activate(self, person: Participant, asked: Answer) -> None:
        self.database.rows(
            "UPDATE people SET state = ?, asked = ?, seen = ? WHERE id = ? AND state = ?",
            (ACTIVE, json.dumps(asked, ensure_ascii=False), now(), person.id, INVITED),
        )

    def delete_person(self, person: Participant) -> None:
        """Delete a person and everything they gave, with what agents said to them; only that somebody withdrew is
        logged."""
        chats = "item IN (SELECT item FROM seats WHERE person = ?)"
        self.database.rows(f"DELETE FROM messages WHERE person IS NULL AND {chats}", (person.id,))
        self.database.rows(f"DELETE FROM seats WHERE agent IS NOT NULL AND {chats}", (person.id,))
        self.database.rows("DELETE FROM people WHERE id = ?", (person.id,))
        self.log(person.study, "somebody withdrew")

    # Answers

    def items(self, study: int) -> dict[int, StudyItem]:
        rows = self.database.rows("SELECT id, document FROM items WHERE study = ? ORDER BY id", (study,))
        return {number: item_from_document(json.loads(document)) for number, document in rows}

    def _load_item(self, number: int) -> StudyItem:
        ((document,),) = self.database.rows("SELECT document FROM items WHERE id = ?", (number,))
        return item_from_document(json.loads(document))

    def _list_items(self, study: int) -> tuple[ListedItem, ...]:
        rows = self.database.rows("SELECT id, name, is_check, follows FROM items WHERE study = ? ORDER BY id", (study,))
        return tuple(
            ListedItem(number, name, bool(is_check), tuple(json.loads(follows)))
            for number, name, is_check, follows in rows
        )

    def answers(self, study: int, names: Sequence[str] | None = None) -> list[GivenAnswer]:
        """The answers that stand, in the order they came; of some items only, where `names` are given."""
        if names is None:
            items = self.items(study)
        else:
            items = {listed.id: self.item(listed.id) for listed in self.listed(study) if listed.name in names}
        of_items = "" if names is None else f"AND item IN ({', '.join('?' * len(items))})"
        rows = self.database.rows(
            f"""SELECT item, code, answer, comment, seconds, answered FROM assignments
                JOIN people ON people.id = assignments.person
                WHERE assignments.study = ? AND answered IS NOT NULL {of_items} ORDER BY answered, assignments.id""",
            (study, *(items if names is not None else ())),
        )
        return [
            GivenAnswer(items[item], code, json.loads(answer), comment, float(seconds), answered)
            for item, code, answer, comment, seconds, answered in rows
        ]

    def asked_of(self, study: int) -> dict[str, dict[str, str]]:
        """What people said of themselves, by code, where the study asked."""
        rows = self.database.rows("SELECT code, asked FROM people WHERE study = ?", (study,))
        return {code: json.loads(asked) for code, asked in rows if asked != "{}"}

    # The log

    def log(self, study: int, what: str) -> None:
        self.database.rows("INSERT INTO events (study, happened, what) VALUES (?, ?, ?)", (study, now(), what))

    def log_unblinding(self, stored: StoredStudy, by: str) -> None:
        with self.transaction():
            self.log(stored.id, f"unblinded by {by}")

    def events(self, study: int) -> list[LogEntry]:
        rows = self.database.rows("SELECT happened, what FROM events WHERE study = ? ORDER BY id", (study,))
        return [LogEntry(*row) for row in rows]


def _people_of(item: StudyItem, study: Study) -> int:
    return item.people if item.people is not None else study.people_per_item


def _study(row: Sequence[Any]) -> StoredStudy:
    number, name, document, closed = row
    return StoredStudy(number, name, _parsed(document), closed)


@lru_cache(CACHED_STUDIES)
def _parsed(document: str) -> Study:
    return study_from_document(json.loads(document))


def new_token() -> str:
    """The random token in a participant's link; the database has only its hash."""
    return secrets.token_urlsafe(24)


def hash_token(token: str) -> str:
    """Tokens have 192 random bits, so a plain hash cannot be searched for."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


# The tables of the study database, and its migrations.
#
# A person is known by a code ('p7') and by the hash of their token. An assignment is an item given to a person; it is
# answered when `answered` is set, and an answer that was taken back stays as a draft until the item is answered
# again. A chat is an item with two seats. An agent sits where `agent` is set; whoever makes its reply holds the
# seat's `lease`, and another process may do so once that is old. What a person who withdraws had said goes with them.
#
# `events` is the log of what the one who runs a study did: links made and ended, answers unblinded, and by whom.
# `sessions` are the organiser's logins, of which only hashes are stored.

APPLICATION_ID = 0x55445354  # 'UDST'
PURPOSE = "the study database"


def migrations(database: Database) -> tuple[Migration, ...]:
    number = database.id_type
    return (
        (
            "studies",
            (
                f"""CREATE TABLE studies (
                    id {number}, name TEXT NOT NULL UNIQUE, document TEXT NOT NULL, digest TEXT NOT NULL,
                    invited BIGINT NOT NULL, created TEXT NOT NULL, closed TEXT)""",
                f"""CREATE TABLE items (
                    id {number}, study BIGINT NOT NULL REFERENCES studies ON DELETE CASCADE, name TEXT NOT NULL,
                    people BIGINT NOT NULL, is_check BIGINT NOT NULL, follows TEXT NOT NULL, document TEXT NOT NULL,
                    UNIQUE (study, name))""",
                f"""CREATE TABLE people (
                    id {number}, study BIGINT NOT NULL REFERENCES studies ON DELETE CASCADE, code TEXT NOT NULL,
                    token TEXT NOT NULL UNIQUE, state TEXT NOT NULL CHECK (state IN ('invited', 'active', 'ended')),
                    asked TEXT NOT NULL, created TEXT NOT NULL, seen TEXT, UNIQUE (study, code))""",
                f"""CREATE TABLE assignments (
                    id {number}, study BIGINT NOT NULL REFERENCES studies ON DELETE CASCADE,
                    person BIGINT NOT NULL REFERENCES people ON DELETE CASCADE,
                    item BIGINT NOT NULL REFERENCES items ON DELETE CASCADE, given TEXT NOT NULL, answered TEXT,
                    answer TEXT, comment TEXT NOT NULL, seconds DOUBLE PRECISION NOT NULL, UNIQUE (person, item))""",
                "CREATE INDEX assignments_of_item ON assignments (item)",
                "CREATE INDEX assignments_of_study ON assignments (study, answered)",
                f"""CREATE TABLE events (
                    id {number}, study BIGINT NOT NULL REFERENCES studies ON DELETE CASCADE, happened TEXT NOT NULL,
                    what TEXT NOT NULL)""",
            ),
        ),
        (
            "chats",
            (
                f"""CREATE TABLE seats (
                    id {number}, item BIGINT NOT NULL REFERENCES items ON DELETE CASCADE, side BIGINT NOT NULL,
                    person BIGINT REFERENCES people ON DELETE CASCADE, agent TEXT, joined TEXT NOT NULL,
                    seen TEXT NOT NULL, has_left BIGINT NOT NULL DEFAULT 0, lease TEXT, UNIQUE (item, side))""",
                f"""CREATE TABLE messages (
                    id {number}, item BIGINT NOT NULL REFERENCES items ON DELETE CASCADE, number BIGINT NOT NULL,
                    side BIGINT NOT NULL, person BIGINT REFERENCES people ON DELETE CASCADE, text TEXT NOT NULL,
                    sent TEXT NOT NULL, message_key TEXT NOT NULL, UNIQUE (item, number),
                    UNIQUE (item, side, message_key))""",
                "CREATE INDEX seats_of_person ON seats (person)",
            ),
        ),
        (
            "logins",
            ("CREATE TABLE sessions (token TEXT PRIMARY KEY, role TEXT NOT NULL, expires DOUBLE PRECISION NOT NULL)",),
        ),
    )
