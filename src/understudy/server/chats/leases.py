"""Which process works on a chat, where several serve one database.

A process holds a chat's lease while it changes the chat or writes a reply, so that requests to a chat are handled one
after the other whichever process they come to. A lease is renewed while it is held. After a kill it runs out within
`LEASE_S`, and another process may take the chat over; one that only was slow then stores nothing more (`check`).

A stop that comes to another process than the one that writes is passed on to that one through the database, as only it
knows what was sent to the client. All times are the database's.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from understudy.database import Database, Row
from understudy.errors import UnderstudyError
from understudy.server.chats.schemas import StopRequest
from understudy.server.database import ServerDatabase
from understudy.server.problems import Refused
from understudy.server.telemetry import LOG

LEASE_S = 10.0
RENEW_S = 2.5
POLL_S = 0.2  # for a lease that another process holds, and for stops that were passed on
NOW = "extract(epoch FROM clock_timestamp())"

OnStop = Callable[[StopRequest], Awaitable[object]]


class ChatLeases:
    """Does nothing where the database is one process's own."""

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        self._holder = secrets.token_hex(8)  # this process
        self._held: dict[str, OnStop] = {}
        self._keeper: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def hold(self, chat_id: str, on_stop: OnStop) -> AsyncIterator[None]:
        """Wait until no other process works on a chat, and keep others off it. `on_stop` is called with every stop that
        is passed on from another process."""
        if not self._database.is_shared or not await self._acquire(chat_id):
            yield
            return
        self._held[chat_id] = on_stop
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            del self._held[chat_id]
            with suppress(UnderstudyError):  # it runs out by itself
                releasing = "UPDATE chats SET holder = NULL, held_until = 0 WHERE id = ? AND holder = ?"
                await self._change(releasing, (chat_id, self._holder))

    def check(self, db: Database, chat_id: str) -> None:
        """Refuse to store a reply where another process has taken the chat over."""
        query = "SELECT 1 FROM chats WHERE id = ? AND holder = ?"
        if self._database.is_shared and not db.rows(query, (chat_id, self._holder)):
            raise Refused("this took too long, and another process of the server went on with the chat: reload it", 409)

    def is_held(self, db: Database, chat_id: str) -> bool:
        """Does a process work on the chat?"""
        query = f"SELECT 1 FROM chats WHERE id = ? AND held_until > {NOW}"
        return self._database.is_shared and bool(db.rows(query, (chat_id,)))

    async def pass_on(self, chat_id: str, stop: StopRequest) -> bool:
        """Have the process that works on the chat stop; False where no other process does."""
        if not self._database.is_shared:
            return False
        elsewhere = f"holder <> ? AND held_until > {NOW}"
        request, own = msgspec.json.encode(stop).decode(), (chat_id, self._holder)
        passing = f"UPDATE chats SET stop = ? WHERE id = ? AND {elsewhere} RETURNING id"
        if not await self._change(passing, (request, *own)):
            return False
        state = f"SELECT stop IS NULL, {elsewhere} FROM chats WHERE id = ?"
        while True:
            await asyncio.sleep(POLL_S)
            rows = await self._database.read(lambda db: db.rows(state, (self._holder, chat_id)))
            if not rows or rows[0][0] or not rows[0][1]:
                return not rows or bool(rows[0][0])

    async def _acquire(self, chat_id: str) -> bool:
        """False where there is no such chat, as whoever asks for it will find."""
        taking = f"""UPDATE chats SET holder = ?, held_until = {NOW} + ?, stop = NULL
                     WHERE id = ? AND held_until < {NOW} RETURNING id"""
        free = f"SELECT held_until < {NOW} FROM chats WHERE id = ?"
        while not await self._change(taking, (self._holder, LEASE_S, chat_id)):
            while (rows := await self._database.read(lambda db: db.rows(free, (chat_id,)))) and not rows[0][0]:
                await asyncio.sleep(POLL_S)
            if not rows:
                return False
        return True

    async def _change(self, statement: str, parameters: Sequence[Any]) -> list[Row]:
        """Change leases without waiting for the disk: if the database itself dies, its leases may be forgotten."""

        def write(db: Database) -> list[Row]:
            db.rows("SELECT set_config('synchronous_commit', 'off', true)")
            return db.rows(statement, parameters)

        return await self._database.run(write)

    async def _keep(self) -> None:
        """Renew all leases of this process, and heed the stops that were passed on."""
        renewed = time.monotonic()
        renewing = f"UPDATE chats SET held_until = {NOW} + ? WHERE holder = ?"
        while self._held:
            await asyncio.sleep(POLL_S)
            try:
                await self._heed_stops()
                if time.monotonic() - renewed >= RENEW_S:
                    renewed = time.monotonic()
                    await self._change(renewing, (LEASE_S, self._holder))
            except UnderstudyError as error:
                LOG.warning("a lease could not be renewed: %s", type(error).__name__)

    async def _heed_stops(self) -> None:
        passed_on = "SELECT id, stop FROM chats WHERE holder = ? AND stop IS NOT NULL"
        for chat_id, request in await self._database.read(lambda db: db.rows(passed_on, (self._holder,))):
            if on_stop := self._held.get(chat_id):
                with suppress(UnderstudyError):  # there is nothing to stop any more
                    await on_stop(msgspec.json.decode(request, type=StopRequest))
                await self._change("UPDATE chats SET stop = NULL WHERE id = ? AND holder = ?", (chat_id, self._holder))
