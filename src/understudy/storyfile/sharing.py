"""A connection that any number of threads may put questions to, one at a time.

SQLite would make them wait itself, but while it does, Python may hold its own lock; and a persona's connection needs
that lock for the authorizer (see `past`) before it lets go of what all connections to a story share. So everybody
waits here, where waiting keeps nothing from anybody.

A story file may be anybody's. Its connections trust nothing of its schema, no query on it takes more steps than its
size can account for, and what SQLite finds wrong with it is an `InputError`. A story in memory was made by this very
process; its connections share a cache, in which a progress handler could wait for Python's lock for ever.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from understudy.errors import InputError

__all__ = ["SharedConnection", "StepBudget", "address_of", "connect", "translated_errors"]

Row = tuple[Any, ...]
AT_ONCE = 500  # rows of a stream that are fetched in one turn
OURS = (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY)  # a query that should not have been put: no fault of the file

STEP = 100_000  # instructions of SQLite's machine between two looks at the budget
FEWEST_STEPS = 20_000_000
STEPS_PER_BYTE = 20  # a look at every row takes one or two


class SharedConnection:
    """Questions in, rows out; no cursor leaves it."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        """`path` is the file behind the connection, None for a story in memory."""
        self._connection = connection
        self._path = path
        self._turn = Lock()
        self._budget = None if path is None else StepBudget(path)
        if self._budget is not None:
            self._budget.limit(connection)

    def __del__(self) -> None:
        self._connection.close()  # which refers to itself: left alone it would keep its file open for a good while

    def rows(self, question: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with self._asking():
            return self._connection.execute(question, parameters).fetchall()

    def row(self, question: str, parameters: Sequence[Any] = ()) -> Row | None:
        return next(iter(self.rows(question, parameters)), None)

    def stream(self, question: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """For answers that may be too long to be held: a few rows a turn."""
        with self._asking():
            cursor = self._connection.execute(question, parameters)
            rows = cursor.fetchmany(AT_ONCE)
        while rows:
            yield from rows
            with self._asking():
                rows = cursor.fetchmany(AT_ONCE)

    @contextmanager
    def _asking(self) -> Iterator[None]:
        with self._turn:
            if self._budget is not None:
                self._budget.renew()
            with translated_errors(self._path):
                yield


@contextmanager
def translated_errors(path: Path | None) -> Iterator[None]:
    """What SQLite finds wrong with a file as an error of ours."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.DatabaseError as error:
        if path is None or getattr(error, "sqlite_errorcode", None) in OURS:
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
    """How many instructions SQLite may take for what is asked of a file: told by the file's size.

    Held by the connection, so it must not refer to whoever holds that.
    """

    def __init__(self, path: Path) -> None:
        self._most = FEWEST_STEPS + STEPS_PER_BYTE * path.stat().st_size
        self._left = self._most

    def limit(self, connection: sqlite3.Connection) -> None:
        connection.set_progress_handler(self._spend, STEP)

    def renew(self) -> None:
        self._left = self._most

    def _spend(self) -> bool:
        """Called by SQLite every so many instructions; whether it should break off."""
        self._left -= STEP
        return self._left < 0
