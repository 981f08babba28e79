"""The server's database: chats, uploads and settings, in one SQLite file or in PostgreSQL.

One thread does the work of a process in the order it was submitted. A transaction is on the disk before its result is
returned: what a user has seen survives a kill, and a full disk is an error that changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

from understudy.databases import Database, is_postgres, migrate, open_database
from understudy.errors import InputError, Unreachable
from understudy.server.problems import Refused
from understudy.server.tables import migrations

__all__ = ["ServerDatabase"]

APPLICATION_ID = 0x55445356  # 'UDSV': distinguishes a server's database from others
PURPOSE = "the server's database"

Result = TypeVar("Result")


class ServerDatabase:
    """`location` is a file, or a postgresql:// address that several processes may use at a time."""

    def __init__(self, location: str | Path) -> None:
        self.location = location
        self.is_shared = is_postgres(location)
        self._database = open_database(location, APPLICATION_ID, PURPOSE, "--database" if self.is_shared else "--data")
        try:
            migrate(self._database, migrations(self._database))
        except BaseException:
            self._database.close()
            raise
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")

    async def run(self, work: Callable[[Database], Result]) -> Result:
        """Run `work` in a transaction of its own: its result is returned after the commit, and an error rolls back."""
        return await self._submit(self._database.transaction, work)

    async def read(self, work: Callable[[Database], Result]) -> Result:
        """Run `work`, which only reads, on one state of the database; other processes' transactions are not waited
        for."""
        return await self._submit(self._database.snapshot, work)

    async def _submit(
        self, within: Callable[[], AbstractContextManager[None]], work: Callable[[Database], Result]
    ) -> Result:
        def run() -> Result:
            try:
                with within():
                    return work(self._database)
            except Unreachable as error:
                raise Refused(str(error), 503 if self.is_shared else 507) from error
            except InputError as error:
                if error.path is None:
                    raise
                raise Refused(f"{PURPOSE} {error.message}", 500) from error  # without its address

        return await asyncio.get_running_loop().run_in_executor(self._thread, run)

    def close(self) -> None:
        self._thread.shutdown()
        self._database.close()
