"""The SQLite database of a story file: its tables, and connections that are safe with files from anybody.

The tables are small numbered migrations recorded in the file itself. Lines are numbered in story order, so 'before a
moment' is a prefix of the line numbers and every question about time becomes a comparison of integers. A moment is kept
as big-endian 32-bit numbers: SQLite compares blobs byte by byte and a prefix comes first, which is how moments compare.

A `SharedConnection` runs one query at a time behind a lock of its own. SQLite could serialise threads itself, but then
a thread may wait inside SQLite with Python's interpreter lock held, while the thread it waits for needs that lock for
the authorizer of a persona's connection (see `past`): a deadlock.

A story file may come from anybody. Its connections do not trust its schema, a query on it has a budget of steps in
proportion to its size, and what SQLite finds wrong with it is an `InputError`. A story in memory was made by this
process and has no budget; its connections share a cache, in which a progress handler could deadlock as well.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, local
from typing import Any, NamedTuple, TypeAlias

from understudy.database import Migration, applied_migrations, apply_migrations
from understudy.errors import InputError
from understudy.story.types import Line, Moment

APPLICATION = 0x55445354  # 'UDST': tells a story file from other SQLite files

MIGRATIONS: Sequence[Migration] = (
    (
        "story",
        (
            "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
            """CREATE TABLE files (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, format TEXT NOT NULL, units INTEGER NOT NULL DEFAULT 0,
            lines INTEGER NOT NULL DEFAULT 0, descriptions INTEGER NOT NULL DEFAULT 0,
            headings INTEGER NOT NULL DEFAULT 0, unread INTEGER NOT NULL DEFAULT 0)""",
            """CREATE TABLE unread (
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL)""",
            """CREATE TABLE headings (
            id INTEGER PRIMARY KEY, moment BLOB, title TEXT NOT NULL, before_scene INTEGER NOT NULL,
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL)""",
            """CREATE TABLE scenes (
            id INTEGER PRIMARY KEY, moment BLOB NOT NULL UNIQUE, setting TEXT NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL,
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL)""",
            """CREATE TABLE characters (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, is_group INTEGER NOT NULL DEFAULT 0,
            profile TEXT NOT NULL DEFAULT '[]', lines INTEGER NOT NULL DEFAULT 0,
            first INTEGER, last INTEGER)""",
            """CREATE TABLE aliases (
            folded TEXT NOT NULL, alias TEXT NOT NULL, character INTEGER NOT NULL REFERENCES characters,
            PRIMARY KEY (folded, character)) WITHOUT ROWID""",
            """CREATE TABLE lines (
            id INTEGER PRIMARY KEY, scene INTEGER NOT NULL REFERENCES scenes, number INTEGER NOT NULL,
            speaker INTEGER REFERENCES characters, text TEXT NOT NULL,
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL)""",
            """CREATE TABLE presence (
            character INTEGER NOT NULL REFERENCES characters, first INTEGER NOT NULL, last INTEGER NOT NULL,
            scene INTEGER NOT NULL REFERENCES scenes, PRIMARY KEY (character, first, scene)) WITHOUT ROWID""",
            """CREATE TABLE acquaintance (
            character INTEGER NOT NULL REFERENCES characters, other INTEGER NOT NULL REFERENCES characters,
            met INTEGER, named INTEGER, PRIMARY KEY (character, other)) WITHOUT ROWID""",
            """CREATE TABLE facts (
            id INTEGER PRIMARY KEY, who INTEGER NOT NULL REFERENCES characters, attribute TEXT NOT NULL,
            content TEXT NOT NULL, since BLOB NOT NULL, until BLOB, known_to TEXT,
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL)""",
            """CREATE TABLE relations (
            id INTEGER PRIMARY KEY, of INTEGER NOT NULL REFERENCES characters,
            towards INTEGER NOT NULL REFERENCES characters, kind TEXT NOT NULL, level INTEGER,
            since BLOB NOT NULL, until BLOB, file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL)""",
        ),
    ),
    (
        "indexes",
        (
            "CREATE INDEX lines_by_speaker ON lines (speaker, id)",
            "CREATE INDEX presence_by_scene ON presence (scene, character)",
            "CREATE INDEX facts_by_character ON facts (who, attribute, since)",
            "CREATE INDEX relations_by_character ON relations (of, towards, kind, since)",
            "CREATE INDEX relations_towards ON relations (towards, of)",
        ),
    ),
    (
        "cards",
        (
            """CREATE TABLE cards (
            character INTEGER PRIMARY KEY REFERENCES characters, greetings TEXT NOT NULL, scenario TEXT NOT NULL,
            profile TEXT NOT NULL, document TEXT NOT NULL, picture BLOB)""",
            "CREATE TABLE lore (id INTEGER PRIMARY KEY, character INTEGER REFERENCES characters, entry TEXT NOT NULL)",
        ),
    ),
    (
        "spans",
        (
            """CREATE TABLE spans (
            line INTEGER NOT NULL REFERENCES lines, start INTEGER NOT NULL, stop INTEGER NOT NULL,
            PRIMARY KEY (line, start)) WITHOUT ROWID""",
            "CREATE TABLE attributions (line INTEGER PRIMARY KEY REFERENCES lines, confidence REAL NOT NULL)",
        ),
    ),
    ("terms", ("ALTER TABLE relations ADD COLUMN term TEXT NOT NULL DEFAULT ''",)),
    (
        "names",
        (
            """CREATE TABLE names (
            character INTEGER NOT NULL REFERENCES characters, name TEXT NOT NULL, line INTEGER NOT NULL,
            PRIMARY KEY (character, name)) WITHOUT ROWID""",
        ),
    ),
)
NAMES_VERSION = 6
OLDEST = 2  # the first whose files can still be read; they have no cards, spans, words for ties, nor names by lines


def migrate(connection: sqlite3.Connection, upto: int | None = None) -> None:
    """Bring a new or older file up to date (or up to one migration, which a writer does before its bulk load)."""
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    apply_migrations(connection.execute, MIGRATIONS[:upto], "the story file")


def version_of(connection: sqlite3.Connection) -> int:
    return applied_migrations(connection.execute)


def pack(moment: Moment) -> bytes:
    return struct.pack(f">{len(moment.numbers)}I", *moment.numbers)


def unpack(blob: bytes, levels: tuple[str, ...], *more: int) -> Moment:
    return Moment((*struct.unpack(f">{len(blob) // 4}I", blob), *more), levels)


Row = tuple[Any, ...]
BATCH_ROWS = 500  # rows of a stream that are fetched while the lock is held
PROGRAM_ERRORS = (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY)  # a forbidden query: no fault of the file

STEP = 100_000  # instructions of SQLite's virtual machine between two checks of the budget
FEWEST_STEPS = 20_000_000
STEPS_PER_BYTE = 20  # a full table scan takes one or two


_THREAD = local()
_TO_CLOSE: list[sqlite3.Connection] = []


class SharedConnection:
    """A connection that threads share: queries in, rows out; no cursor leaves it."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        """`path` is the file behind the connection, None for a story in memory."""
        self._connection = connection
        self._path = path
        self._lock = Lock()
        self._budget = None if path is None else StepBudget(path)
        if self._budget is not None:
            self._budget.limit(connection)

    def __del__(self) -> None:
        """Close: part of a reference cycle, the connection would keep its file open until it is collected.

        Where Python collects while SQLite calls it back, a story in memory is locked, and closing would wait forever.
        """
        if getattr(_THREAD, "is_executing", False):
            _TO_CLOSE.append(self._connection)
        else:
            self._connection.close()

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with self._locked():
            return self._connection.execute(query, parameters).fetchall()

    def row(self, query: str, parameters: Sequence[Any] = ()) -> Row | None:
        return next(iter(self.rows(query, parameters)), None)

    def has_table(self, name: str) -> bool:
        """Files of older versions lack some."""
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)))

    def stream(self, query: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """For results that may be too large for memory: fetched in batches."""
        with self._locked():
            cursor = self._connection.execute(query, parameters)
            rows = cursor.fetchmany(BATCH_ROWS)
        while rows:
            yield from rows
            with self._locked():
                rows = cursor.fetchmany(BATCH_ROWS)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            if self._budget is not None:
                self._budget.renew()
            _THREAD.is_executing = True
            try:
                with translated_errors(self._path):
                    yield
            finally:
                _THREAD.is_executing = False
        with suppress(IndexError):  # another thread may close them as well
            while _TO_CLOSE:
                _TO_CLOSE.pop().close()


@contextmanager
def translated_errors(path: Path | None) -> Iterator[None]:
    """Turn what SQLite finds wrong with a file into an `InputError`."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        if path is None or getattr(error, "sqlite_errorcode", None) in PROGRAM_ERRORS:
            raise
        raise InputError(f"is damaged, or gone ({error}): read its source again", path) from error


def connect(address: str, path: Path | None) -> sqlite3.Connection:
    """A connection for reading; to a file (`path`) it is one that trusts neither the schema nor the pages."""
    connection = sqlite3.connect(address, uri=True, check_same_thread=False)
    if path is not None:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
    return connection


def address_of(path: Path) -> str:
    """A file's SQLite address, for reading only."""
    return f"{path.absolute().as_uri()}?mode=ro"


class StepBudget:
    """How many instructions SQLite may execute for a query, in proportion to the size of the file.

    The connection refers to it, so it must not refer back to the connection or its owner.
    """

    def __init__(self, path: Path) -> None:
        self._total = FEWEST_STEPS + STEPS_PER_BYTE * path.stat().st_size
        self._left = self._total

    def limit(self, connection: sqlite3.Connection) -> None:
        connection.set_progress_handler(self._spend, STEP)

    def renew(self) -> None:
        self._left = self._total

    def _spend(self) -> bool:
        """Called by SQLite every `STEP` instructions; True aborts the query."""
        self._left -= STEP
        return self._left < 0


# Where lines stand in the text they were read from, and how surely their speakers are known.
#
# A novel's lines are cut out of running text, so that a line number says little: a span is a pair of character offsets
# into the source's text (line ends are one character, a byte order mark is none). A quotation that narration interrupts
# has several. Who says it was worked out, with a confidence between 0 and 1; lines whose source names the speaker have
# none.


SPANS_VERSION = 4
"""The migration that has the tables."""

DOUBTFUL = 0.6
"""A speaker who is known less surely should be looked at by the story's author."""

Spans: TypeAlias = tuple[tuple[int, int], ...]
"""Character offsets (start, end), in order."""


@dataclass(frozen=True, slots=True)
class LineSpans:
    """A line with its spans; `confidence` is that of its speaker, None where the source says who it is."""

    line: Line
    spans: Spans
    confidence: float | None


class AttributedLines(NamedTuple):
    """How many lines have speakers that were worked out, how surely on average, and how many are doubtful."""

    lines: int
    confidence: float | None
    doubtful: int


def write_spans(connection: sqlite3.Connection, rows: Iterable[tuple[int, Spans, float | None]]) -> None:
    """`rows` are line numbers with what is known of the lines."""
    for line, spans, confidence in rows:
        connection.executemany("INSERT INTO spans VALUES (?, ?, ?)", ((line, start, stop) for start, stop in spans))
        if confidence is not None:
            connection.execute("INSERT INTO attributions VALUES (?, ?)", (line, confidence))


def span_problems(connection: sqlite3.Connection) -> Iterator[str]:
    if connection.execute("SELECT 1 FROM spans WHERE start < 0 OR stop < start LIMIT 1").fetchone():
        yield "a line stands nowhere in its source"
    if connection.execute("SELECT 1 FROM attributions WHERE confidence NOT BETWEEN 0 AND 1 LIMIT 1").fetchone():
        yield "a speaker's confidence is none"
