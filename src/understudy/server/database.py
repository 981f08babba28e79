"""The one database of a server: chats, uploads and settings, in one SQLite file.

One thread owns the connection and does the work it is handed in order, each piece in a transaction of its own that is
on the disk before anybody hears that it is done. So what a user has seen is there after a kill, and a full disk is an
error that changes nothing.
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
from understudy.server.chats.tables import AS_SAID, CHATS
from understudy.server.problems import Refused
from understudy.server.uploads.store import TABLES as UPLOADS

__all__ = ["Database"]

APPLICATION = 0x55445356  # 'UDSV': tells a server's database from other SQLite files
MIGRATIONS: tuple[tuple[str, str], ...] = (("chats", CHATS), ("uploads", UPLOADS), ("as said", AS_SAID))
"""Only ever added to: a database records how many it has seen."""

OUTSIDE = ("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_LOCKED", "SQLITE_READONLY")
"""What goes wrong because of the disk, or of somebody else at the file."""

Found = TypeVar("Found")


class Database:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")
        try:
            self._connection = self._thread.submit(_opened, path).result()
        except BaseException:
            self._thread.shutdown()
            raise

    async def run(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """What the work gives, once everything it changed is on the disk; nothing is changed where it fails."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._done, work)

    def _done(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        try:
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                return work(self._connection)
        except sqlite3.OperationalError as error:
            if not error.sqlite_errorname.startswith(OUTSIDE):
                raise  # a mistake of ours
            raise Refused(
                f"the server's database cannot take this now ({error}): nothing was lost; free some disk space, "
                "then try again",
                507,
            ) from error

    def close(self) -> None:
        self._thread.submit(self._connection.close).result()
        self._thread.shutdown()


def _opened(path: Path) -> sqlite3.Connection:
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
        (done,) = connection.execute("SELECT count(*) FROM migrations").fetchone()
        if done > len(MIGRATIONS):
            raise sqlite3.DatabaseError("it was made by a newer Understudy: upgrade with `pip install -U understudy`")
        for number, (name, script) in enumerate(MIGRATIONS[done:], done + 1):
            for statement in filter(str.strip, script.split(";")):
                connection.execute(statement)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))
