"""The server's database: chats, uploads and settings, in one SQLite file.

One thread owns the connection and runs transactions in the order they were submitted. A transaction is on the disk
before its result is returned: what a user has seen survives a kill, and a full disk is an error that changes nothing.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from understudy.errors import InputError
from understudy.server.chats.store import AGENTS_AND_PERSONAS, CHAT_TABLES, MESSAGE_COLUMNS_ADDED, REMEMBERED_NAME
from understudy.server.problems import Refused
from understudy.server.uploads.store import NOVELS
from understudy.server.uploads.store import TABLES as UPLOADS

__all__ = ["ServerDatabase"]

APPLICATION = 0x55445356  # 'UDSV': distinguishes a server's database from other SQLite files
MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("chats", CHAT_TABLES),
    ("uploads", UPLOADS),
    ("as said", MESSAGE_COLUMNS_ADDED),
    ("agents and personas", AGENTS_AND_PERSONAS),
    ("remembered name", REMEMBERED_NAME),
    ("novels", NOVELS),
)
"""(name, SQL script). Append only: a database records how many it has applied."""

DISK_ERRORS = (
    "SQLITE_BUSY",
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_LOCKED",
    "SQLITE_READONLY",
)
"""Caused by the disk or by another process that uses the file, and not by our SQL."""

Result = TypeVar("Result")


class ServerDatabase:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")
        try:
            self._connection = self._thread.submit(_open, path).result()
        except BaseException:
            self._thread.shutdown()
            raise

    async def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run `work` in a transaction of its own: its result is returned after the commit, and an error rolls back."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._transact, work)

    def _transact(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        try:
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                return work(self._connection)
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith(DISK_ERRORS):
                raise  # a bug in our SQL
            raise Refused(
                f"the server's database cannot take this now ({error}): nothing was lost; free some disk space, "
                "then try again",
                507,
            ) from error

    def close(self) -> None:
        self._thread.submit(self._connection.close).result()
        self._thread.shutdown()


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite gives the files beside it the same mode
        connection = sqlite3.connect(path, isolation_level=None)
        _migrate(connection)
    except (sqlite3.Error, OSError) as error:
        raise InputError(f"cannot be opened as a server's database ({error}): choose another --data", path) from error
    return connection


def _migrate(connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION:
        raise sqlite3.DatabaseError("it is a database of something else")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(
            """CREATE TABLE IF NOT EXISTS migrations
               (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)"""
        )
        (applied,) = connection.execute("SELECT count(*) FROM migrations").fetchone()
        if applied > len(MIGRATIONS):
            raise sqlite3.DatabaseError("it was made by a newer Understudy: upgrade with `pip install -U understudy`")
        for number, (name, script) in enumerate(MIGRATIONS[applied:], applied + 1):
            for statement in filter(str.strip, script.split(";")):
                connection.execute(statement)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))
