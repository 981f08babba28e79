"""SQLite, in one file. Readers have a connection of their own, so that a transaction that waits for another program's
does not block them.

A transaction is over when it is on the disk. SQLite would flush the disk within each one; here it is flushed after the
commit, once for all transactions that were committed meanwhile (group commit): many threads that write at once wait
for few flushes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, RLock, get_ident
from typing import Any

from understudy.database import Row, check_parameters
from understudy.errors import InputError, Unreachable

WAIT_S = 30  # for another program's transaction
DISK_ERRORS = ("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_LOCKED", "SQLITE_READONLY")
"""Caused by the disk or by another program that uses the file, and not by our SQL."""


class Sqlite:
    id_type = "INTEGER PRIMARY KEY AUTOINCREMENT"
    bytes_type = "BLOB"

    def __init__(self, path: Path, application_id: int, purpose: str, option: str = "--store") -> None:
        self.purpose = purpose
        self._path = path
        self._write_lock, self._read_lock = RLock(), RLock()
        self._writing_thread: int | None = None  # the thread whose transaction is open
        self._has_changes = False  # whether that transaction may have
        try:
            self._connection = _connect(path)
            if not claim_file(self._connection, application_id):
                raise InputError(f"is a database of something else: choose another {option}", path)
            (journal,) = self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
            self._log = _WriteAheadLog(path, is_used=journal == "wal")  # some file systems allow none
            self._connection.execute(f"PRAGMA synchronous = {'NORMAL' if journal == 'wal' else 'FULL'}")
            self._connection.execute("PRAGMA foreign_keys = ON")
            self._connection.execute("PRAGMA secure_delete = ON")
            self._reader = _connect(path)
        except sqlite3.Error as error:
            raise InputError(f"cannot be opened as {purpose} ({error}): choose another {option}", path) from error

    def prepare(self, create_tables: Callable[[], None]) -> None:
        with self.transaction():
            create_tables()

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        check_parameters(parameters)
        if self._writing_thread == get_ident():
            self._has_changes = self._has_changes or not statement.startswith("SELECT")
            with self._translated_errors():
                return self._connection.execute(statement, parameters).fetchall()
        with self._read_lock, self._translated_errors():
            return self._reader.execute(statement, parameters).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._write_lock, self._translated_errors():
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                self._writing_thread, self._has_changes = get_ident(), False
                try:
                    yield
                finally:
                    self._writing_thread = None
            commits = self._log.count_commit(self._has_changes)
        try:
            self._log.flush(commits)
        except OSError as error:
            raise Unreachable(
                f"{self.purpose} could not be written to the disk ({error.strerror}): see to the disk, then look "
                "whether the change was kept"
            ) from error

    def erase_deleted(self, tables: Sequence[str]) -> None:  # noqa: ARG002
        """The file's pages are overwritten by `secure_delete`; older ones are still in the write-ahead log."""
        with self._write_lock, self._translated_errors():
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        with self._read_lock, self._translated_errors():
            self._reader.execute("BEGIN")
            try:
                yield
            finally:
                self._reader.execute("ROLLBACK")

    def reserve_ids(self, table: str, count: int) -> list[int]:
        rows = self.rows("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,))
        last = int(rows[0][0]) if rows else 0
        if rows:
            self.rows("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (last + count, table))
        else:
            self.rows("INSERT INTO sqlite_sequence (seq, name) VALUES (?, ?)", (last + count, table))
        return list(range(last + 1, last + count + 1))

    def close(self) -> None:
        self._connection.close()
        self._reader.close()
        self._log.close()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "").startswith(DISK_ERRORS):
                raise Unreachable(
                    f"{self.purpose} cannot take this now ({error}): nothing was lost; free some disk space or end "
                    "the program that uses its file, then try again"
                ) from error
            if "decode to UTF-8" in str(error) or type(error) is sqlite3.DatabaseError:
                raise InputError(f"is damaged ({error}): take a copy that is whole", self._path) from error
            raise


class _WriteAheadLog:
    """The file beside the database that commits are appended to, so that one flush is for all of them before it."""

    def __init__(self, path: Path, is_used: bool) -> None:
        self._path, self._is_used = path.with_name(f"{path.name}-wal"), is_used
        self._file: int | None = None  # opened at the first commit: SQLite creates it
        self._commits, self._flushed = 0, 0
        self._lock = Lock()

    def count_commit(self, has_changes: bool) -> int:
        """How many commits there are, with the present one; called before anybody else can commit."""
        self._commits += has_changes
        return self._commits

    def flush(self, commits: int) -> None:
        """Return when so many commits are on the disk; one that changed nothing waits for what it has read."""
        if not self._is_used:
            return
        with self._lock:
            if self._flushed >= commits:
                return
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR)
            committed = self._commits
            os.fsync(self._file)
            self._flushed = committed

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=WAIT_S)


def claim_file(connection: sqlite3.Connection, application_id: int) -> bool:
    """Mark a new file as one of ours; False where it is a database of something else."""
    # In this order: another program that creates the same database now sets the id before it creates tables.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != application_id and not tables:
        connection.execute(f"PRAGMA application_id = {application_id}")
    return bool(application == application_id or not tables)
