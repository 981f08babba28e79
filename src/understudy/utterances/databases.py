"""Two databases with one manner: questions with `?` in, rows out, changes in transactions, vectors searched inside.

What a database cannot do now (its disk is full, its server gone) is said as `Unreachable`, whichever it is. What is
only read has a connection of its own, so that a change that waits for somebody else's holds up no reader.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock, get_ident
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, Unreachable

__all__ = ["APPLICATION", "Database", "Row", "Sqlite", "Vector", "checked", "is_text"]

APPLICATION = 0x55445554  # 'UDUT': tells an utterance database from other SQLite files

NOT_TEXT = re.compile("[\x00\ud800-\udfff]")

Row = tuple[Any, ...]
Vector = NDArray[np.float32]


def is_text(text: str) -> bool:
    """Can any database hold it? PostgreSQL takes no NUL, and half of a surrogate pair is no letter."""
    return NOT_TEXT.search(text) is None


def checked(told: Sequence[Any]) -> None:
    for value in told:
        if isinstance(value, str) and not is_text(value):
            raise InputError(
                "a text with a NUL character, or with half of a surrogate pair, can be neither kept nor looked for: "
                "clean it first"
            )


class Database(Protocol):
    number: str
    """How a column is declared that numbers the rows itself."""
    vector: str
    """How a column of vectors is declared."""
    given_vector: str
    """How a vector stands in a statement."""

    def prepare(self, tables: Callable[[], None]) -> None:
        """Has tables made, all or none."""

    def has_table(self, name: str) -> bool: ...
    def rows(self, question: str, told: Sequence[Any] = ()) -> list[Row]: ...
    def transaction(self) -> Any: ...
    def as_vector(self, vector: Vector) -> Any: ...
    def nearest(self, vector: Vector, where: str, told: Sequence[Any], count: int) -> list[tuple[int, float]]: ...
    def close(self) -> None: ...


class Sqlite:
    number = "INTEGER PRIMARY KEY AUTOINCREMENT"
    vector = "BLOB"
    given_vector = "?"

    def __init__(self, path: Path) -> None:
        self._turn, self._reading, self._path = RLock(), RLock(), path
        self._changed_by: int | None = None  # the thread whose change is under way
        try:
            self._connection = _connected(path)
            # In this order: another program that makes the same database at the same time signs it before its tables.
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            if tables and application != APPLICATION:
                raise InputError("is a database of something else: choose another --store", path)
            if application != APPLICATION:
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._reader = _connected(path)
        except sqlite3.Error as error:
            why = f"cannot be opened as an utterance database ({error}): choose another --store"
            raise InputError(why, path) from error

    def prepare(self, tables: Callable[[], None]) -> None:
        with self.transaction():
            tables()

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    def rows(self, question: str, told: Sequence[Any] = ()) -> list[Row]:
        checked(told)
        if self._changed_by == get_ident():
            with self._answering():
                return self._connection.execute(question, told).fetchall()
        with self._reading, self._answering():
            return self._reader.execute(question, told).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._turn, self._answering(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._changed_by = get_ident()
            try:
                yield
            finally:
                self._changed_by = None

    def as_vector(self, vector: Vector) -> bytes:
        return vector.astype("<f4").tobytes()

    def nearest(self, vector: Vector, where: str, told: Sequence[Any], count: int) -> list[tuple[int, float]]:
        rows = self.rows(f"SELECT id, vector FROM utterances WHERE vector IS NOT NULL AND {where}", told)
        if not rows:
            return []
        likeness = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(len(rows), -1) @ vector
        best = np.argsort(-likeness, kind="stable")[:count]
        return [(rows[place][0], float(likeness[place])) for place in best]

    def close(self) -> None:
        self._connection.close()
        self._reader.close()

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:  # of the disk, or of somebody else at the file
            if "decode to UTF-8" in str(error):
                raise InputError(f"is damaged ({error}): take a copy that is whole", self._path) from error
            raise Unreachable(
                f"the utterance database cannot take this now ({error}): nothing was lost; see to its file, then try "
                "again"
            ) from error
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                raise
            raise InputError(f"is damaged ({error}): take a copy that is whole", self._path) from error


def _connected(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
