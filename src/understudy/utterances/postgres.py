"""PostgreSQL with pgvector, for teams.

What is only read has a connection of its own: a change that waits for somebody else's holds up no reader. Nothing is
waited for without an end, on our side or the server's. A connection that was lost, because the server was restarted or
a line was down, is made again once. What was only asked is asked again. A change that was under way is gone as a whole,
and says so; one whose last word was lost is looked up by its number, and where that cannot be, is said to be in doubt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock, RLock, get_ident
from typing import Any

from understudy.errors import InputError, MissingExtra, UnderstudyError, Unreachable
from understudy.utterances.address import connection_parts, masked
from understudy.utterances.databases import APPLICATION, Row, Vector, checked

__all__ = ["Limits", "Postgres"]

LOST = frozenset({"57P01", "57P02", "57P03", "57P04", "57P05", "25P03"})  # stopped, crashed, not up, idle for too long
NOT_NOW = frozenset({"08", "25", "40", "53", "54", "55", "57", "58"})  # classes of what may go well another time
NO_TEXT = frozenset({"22021", "22P05"})  # a letter that the database's encoding does not have
LOOKS = 5  # at what became of a change


@dataclass(frozen=True, slots=True)
class Limits:
    """How long anything is waited for, in seconds; `query_s` of 0 is for ever."""

    connect_s: float = 10
    lock_s: float = 30
    query_s: float = 60


READING = Limits(lock_s=5, query_s=30)
CHANGING = Limits()
PREPARING = Limits(query_s=0)  # an index of a large table takes its time


class Postgres:
    number = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    vector = "vector"
    given_vector = "CAST(? AS vector)"

    def __init__(self, address: str, reading: Limits = READING, changing: Limits = CHANGING) -> None:
        try:
            import pg8000.dbapi as driver
        except ImportError as error:
            raise MissingExtra("an utterance database on PostgreSQL", "postgres") from error
        self._driver, self._parts, self._place = driver, connection_parts(address), masked(address)
        self._reading, self._changing = reading, changing
        self._reader_turn, self._writer_turn = Lock(), RLock()
        self._writer: Any = None  # made when something is changed
        self._changed_by: int | None = None  # the thread whose change is under way
        try:
            self._reader = self._connected(reading)
        except (driver.Error, OSError, UnicodeError) as error:
            raise InputError(
                f"cannot be opened as an utterance database ({_said(error)}): check --store", self._place
            ) from error

    def prepare(self, tables: Callable[[], None]) -> None:
        ordinary, self._changing = self._changing, PREPARING
        try:
            with self.transaction():
                self.rows("CREATE EXTENSION IF NOT EXISTS vector")
                tables()
        except self._driver.Error as error:
            raise InputError(
                f"the database lacks pgvector, or the right to make tables ({_said(error)})", self._place
            ) from error
        finally:
            self._changing = ordinary
            self._drop_writer()

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT to_regclass(?) IS NOT NULL", (name,))[0][0])

    def rows(self, question: str, told: Sequence[Any] = ()) -> list[Row]:
        checked(told)
        if self._changed_by == get_ident():
            return self._asked_within(question, told)
        with self._waited_for(self._reader_turn, self._reading):
            try:
                return self._asked(self._reader, question, told)
            except (self._driver.Error, OSError) as error:
                self._passed_on(error)
            with suppress(Exception):  # it is gone already
                self._reader.close()
            with self._made_again():
                self._reader = self._connected(self._reading)
                return self._asked(self._reader, question, told)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._waited_for(self._writer_turn, self._changing):
            self._begin()
            self._changed_by = get_ident()
            try:
                # One writer at a time, as with SQLite: entries are then numbered in the order they become visible.
                question = "SELECT CAST(txid_current() AS text), pg_advisory_xact_lock(?)"
                number = str(self._asked_within(question, (APPLICATION,))[0][0])
                yield
                self._commit(number)
            except BaseException:
                with suppress(Exception):  # nothing is to be taken back where the connection is gone
                    self._asked(self._writer, "ROLLBACK")
                raise
            finally:
                self._changed_by = None

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
        self._drop_writer()
        with suppress(Exception):  # it may be gone already
            self._reader.close()

    def _begin(self) -> None:
        if self._writer is not None:
            try:
                self._asked(self._writer, "BEGIN")
            except (self._driver.Error, OSError) as error:
                self._passed_on(error)
                self._drop_writer()
            else:
                return
        with self._made_again():
            self._writer = self._connected(self._changing)
            self._asked(self._writer, "BEGIN")

    def _commit(self, number: str) -> None:
        """Keep the change. Where the answer was lost, what became of the change is asked for by its number."""
        try:
            self._asked(self._writer, "COMMIT")
            return
        except (self._driver.Error, OSError) as error:
            self._passed_on(error)
            became, cause = self._outcome(number), error
        if became == "aborted":
            raise _not_kept() from cause
        if became != "committed":
            raise Unreachable(
                "the connection to the utterance database was lost while a change was being kept: it may have been "
                "kept; look before you do it again"
            ) from cause

    def _outcome(self, number: str) -> str | None:
        for look in range(LOOKS):
            self._drop_writer()
            try:
                self._writer = self._connected(self._changing)
                ((became,),) = self._asked(self._writer, "SELECT txid_status(CAST(? AS bigint))", (number,))
            except (self._driver.Error, OSError):
                became = None
            if became in ("committed", "aborted"):
                return str(became)
            time.sleep(0.1 * 2**look)
        return None

    def _asked_within(self, question: str, told: Sequence[Any]) -> list[Row]:
        """Ask as a part of the change that is under way."""
        try:
            return self._asked(self._writer, question, told)
        except (self._driver.Error, OSError) as error:
            self._passed_on(error)
            self._drop_writer()
            raise _not_kept() from error

    def _connected(self, limits: Limits) -> Any:
        connection = self._driver.connect(**self._parts, timeout=limits.connect_s, application_name="understudy")
        connection.autocommit = True
        # The driver has one limit for connecting and for answers. The server's own on answers is to come first.
        connection._usock.settimeout(limits.query_s + limits.connect_s if limits.query_s else None)
        query = f"{int(limits.query_s * 1000)}ms"
        settings = {
            "client_encoding": "UTF8",
            "lock_timeout": f"{int(limits.lock_s * 1000)}ms",
            "statement_timeout": query,
            "idle_in_transaction_session_timeout": query,  # a program that hangs lets the others write
        }
        for setting in settings.items():
            self._asked(connection, "SELECT set_config(?, ?, false)", setting)
        return connection

    def _asked(self, connection: Any, question: str, told: Sequence[Any] = ()) -> list[Row]:
        cursor = connection.cursor()
        try:
            cursor.execute(question.replace("?", "%s"), tuple(told))  # our statements have neither as text
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []
        except UnicodeError as error:
            with suppress(Exception):  # the rest of the answer is still in the line: nobody may ask on it any more
                connection.close()
            raise InputError("has text that is no UTF-8: make the database anew in UTF-8", self._place) from error

    def _drop_writer(self) -> None:
        with suppress(Exception):  # it may be gone already
            self._writer.close()
        self._writer = None

    @contextmanager
    def _waited_for(self, turn: Any, limits: Limits) -> Iterator[None]:
        """A turn at a connection; whoever has it is done within the limits, or others before us wait as well."""
        if not turn.acquire(timeout=limits.lock_s + limits.query_s if limits.query_s else -1):
            raise Unreachable("the utterance database is busy, and too many wait for it: try again in a moment")
        try:
            yield
        finally:
            turn.release()

    @contextmanager
    def _made_again(self) -> Iterator[None]:
        try:
            yield
        except (self._driver.Error, OSError) as error:
            if (ours := self._ours(error)) is not None and not self._is_lost(error):
                raise ours from error
            raise Unreachable(
                f"the connection to the utterance database was lost and cannot be made again ({_said(error)}): "
                "see to its server, then try again"
            ) from error

    def _passed_on(self, error: Exception) -> None:
        """Raise what is no lost connection: as an error of ours where it is one of the database's state."""
        if not self._is_lost(error):
            raise self._ours(error) or error

    def _is_lost(self, error: Exception) -> bool:
        """Is it the connection that failed, and not what was asked?"""
        return isinstance(error, self._driver.InterfaceError | OSError) or _told(error).get("C") in LOST

    def _ours(self, error: Exception) -> UnderstudyError | None:
        code = str(_told(error).get("C", ""))
        if code == "55P03":
            return Unreachable(
                "somebody else is changing the utterance database and does not finish: nothing was changed; try again "
                "in a moment, or end the program that hangs"
            )
        if code == "57014":
            return Unreachable("the utterance database took too long to answer: nothing was changed; try again")
        if code in NO_TEXT:
            return InputError(
                f"cannot take or give this text ({_said(error)}): make the database anew in UTF-8", self._place
            )
        if code == "42501":
            return InputError(f"does not allow this to you ({_said(error)}): ask who looks after it", self._place)
        if code[:2] in NOT_NOW:
            return Unreachable(
                f"the utterance database cannot take this now ({_said(error)}): nothing was changed; see to its "
                "server, then try again"
            )
        return None


def _not_kept() -> Unreachable:
    return Unreachable(
        "the connection to the utterance database was lost in the middle of a change, which was not kept: do it again"
    )


def _told(error: BaseException) -> dict[str, Any]:
    """What the server said, by the letters its messages are made of."""
    return error.args[0] if error.args and isinstance(error.args[0], dict) else {}


def _said(error: BaseException) -> str:
    why = f"{error}: {error.__cause__}" if error.__cause__ else str(error)  # the driver says only 'communication error'
    return str(_told(error).get("M", why))
