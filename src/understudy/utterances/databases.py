"""Two databases with one manner: questions with `?` in, rows out, changes in transactions, vectors searched inside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Protocol
from urllib.parse import parse_qs, unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra

__all__ = ["Database", "database_at"]

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

    def prepare(self, tables: Sequence[str]) -> None: ...
    def rows(self, question: str, told: Sequence[Any] = ()) -> list[Row]: ...
    def transaction(self) -> Any: ...
    def as_vector(self, vector: Vector) -> Any: ...
    def nearest(self, vector: Vector, where: str, told: Sequence[Any], count: int) -> list[tuple[int, float]]: ...
    def close(self) -> None: ...


def database_at(place: str | Path) -> Database:
    if str(place).startswith(("postgresql://", "postgres://")):
        return Postgres(str(place))
    return Sqlite(Path(place))


class Sqlite:
    number = "INTEGER PRIMARY KEY AUTOINCREMENT"
    vector = "BLOB"
    given_vector = "?"

    def __init__(self, path: Path) -> None:
        self._turn = RLock()
        try:
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
            # In this order: another program that makes the same database at the same time signs it before its tables.
            (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            if tables and application != APPLICATION:
                raise InputError("is a database of something else: choose another --store", path)
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error as error:
            why = f"cannot be opened as an utterance database ({error}): choose another --store"
            raise InputError(why, path) from error

    def prepare(self, tables: Sequence[str]) -> None:
        with self.transaction():
            for statement in tables:
                self.rows(statement)

    def rows(self, question: str, told: Sequence[Any] = ()) -> list[Row]:
        with self._turn:
            return self._connection.execute(question, told).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._turn, self._connection:
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


class Postgres:
    number = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    vector = "vector"
    given_vector = "CAST(? AS vector)"

    def __init__(self, address: str) -> None:
        try:
            import pg8000.dbapi as driver
        except ImportError as error:
            raise MissingExtra("an utterance database on PostgreSQL", "postgres") from error
        self._turn = RLock()
        self._driver = driver
        try:
            self._connection = driver.connect(**_parts(address))
            self._connection.autocommit = True
        except (driver.Error, OSError) as error:
            told = urlsplit(address)
            place = f"{told.hostname or 'localhost'}{told.path}"  # never the password
            raise InputError(f"cannot be opened as an utterance database ({error}): check --store", place) from error

    def prepare(self, tables: Sequence[str]) -> None:
        try:
            with self.transaction():
                for statement in ("CREATE EXTENSION IF NOT EXISTS vector", *tables):
                    self.rows(statement)
        except self._driver.Error as error:
            raise InputError(f"the database lacks pgvector, or the right to make tables ({error})") from error

    def rows(self, question: str, told: Sequence[Any] = ()) -> list[Row]:
        with self._turn:
            cursor = self._connection.cursor()
            cursor.execute(question.replace("?", "%s"), tuple(told))  # our statements have neither as text
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._turn:
            self.rows("BEGIN")
            try:
                # One writer at a time, as with SQLite: entries are then numbered in the order they become visible.
                self.rows("SELECT pg_advisory_xact_lock(?)", (APPLICATION,))
                yield
            except BaseException:
                self.rows("ROLLBACK")
                raise
            self.rows("COMMIT")

    def as_vector(self, vector: Vector) -> str:
        return "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"

    def nearest(self, vector: Vector, where: str, told: Sequence[Any], count: int) -> list[tuple[int, float]]:
        told = (self.as_vector(vector), *told, count)
        found = self.rows(
            f"""SELECT id, distance FROM (SELECT id, vector <=> CAST(? AS vector) AS distance FROM utterances
                WHERE vector IS NOT NULL AND {where}) AS measured ORDER BY distance, id LIMIT ?""",
            told,
        )
        return [(number, 1 - float(distance)) for number, distance in found]

    def close(self) -> None:
        self._connection.close()


def _parts(address: str) -> dict[str, Any]:
    """postgresql://user:password@host:port/database, or ?host=/folder/of/socket, as the driver takes it."""
    told = urlsplit(address)
    asked = {key: values[-1] for key, values in parse_qs(told.query).items()}
    parts: dict[str, Any] = {
        "user": unquote(told.username or asked.get("user", "postgres")),
        "database": unquote(told.path.lstrip("/")) or "postgres",
        "port": told.port or 5432,
    }
    if told.password:
        parts["password"] = unquote(told.password)
    host = told.hostname or asked.get("host", "localhost")
    if host.startswith("/"):
        parts["unix_sock"] = f"{host}/.s.PGSQL.{parts['port']}"
    else:
        parts["host"] = host
    return parts
