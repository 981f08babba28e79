"""What people who chat said of themselves, kept for later chats in one SQLite file.

A telling is one sentence with its source: who said it in which turn of which chat, when, to which character of which
story, and at which moment of it. It is known to a character iff

    it was told to that character itself, of the same story, by the same person speaking as the same somebody,
    in a chat that began earlier, and
    the character's story moment then <= its moment now.

Nothing is written, not even the file, before something is told. What is forgotten is overwritten in the file
(`secure_delete`, and no write-ahead log that could still hold it). The last change alone can be undone: until the next
one its text lies in a file of its own beside the database.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from uuid import uuid4

from understudy.agents.dialogue_context import introduced_names
from understudy.database import Migration, apply_migrations
from understudy.database.sqlite import claim_file
from understudy.errors import InputError, StoryError
from understudy.people.own_words import profile_sentences
from understudy.story.dialogue import MAX_NAME, Situation
from understudy.story.persona import Other, Told
from understudy.story.types import Moment
from understudy.story.user_folders import data_folder
from understudy.text import fold

MEMORY_FILE = "memory.sqlite"
APPLICATION_ID = 0x55444D45  # 'UDME': tells a memory of people from other SQLite files
BUSY_S = 10.0  # how long another program's change is waited for
MAX_TEXT = 500
MIGRATIONS: tuple[Migration, ...] = (
    (
        "tellings",
        (
            """CREATE TABLE tellings (
               number INTEGER PRIMARY KEY AUTOINCREMENT,
               person TEXT NOT NULL,
               speaker TEXT NOT NULL,
               story TEXT NOT NULL,
               character TEXT NOT NULL,
               moment TEXT NOT NULL,
               chat TEXT NOT NULL,
               began TEXT NOT NULL,
               turn INTEGER NOT NULL,
               said TEXT NOT NULL,
               edited TEXT,
               text TEXT NOT NULL
           )""",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class ChatSource:
    """Where something is told: by whom and as whom, in which chat, to which character at which moment.

    `speaker` is who the character takes them for: the person's own name, or that of somebody they speak as.
    """

    person: str
    speaker: str
    story: str
    character: str
    moment: Moment
    chat: str
    began: str
    """When the chat began, in ISO form: it orders chats."""


@dataclass(frozen=True, slots=True)
class Telling:
    """One sentence that somebody said of themselves; the columns of its row, with the moment in dotted form."""

    number: int
    person: str
    speaker: str
    story: str
    character: str
    moment: str
    chat: str
    began: str
    turn: int
    said: str
    edited: str | None
    text: str


COLUMNS = ", ".join(field.name for field in fields(Telling))
PLACES = ", ".join("?" for _ in fields(Telling))


def open_memory() -> PeopleMemory:
    """The memory in the user's data folder."""
    return PeopleMemory(data_folder() / MEMORY_FILE)


class PeopleMemory:
    """Used by several threads and programs at once; every call is a transaction of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.undo_path = path.with_name(f"{path.stem}-undo.json")
        self._lock = RLock()

    def tellings(self, person: str | None = None, chat: str | None = None) -> list[Telling]:
        """Everything that is kept, or what one person said, in the order it was said."""
        with self._reading() as db:
            rows = [] if db is None else db.execute(f"SELECT {COLUMNS} FROM tellings ORDER BY began, number").fetchall()
        wanted = None if person is None else fold(person)
        tellings = (Telling(*row) for row in rows)
        return [item for item in tellings if wanted in (None, fold(item.person)) and chat in (None, item.chat)]

    def known(self, now: ChatSource) -> list[Telling]:
        """What a character knows of somebody from earlier chats, at its moment and in its chat."""
        return [
            telling
            for telling in self._told_to(now)
            if telling.story == now.story and telling.chat != now.chat and telling.began < now.began
        ]

    def told_in(self, now: ChatSource) -> list[Telling]:
        """What a character was told by somebody in this very chat, up to its moment."""
        return [telling for telling in self._told_to(now) if telling.chat == now.chat]

    def _told_to(self, now: ChatSource) -> Iterator[Telling]:
        for telling in self.tellings(now.person):
            is_of_both = telling.character == now.character and fold(telling.speaker) == fold(now.speaker)
            if is_of_both and Moment.parse(telling.moment) <= now.moment:
                yield telling

    def tell(self, source: ChatSource, turn: int, texts: Sequence[str], said: str | None = None) -> list[Telling]:
        """Keep what was said in a turn; what the character knows already, or hears again in the chat, is not new."""
        known = {fold(telling.text) for telling in (*self.known(source), *self.told_in(source))}
        new = [text for text in dict.fromkeys(map(_checked, texts)) if fold(text) not in known]
        if not new:
            return []
        fixed = (source.person, source.speaker, source.story, source.character, source.moment.dotted, source.chat,
                 source.began, turn, said or now(), None)  # fmt: skip
        with self._writing() as db:
            sql = f"INSERT INTO tellings ({COLUMNS}) VALUES ({PLACES}) RETURNING {COLUMNS}"
            return [Telling(*db.execute(sql, (None, *fixed, text)).fetchone()) for text in new]

    def get(self, person: str, number: int) -> Telling:
        for telling in self.tellings(person):
            if telling.number == number:
                return telling
        raise InputError(
            f"nothing with the number {number} is remembered of {person}: look at `understudy memory list`"
        )

    def edit(self, person: str, number: int, text: str) -> Telling:
        """Say it differently; where it was told stays."""
        old = self.get(person, number)
        new = replace(old, text=_checked(text), edited=now())
        with self._writing() as db:
            db.execute("UPDATE tellings SET text = ?, edited = ? WHERE number = ?", (new.text, new.edited, number))
        self._keep_for_undo("edit", [old])
        return new

    def forget(self, person: str, numbers: Sequence[int] | None = None, can_undo: bool = True) -> list[Telling]:
        """Forget some of what a person said, or (None) all of it; without `can_undo` no trace is left."""
        gone = self.tellings(person) if numbers is None else [self.get(person, number) for number in numbers]
        self._delete(gone)
        self._keep_for_undo("forget", gone if can_undo else [])
        return gone

    def take_back(self, chat: str, since: int = 0) -> None:
        """Forget what was told in a chat from a turn on, which was taken back itself."""
        self._delete([telling for telling in self.tellings(chat=chat) if telling.turn >= since])

    def bring_back(self, tellings: Sequence[Telling]) -> None:
        """Keep again what was taken back, as it was."""
        with self._writing() as db:
            db.executemany(f"INSERT OR REPLACE INTO tellings ({COLUMNS}) VALUES ({PLACES})", map(astuple, tellings))

    def undo(self) -> list[Telling]:
        """Take back the last edit or forgetting, once."""
        try:
            record = json.loads(self.undo_path.read_text(encoding="utf-8"))
            restored = [Telling(**row) for row in record["before"]]
        except (OSError, ValueError, KeyError, TypeError):
            restored = []
        if not restored:
            raise InputError("there is no change to undo: only the last one can be undone, and only once")
        self.bring_back(restored)
        self._keep_for_undo("", [])
        return restored

    @property
    def can_undo(self) -> bool:
        return self.undo_path.exists()

    def _delete(self, gone: Sequence[Telling]) -> None:
        if gone:
            with self._writing() as db:
                db.executemany("DELETE FROM tellings WHERE number = ?", [(telling.number,) for telling in gone])

    def _keep_for_undo(self, change: str, before: Sequence[Telling]) -> None:
        """Write what undoing the last change needs in place of what the one before needed."""
        with suppress(FileNotFoundError):
            self.undo_path.unlink()
        if before:
            record = {"change": change, "before": [asdict(telling) for telling in before]}
            with os.fdopen(
                os.open(self.undo_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
            ) as file:
                json.dump(record, file, ensure_ascii=False)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """A connection; None where nothing was ever kept."""
        if not self.path.exists():
            yield None
            return
        with self._writing() as db:
            yield db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                connection = _connect(self.path)
                try:
                    with connection:
                        connection.execute("BEGIN IMMEDIATE")
                        _migrate(connection)
                        yield connection
                finally:
                    connection.close()
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"cannot be used to remember people ({error}): move it away, or set UNDERSTUDY_DATA", self.path
            ) from error


def now() -> str:
    """The time in ISO form, to the microsecond: it orders chats."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _checked(text: str) -> str:
    """A sentence on one line that can be kept."""
    sentence = " ".join(text.encode("utf-8", "replace").decode().replace("\0", " ").split())
    if not sentence or len(sentence) > MAX_TEXT:
        raise InputError(f"what is remembered is a sentence of 1 to {MAX_TEXT} characters: write a shorter one")
    return sentence


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    connection.execute("PRAGMA secure_delete = ON")
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    if not claim_file(connection, APPLICATION_ID):
        raise sqlite3.DatabaseError("it is a database of something else")
    try:
        apply_migrations(connection.execute, MIGRATIONS, "it")
    except InputError as error:
        raise sqlite3.DatabaseError(error.message) from error


# A chat in which a person is remembered: what they tell is kept, and what they told before is known.

NAME_GIVEN = {"en": "My name is {name}", "ja": "名前は{name}です", "zh": "我叫{name}"}


def remembered_person(name: str) -> Other:
    """Somebody who is remembered by a name, and of whom nothing else is known."""
    clean = " ".join(name.split())
    if not clean or len(clean) > MAX_NAME:
        raise StoryError(f"say who is to be remembered by a name of at most {MAX_NAME} characters, as in: Tom")
    return Other(clean)


@dataclass(frozen=True, slots=True)
class RememberedChat:
    """One chat of a person who is remembered: its key, and when it began, which says what of others is its past."""

    memory: PeopleMemory
    person: str
    chat: str = field(default_factory=lambda: uuid4().hex)
    began: str = field(default_factory=now)

    def recall(self, situation: Situation) -> Situation:
        """The situation with what the one faced told the character in earlier chats."""
        faced = situation.faced or remembered_person(self.person)
        known = tuple(map(told_of, self.memory.known(self._source(situation))))
        return replace(situation, faced=replace(faced, told=known))

    def keep(self, situation: Situation, turn: int, text: str, said: str | None = None) -> list[Telling]:
        """Keep what a turn tells of whoever says it, as told to the situation's character."""
        language = situation.persona.language
        sentences = profile_sentences([text], language)
        names = introduced_names([text], language)
        sentences += [
            NAME_GIVEN[language].format(name=name)
            for name in names
            if not any(name in sentence for sentence in sentences)
        ]
        return self.memory.tell(self._source(situation), turn, sentences, said)

    def take_back(self, since: int) -> None:
        """Forget what was told from a turn on, which was taken back itself."""
        self.memory.take_back(self.chat, since)

    def tellings(self, situation: Situation) -> list[Telling]:
        """What the character knows of the one faced: from earlier chats, and from this one by its moment."""
        source = self._source(situation)
        return [*self.memory.known(source), *self.memory.told_in(source)]

    def _source(self, situation: Situation) -> ChatSource:
        persona = situation.persona
        speaker = situation.faced.name if situation.faced else self.person
        return ChatSource(self.person, speaker, persona.story, persona.name, persona.moment, self.chat, self.began)


def told_of(telling: Telling) -> Told:
    """A telling as a character knows it, with where it comes from in words."""
    day = datetime.fromisoformat(telling.said)
    source = f"{telling.speaker}, chat of {day.day} {day:%B %Y}, turn {telling.turn}"
    edited = ", edited" if telling.edited else ""
    return Told(telling.text, Moment.parse(telling.moment), source + edited)
