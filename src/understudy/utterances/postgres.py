"""PostgreSQL with pgvector, for teams.

A connection that was lost, because the server was restarted or a line was down, is made again once. What was only asked
is asked again; a change that was under way is gone as a whole, and says so. Where the server does not come back, that
is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from understudy.errors import InputError, MissingExtra, Unreachable
from understudy.utterances.databases import APPLICATION, Row, Vector

__all__ = ["Postgres"]

GOING = frozenset({"57P01", "57P02", "57P03"})  # the server is being stopped, has crashed, is not up yet


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
        self._driver, self._address = driver, address
        self._changing = False
        try:
            self._connection = self._connected()
        except (driver.Error, OSError) as error:
            raise InputError(
                f"cannot be opened as an utterance database ({_said(error)}): check --store", self._place
            ) from error

    def prepare(self, tables: Callable[[], None]) -> None:
        try:
            with self.transaction():
                self.rows("CREATE EXTENSION IF NOT EXISTS vector")
                tables()
        except self._driver.Error as error:
            raise InputError(
                f"the database lacks pgvector, or the right to make tables ({_said(error)})", self._place
            ) from error

    def rows(self, question: str, told: Sequence[Any] = ()) -> list[Row]:
        with self._turn:
            try:
                return self._asked(question, told)
            except self._driver.Error as error:
                if not self._is_lost(error):
                    raise
                if self._changing:
                    raise Unreachable(
                        "the connection to the utterance database was lost in the middle of a change, which was not "
                        "kept: do it again"
                    ) from error
            try:
                self._connection = self._connected()
                return self._asked(question, told)
            except (self._driver.Error, OSError) as error:
                raise Unreachable(
                    f"the connection to the utterance database was lost and cannot be made again ({_said(error)}): "
                    "see to its server, then try again"
                ) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._turn:
            self.rows("BEGIN")
            self._changing = True
            try:
                # One writer at a time, as with SQLite: entries are then numbered in the order they become visible.
                self.rows("SELECT pg_advisory_xact_lock(?)", (APPLICATION,))
                yield
                self.rows("COMMIT")
            except BaseException:
                with suppress(self._driver.Error):  # nothing is to be taken back where the connection is gone
                    self._asked("ROLLBACK", ())
                raise
            finally:
                self._changing = False

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
        with suppress(self._driver.Error):  # it may be gone already
            self._connection.close()

    def _connected(self) -> Any:
        connection = self._driver.connect(**_parts(self._address))
        connection.autocommit = True
        return connection

    def _asked(self, question: str, told: Sequence[Any]) -> list[Row]:
        cursor = self._connection.cursor()
        cursor.execute(question.replace("?", "%s"), tuple(told))  # our statements have neither as text
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    def _is_lost(self, error: Exception) -> bool:
        """Is it the connection that failed, and not what was asked?"""
        return isinstance(error, self._driver.InterfaceError) or _told(error).get("C") in GOING

    @property
    def _place(self) -> str:
        told = urlsplit(self._address)
        return f"{told.hostname or 'localhost'}{told.path}"  # never the password


def _told(error: BaseException) -> dict[str, Any]:
    """What the server said, by the letters its messages are made of."""
    return error.args[0] if error.args and isinstance(error.args[0], dict) else {}


def _said(error: BaseException) -> str:
    return str(_told(error).get("M", error))


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
