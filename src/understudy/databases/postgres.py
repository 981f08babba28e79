"""PostgreSQL, for teams and for several processes.

Reads have a connection of their own, so that a transaction that waits for another program's does not block readers.
Every wait has a timeout, on the client and on the server. A connection that is lost, because the server was restarted
or the network was down, is made again once. A read is then repeated; a transaction is rolled back as a whole, and the
error says so. Where the answer to COMMIT was lost, the transaction's outcome is looked up by its id; where that cannot
be done, the error says that it is in doubt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Lock, RLock, get_ident
from typing import Any

from understudy.databases.address import connection_arguments, masked
from understudy.databases.database import Row, check_parameters
from understudy.errors import InputError, MissingExtra, UnderstudyError, Unreachable

__all__ = ["Postgres", "Timeouts"]

# SQLSTATE codes: the connection is lost; classes of errors that may not happen again; no such letter in the encoding
LOST_CODES = frozenset({"57P01", "57P02", "57P03", "57P04", "57P05", "25P03"})
TRANSIENT_CLASSES = frozenset({"08", "25", "40", "53", "54", "55", "57", "58"})
ENCODING_CODES = frozenset({"22021", "22P05"})
OUTCOME_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The longest waits; 0 has no limit."""

    connect_s: float = 10
    lock_s: float = 30
    query_s: float = 60


READ_TIMEOUTS = Timeouts(lock_s=5, query_s=30)
WRITE_TIMEOUTS = Timeouts()
NO_TIMEOUTS = Timeouts(lock_s=0, query_s=0)
PREPARE_TIMEOUTS = Timeouts(query_s=0)  # building an index of a large table takes long


class Postgres:
    id_type = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    bytes_type = "BYTEA"

    def __init__(
        self,
        address: str,
        application_id: int,
        purpose: str,
        read_timeouts: Timeouts = READ_TIMEOUTS,
        write_timeouts: Timeouts = WRITE_TIMEOUTS,
        schema: str = "",
        option: str = "--store",
    ) -> None:
        """Tables are in `schema`, or, where it is blank, in the first one that PostgreSQL finds for the user.

        The transactions of one application id wait for each other, and not for those of others.
        """
        try:
            import pg8000.dbapi as driver
        except ImportError as error:
            raise MissingExtra(f"{purpose} on PostgreSQL", "postgres") from error
        self.purpose = purpose
        self._driver, self._parts, self._address = driver, connection_arguments(address), masked(address)
        self._application_id, self._schema = application_id, schema
        self._read_timeouts, self._write_timeouts = read_timeouts, write_timeouts
        self._reader_lock, self._writer_lock = Lock(), RLock()
        self._writer: Any = None  # connected at the first transaction
        self._writing_thread: int | None = None  # the thread whose transaction is open
        try:
            self._reader = self._connect(read_timeouts)
        except (driver.Error, OSError, UnicodeError) as error:
            raise InputError(
                f"cannot be opened as {purpose} ({_reason(error)}): check {option}", self._address
            ) from error

    def prepare(self, create_tables: Callable[[], None]) -> None:
        ordinary, self._write_timeouts = self._write_timeouts, PREPARE_TIMEOUTS
        try:
            with self.transaction():
                if self._schema and self.rows("SELECT to_regnamespace(?) IS NULL", (self._schema,))[0][0]:
                    self.rows(f"CREATE SCHEMA {self._schema}")
                create_tables()
        except self._driver.Error as error:
            raise InputError(
                f"cannot make the tables of {self.purpose} ({_reason(error)}): ask who looks after it", self._address
            ) from error
        finally:
            self._write_timeouts = ordinary
            self._drop_writer()

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT to_regclass(?) IS NOT NULL", (name,))[0][0])

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        check_parameters(parameters)
        if self._writing_thread == get_ident():
            return self._execute_in_transaction(statement, parameters)
        with self._locked(self._reader_lock, self._read_timeouts):
            try:
                return self._execute(self._reader, statement, parameters)
            except (self._driver.Error, OSError) as error:
                self._raise_unless_lost(error)
            with suppress(Exception):  # it is gone already
                self._reader.close()
            with self._reconnecting():
                self._reader = self._connect(self._read_timeouts)
                return self._execute(self._reader, statement, parameters)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._locked(self._writer_lock, self._write_timeouts):
            self._begin()
            self._writing_thread = get_ident()
            try:
                # One writer at a time, as with SQLite, so that ids are assigned in the order rows become visible.
                statement = "SELECT CAST(txid_current() AS text), pg_advisory_xact_lock(?)"
                transaction_id = str(self._execute_in_transaction(statement, (self._application_id,))[0][0])
                yield
                self._commit(transaction_id)
            except BaseException:
                with suppress(Exception):  # a lost connection has rolled back already
                    self._execute(self._writer, "ROLLBACK")
                raise
            finally:
                self._writing_thread = None

    def erase_deleted(self) -> None:
        """Rows are overwritten as the server reuses their space; its own log goes with its archives."""
        self.run_alone(["VACUUM"])

    def close(self) -> None:
        self._drop_writer()
        with suppress(Exception):  # it may be gone already
            self._reader.close()

    def run_alone(self, statements: Sequence[str]) -> bool | None:
        """Run statements outside a transaction; False where the server refuses, None where one of ours is open."""
        if self._writing_thread == get_ident():
            return None  # it would wait for itself
        try:
            connection = self._connect(NO_TIMEOUTS)
            try:
                for statement in statements:
                    self._execute(connection, statement)
            finally:
                connection.close()
        except (self._driver.Error, OSError):
            return False
        return True

    def _begin(self) -> None:
        if self._writer is not None:
            try:
                self._execute(self._writer, "BEGIN")
            except (self._driver.Error, OSError) as error:
                self._raise_unless_lost(error)
                self._drop_writer()
            else:
                return
        with self._reconnecting():
            self._writer = self._connect(self._write_timeouts)
            self._execute(self._writer, "BEGIN")

    def _commit(self, transaction_id: str) -> None:
        """Commit; where the answer is lost, look up the outcome by the transaction's id."""
        try:
            self._execute(self._writer, "COMMIT")
            return
        except (self._driver.Error, OSError) as error:
            self._raise_unless_lost(error)
            outcome, cause = self._outcome(transaction_id), error
        if outcome == "aborted":
            raise self._lost_change() from cause
        if outcome != "committed":
            raise Unreachable(
                f"the connection to {self.purpose} was lost while a change was being kept: it may have been "
                "kept; look before you do it again"
            ) from cause

    def _outcome(self, transaction_id: str) -> str | None:
        for attempt in range(OUTCOME_ATTEMPTS):
            self._drop_writer()
            try:
                self._writer = self._connect(self._write_timeouts)
                ((outcome,),) = self._execute(self._writer, "SELECT txid_status(CAST(? AS bigint))", (transaction_id,))
            except (self._driver.Error, OSError):
                outcome = None
            if outcome in ("committed", "aborted"):
                return str(outcome)
            time.sleep(0.1 * 2**attempt)
        return None

    def _execute_in_transaction(self, statement: str, parameters: Sequence[Any]) -> list[Row]:
        """Execute within the transaction that is open."""
        try:
            return self._execute(self._writer, statement, parameters)
        except (self._driver.Error, OSError) as error:
            self._raise_unless_lost(error)
            self._drop_writer()
            raise self._lost_change() from error

    def _connect(self, timeouts: Timeouts) -> Any:
        connection = self._driver.connect(**self._parts, timeout=timeouts.connect_s, application_name="understudy")
        connection.autocommit = True
        # The driver has one timeout for connecting and for answers; that of the server on answers must end first.
        connection._usock.settimeout(timeouts.query_s + timeouts.connect_s if timeouts.query_s else None)
        query = f"{int(timeouts.query_s * 1000)}ms"
        settings = {
            "client_encoding": "UTF8",
            "lock_timeout": f"{int(timeouts.lock_s * 1000)}ms",
            "statement_timeout": query,
            "idle_in_transaction_session_timeout": query,  # a program that hangs must not block other writers
        }
        if self._schema:
            settings["search_path"] = self._schema
        for setting in settings.items():
            self._execute(connection, "SELECT set_config(?, ?, false)", setting)
        return connection

    def _execute(self, connection: Any, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        cursor = connection.cursor()
        try:
            cursor.execute(statement.replace("?", "%s"), tuple(parameters))  # our statements have no literal ? or %
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []
        except UnicodeError as error:
            with suppress(Exception):  # the rest of the answer is unread: the connection cannot be used again
                connection.close()
            raise InputError("has text that is no UTF-8: make the database anew in UTF-8", self._address) from error

    def _drop_writer(self) -> None:
        with suppress(Exception):  # it may be gone already
            self._writer.close()
        self._writer = None

    @contextmanager
    def _locked(self, lock: Any, timeouts: Timeouts) -> Iterator[None]:
        """Hold a connection's lock; its holder is done within the timeouts, unless others wait before us."""
        if not lock.acquire(timeout=timeouts.lock_s + timeouts.query_s if timeouts.query_s else -1):
            raise Unreachable(f"{self.purpose} is busy, and too many wait for it: try again in a moment")
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _reconnecting(self) -> Iterator[None]:
        try:
            yield
        except (self._driver.Error, OSError) as error:
            if (translated := self._translated(error)) is not None and not self._is_lost(error):
                raise translated from error
            raise Unreachable(
                f"the connection to {self.purpose} was lost and cannot be made again ({_reason(error)}): "
                "see to its server, then try again"
            ) from error

    def _lost_change(self) -> Unreachable:
        return Unreachable(
            f"the connection to {self.purpose} was lost in the middle of a change, which was not kept: do it again"
        )

    def _raise_unless_lost(self, error: Exception) -> None:
        """Raise the error unless the connection is lost; as an error of ours where there is one for it."""
        if not self._is_lost(error):
            raise self._translated(error) or error

    def _is_lost(self, error: Exception) -> bool:
        """Did the connection fail, and not the statement?"""
        return isinstance(error, self._driver.InterfaceError | OSError) or _server_fields(error).get("C") in LOST_CODES

    def _translated(self, error: Exception) -> UnderstudyError | None:
        code = str(_server_fields(error).get("C", ""))
        if code == "55P03":
            return Unreachable(
                f"somebody else is changing {self.purpose} and does not finish: nothing was changed; try again "
                "in a moment, or end the program that hangs"
            )
        if code == "57014":
            return Unreachable(f"{self.purpose} took too long to answer: nothing was changed; try again")
        if code in ENCODING_CODES:
            return InputError(
                f"cannot take or give this text ({_reason(error)}): make the database anew in UTF-8", self._address
            )
        if code == "42501":
            return InputError(f"does not allow this to you ({_reason(error)}): ask who looks after it", self._address)
        if code[:2] in TRANSIENT_CLASSES:
            return Unreachable(
                f"{self.purpose} cannot take this now ({_reason(error)}): nothing was changed; see to its "
                "server, then try again"
            )
        return None


def _server_fields(error: BaseException) -> dict[str, Any]:
    """The fields of the server's error message, by their one-letter names (C: SQLSTATE code, M: message)."""
    return error.args[0] if error.args and isinstance(error.args[0], dict) else {}


def _reason(error: BaseException) -> str:
    why = (
        f"{error}: {error.__cause__}" if error.__cause__ else str(error)
    )  # the driver's own text is only 'communication error'
    return str(_server_fields(error).get("M", why))
