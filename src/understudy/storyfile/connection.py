"""SQLite connections to story files: shared by threads, and safe with files from anybody.

A `SharedConnection` runs one query at a time behind a lock of its own. SQLite could serialise threads itself, but then
a thread may wait inside SQLite with Python's interpreter lock held, while the thread it waits for needs that lock for
the authorizer of a persona's connection (see `past`): a deadlock.

A story file may come from anybody. Its connections do not trust its schema, a query on it has a budget of steps in
proportion to its size, and what SQLite finds wrong with it is an `InputError`. A story in memory was made by this
process and has no budget; its connections share a cache, in which a progress handler could deadlock as well.
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
BATCH_ROWS = 500  # rows of a stream that are fetched while the lock is held
PROGRAM_ERRORS = (sqlite3.SQLITE_AUTH, sqlite3.SQLITE_READONLY)  # a forbidden query: no fault of the file

STEP = 100_000  # instructions of SQLite's virtual machine between two checks of the budget
FEWEST_STEPS = 20_000_000
STEPS_PER_BYTE = 20  # a full table scan takes one or two


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
        self._connection.close()  # part of a reference cycle, it would keep its file open until it is collected

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with self._locked():
            return self._connection.execute(query, parameters).fetchall()

    def row(self, query: str, parameters: Sequence[Any] = ()) -> Row | None:
        return next(iter(self.rows(query, parameters)), None)

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
            with translated_errors(self._path):
                yield


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
