"""Two databases with one manner: questions with `?` in, rows out, changes in transactions, vectors searched inside.

What a database cannot do now (its disk is full, its server gone) is said as `Unreachable`, whichever it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, Unreachable

__all__ = ["APPLICATION", "Database", "Row", "Sqlite", "Vector"]

APPLICATION = 0x55445554  # 'UDUT': tells an utterance database from other SQLite files

Row = tuple[Any, ...]
Vector = NDArray[np.float32]


class Database(Protocol):
    number: str
    """How a column is declared that numbers the rows itself."""
    vector: str
    """How a column of vectors is declared."""
    given_vector: str
    """How a vector stands in a statement."""

    def prepare(self, tables: Callable[[], None]) -> None:
        """Has tables made, all or none."""

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
        self._turn, self._path = RLock(), path
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
            # In this order: another program that makes the same database at the same time signs it before its tables.
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            if tables and application != APPLICATION:
                raise InputError("is a database of something else: choose another --store", path)
            if application != APPLICATION:
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error as error:
            why = f"cannot be opened as an utterance database ({error}): choose another --store"
            raise InputError(why, path) from error

    def prepare(self, tables: Callable[[], None]) -> None:
        with self.transaction():
            tables()

    def rows(self, question: str, told: Sequence[Any] = ()) -> list[Row]:
        with self._turn, self._answering():
            return self._connection.execute(question, told).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._turn, self._answering(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

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

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:  # of the disk, or of somebody else at the file
            raise Unreachable(
                f"the utterance database cannot take this now ({error}): nothing was lost; see to its file, then try "
                "again"
            ) from error
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
                raise
            raise InputError(f"is damaged ({error}): take a copy that is whole", self._path) from error
