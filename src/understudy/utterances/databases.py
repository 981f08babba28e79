"""What both databases can do (statements with `?` for parameters, transactions, vector search), and SQLite.

What a database cannot do at present (disk full, server gone) is raised as `Unreachable`, whichever database it is.
Reads have a connection of their own, so that a transaction that waits for another program's does not block readers.

The tables are made by numbered migrations that are recorded in the database itself. An older database is migrated when
it is opened, in one transaction. The first migration skips tables that exist: databases from before migrations were
recorded have them.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock, get_ident
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra, Unreachable
from understudy.utterances.record import FILTER
from understudy.utterances.vector_index import Progress, VectorGraph

__all__ = [
    "APPLICATION_ID",
    "EXACT_UP_TO",
    "Database",
    "Row",
    "Sqlite",
    "Vector",
    "check_parameters",
    "exceeds_exact_search",
    "is_text",
    "migrate",
    "search_index",
]

APPLICATION_ID = 0x55445554  # 'UDUT': tells an utterance database from other SQLite files
EXACT_UP_TO = 50_000
"""Vectors that are all compared with the query; where more match, an index finds nearly all of the nearest."""
FIRST_K = 4  # neighbours asked of an index for each result wanted, before the condition is checked
LARGEST_K = 16_384  # neighbours after which the exact search is the better choice

NOT_TEXT = re.compile("[\x00\ud800-\udfff]")

Row = tuple[Any, ...]
Vector = NDArray[np.float32]


def is_text(text: str) -> bool:
    """Can both databases store it? PostgreSQL takes no NUL character, and a lone surrogate has no UTF-8."""
    return NOT_TEXT.search(text) is None


def check_parameters(parameters: Sequence[Any]) -> None:
    for value in parameters:
        if isinstance(value, str) and not is_text(value):
            raise InputError(
                "a text with a NUL character, or with half of a surrogate pair, can be neither kept nor looked for: "
                "clean it first"
            )


class Database(Protocol):
    id_type: str
    """The column type of an id that the database assigns."""
    vector_type: str
    """The column type of a vector."""
    vector_parameter: str
    """The placeholder of a vector in a statement."""

    def prepare(self, create_tables: Callable[[], None]) -> None:
        """Call `create_tables` in a transaction."""

    def has_table(self, name: str) -> bool: ...
    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]: ...
    def transaction(self) -> Any: ...
    def vector_value(self, vector: Vector) -> Any:
        """A vector as the value of a `vector_parameter`."""

    def nearest(
        self, vector: Vector, where: str, parameters: Sequence[Any], count: int, progress: Progress | None = None
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the utterances most like a vector that fulfil a condition, best first."""

    def close(self) -> None: ...


class Sqlite:
    id_type = "INTEGER PRIMARY KEY AUTOINCREMENT"
    vector_type = "BLOB"
    vector_parameter = "?"

    def __init__(self, path: Path) -> None:
        self._write_lock, self._read_lock, self._path = RLock(), RLock(), path
        self._writing_thread: int | None = None  # the thread whose transaction is open
        self._graph = VectorGraph(path.with_name(f"{path.name}.vectors"), self.rows)
        try:
            self._connection = _connect(path)
            # In this order: another program that creates the same database now sets the id before it creates tables.
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            if tables and application != APPLICATION_ID:
                raise InputError("is a database of something else: choose another --store", path)
            if application != APPLICATION_ID:
                self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._reader = _connect(path)
        except sqlite3.Error as error:
            why = f"cannot be opened as an utterance database ({error}): choose another --store"
            raise InputError(why, path) from error

    def prepare(self, create_tables: Callable[[], None]) -> None:
        with self.transaction():
            create_tables()

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        check_parameters(parameters)
        if self._writing_thread == get_ident():
            with self._translated_errors():
                return self._connection.execute(statement, parameters).fetchall()
        with self._read_lock, self._translated_errors():
            return self._reader.execute(statement, parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._write_lock, self._translated_errors(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._writing_thread = get_ident()
            try:
                yield
            finally:
                self._writing_thread = None

    def vector_value(self, vector: Vector) -> bytes:
        return vector.astype("<f4").tobytes()

    def nearest(
        self, vector: Vector, where: str, parameters: Sequence[Any], count: int, progress: Progress | None = None
    ) -> list[tuple[int, float]]:
        where = f"vector IS NOT NULL AND {where}"
        if exceeds_exact_search(self, where, parameters):
            with suppress(MissingExtra, OSError, RuntimeError):  # no usearch, or its file cannot be written
                results = search_index(
                    lambda k: self._graph.search(vector, k, progress),
                    lambda ids: self._rank(f"id IN ({ids}) AND {where}", parameters, vector, count),
                    count,
                    LARGEST_K,
                )
                if len(results) == count:
                    return results
        return self._rank(where, parameters, vector, count)

    def _rank(self, where: str, parameters: Sequence[Any], vector: Vector, count: int) -> list[tuple[int, float]]:
        """(id, cosine) of all utterances that fulfil a condition, best first, equals by id."""
        rows = self.rows(f"SELECT id, vector FROM utterances WHERE {where} ORDER BY id", parameters)
        if not rows:
            return []
        cosine = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(len(rows), -1) @ vector
        best = np.argsort(-cosine, kind="stable")[:count]
        return [(rows[index][0], float(cosine[index])) for index in best]

    def close(self) -> None:
        self._connection.close()
        self._reader.close()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:  # of the disk, or because another program uses the file
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


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)


def exceeds_exact_search(database: Database, where: str, parameters: Sequence[Any]) -> bool:
    """Do more than EXACT_UP_TO utterances fulfil a condition?"""
    ((newest,),) = database.rows("SELECT coalesce(max(id), 0) FROM utterances")
    if newest <= EXACT_UP_TO:
        return False
    matching = f"SELECT 1 FROM utterances WHERE {where} LIMIT ?"  # counts no further than need be
    ((count,),) = database.rows(f"SELECT count(*) FROM ({matching}) AS matching", (*parameters, EXACT_UP_TO + 1))
    return int(count) > EXACT_UP_TO


def search_index(
    neighbours: Callable[[int], list[int]], rank: Callable[[str], list[tuple[int, float]]], count: int, largest_k: int
) -> list[tuple[int, float]]:
    """Ask an index for ever more neighbours, until `count` of them fulfil the condition that `rank` checks; fewer than
    `count` where not enough of `largest_k` do. `rank` is given the ids as a list for IN (...)."""
    k, results = FIRST_K * count, list[tuple[int, float]]()
    while k <= largest_k:
        ids = neighbours(k)
        results = rank(", ".join(map(str, ids)))
        if len(results) == count or len(ids) < k:
            break
        k *= FIRST_K
    return results


def migrate(database: Database) -> None:
    """Create the tables, or bring older ones up to date; a database that is up to date is only read."""
    if not database.has_table("migrations") or _done(database) != len(_steps(database)):
        database.prepare(lambda: _migrate(database))


def _migrate(database: Database) -> None:
    database.rows(
        "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)"
    )
    done, steps = _done(database), _steps(database)
    if done > len(steps):
        raise InputError(
            "the utterance database was made by a newer Understudy: upgrade with `pip install -U understudy`"
        )
    for number, (name, statements) in enumerate(steps, 1):
        if number > done:
            for statement in statements:
                database.rows(statement)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            database.rows("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))


def _done(database: Database) -> int:
    ((done,),) = database.rows("SELECT coalesce(max(number), 0) FROM migrations")
    return int(done)


def _steps(database: Database) -> Sequence[tuple[str, Sequence[str]]]:
    """The name and statements of each migration."""
    return (
        ("tables", _tables(database)),
        # Older lines are not bound to a story.
        ("stories", ("ALTER TABLE utterances ADD COLUMN story TEXT NOT NULL DEFAULT ''",)),
    )


def _tables(database: Database) -> Sequence[str]:
    return (
        f"""CREATE TABLE IF NOT EXISTS utterances (
            id {database.id_type}, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL, character TEXT NOT NULL,
            since TEXT NOT NULL, until TEXT NOT NULL, file TEXT NOT NULL, line BIGINT NOT NULL,
            vector {database.vector_type}, decision TEXT NOT NULL, decided_by TEXT NOT NULL,
            decided_at TEXT NOT NULL)""",
        """CREATE TABLE IF NOT EXISTS scores (
            utterance BIGINT NOT NULL REFERENCES utterances, metric TEXT NOT NULL, value DOUBLE PRECISION,
            reason TEXT NOT NULL, PRIMARY KEY (utterance, metric))""",
        f"""CREATE TABLE IF NOT EXISTS decisions (
            id {database.id_type}, utterance BIGINT NOT NULL REFERENCES utterances, decision TEXT NOT NULL,
            decided_by TEXT NOT NULL, decided_at TEXT NOT NULL, why TEXT NOT NULL)""",
        "CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, line BIGINT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS utterances_by_character ON utterances (character, decision, id)",
        "CREATE INDEX IF NOT EXISTS decisions_of_utterance ON decisions (utterance, id)",
        "DROP INDEX IF EXISTS scores_by_metric",
        "CREATE INDEX IF NOT EXISTS scores_by_value ON scores (metric, value, utterance)",
        f"CREATE INDEX IF NOT EXISTS decisions_of_people ON decisions (utterance) WHERE decided_by <> '{FILTER}'",
    )
