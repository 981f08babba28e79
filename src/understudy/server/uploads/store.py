"""What is kept of uploads, in the server's database: whole or not at all.

A large upload is written piece by piece, each in a transaction of its own so that chats are not held up; only the last
one makes it count. What was broken off is cleared away when the server starts.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from understudy.server.database import ServerDatabase
from understudy.server.problems import Refused

__all__ = ["FixMade", "SentFile", "UploadRow", "UploadStore"]

PIECE = 1024 * 1024
AS_SENT = "As it was sent"
COLUMNS = "id, story, content, made, fixable, deleted"


@dataclass(frozen=True, slots=True)
class SentFile:
    number: int
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class FixMade:
    """Something put right: the cast.toml from then on."""

    number: int
    what: str
    cast_toml: str
    made: str


@dataclass(frozen=True, slots=True)
class UploadRow:
    id: str
    story: str
    """Its name on stage."""
    content: str
    """Tells equal uploads: a hash of names and bytes."""
    made: str
    fixable: bool
    deleted: str | None
    files: tuple[SentFile, ...]
    fixes: tuple[FixMade, ...]

    @property
    def cast_toml(self) -> str:
        return self.fixes[-1].cast_toml

    @property
    def was_fixed(self) -> bool:
        return len(self.fixes) > 1


class UploadStore:
    def __init__(self, database: ServerDatabase) -> None:
        self._database = database

    async def all(self) -> list[UploadRow]:
        """Every complete upload, oldest first, those deleted but still kept included."""
        return await self._database.run(lambda db: _rows(db, "complete ORDER BY made, id", ()))

    async def one(self, upload: str) -> UploadRow:
        found = await self._database.run(lambda db: _rows(db, "complete AND id = ?", (upload,)))
        if not found:
            raise Refused("there is no such upload here", 404)
        return found[0]

    async def same(self, content: str) -> UploadRow | None:
        """One with the same files that has not been deleted."""
        found = await self._database.run(
            lambda db: _rows(db, "complete AND content = ? AND deleted IS NULL", (content,))
        )
        return found[0] if found else None

    async def count(self) -> int:
        """How many uploads there are that have not been deleted."""
        question = "SELECT count(*) FROM uploads WHERE complete AND deleted IS NULL"
        (uploads,) = await self._database.run(lambda db: db.execute(question).fetchone())
        return int(uploads)

    async def keep(self, row: UploadRow, paths: Iterable[Path]) -> list[str]:
        """Keep an upload and its files for good; nothing of it where that fails.

        Gives the uploads that went for it: the same files, deleted and now sent again.
        """
        await self._database.run(lambda db: _insert(db, row))
        try:
            for file, path in zip(row.files, paths):
                await self._keep_file(row.id, file, path)
            return await self._database.run(lambda db: _complete(db, row))
        except BaseException:
            with anyio.CancelScope(shield=True), contextlib.suppress(Refused):  # a full disk: cleared at the next start
                await self.purge(row.id)
            raise

    async def _keep_file(self, upload: str, file: SentFile, path: Path) -> None:
        number = await self._database.run(
            lambda db: (
                db.execute(
                    "INSERT INTO upload_files (upload, name, size) VALUES (?, ?, ?)", (upload, file.name, file.size)
                ).lastrowid
            )
        )
        with path.open("rb") as stream:
            place = 0
            while piece := await anyio.to_thread.run_sync(stream.read, PIECE):
                await self._database.run(partial(_insert_piece, entry=(number, place, piece)))
                place += 1

    async def pieces(self, file: SentFile) -> AsyncIterator[bytes]:
        """A file as it was sent, a piece at a time."""
        place = 0
        while (found := await self._piece(file.number, place)) is not None:
            yield found
            place += 1

    async def _piece(self, file: int, place: int) -> bytes | None:
        question = "SELECT bytes FROM upload_pieces WHERE file = ? AND number = ?"
        row = await self._database.run(lambda db: db.execute(question, (file, place)).fetchone())
        return None if row is None else bytes(row[0])

    async def fix(self, upload: str, what: str, cast_toml: str) -> None:
        """Keep what was put right, in words and as the cast.toml that came of it."""
        question = """INSERT INTO upload_fixes SELECT ?1, max(number) + 1, ?2, ?3, ?4
                      FROM upload_fixes WHERE upload = ?1"""
        await self._database.run(lambda db: db.execute(question, (upload, what, cast_toml, _now())))

    async def undo(self, upload: str) -> None:
        """Take the newest fix away."""
        question = """DELETE FROM upload_fixes WHERE upload = ?1 AND number > 0
                      AND number = (SELECT max(number) FROM upload_fixes WHERE upload = ?1)"""
        await self._database.run(lambda db: db.execute(question, (upload,)))

    async def rename(self, upload: str, story: str) -> None:
        await self._database.run(lambda db: db.execute("UPDATE uploads SET story = ? WHERE id = ?", (story, upload)))

    async def delete(self, upload: str) -> None:
        """Put away, to be brought back or purged."""
        await self._database.run(lambda db: db.execute("UPDATE uploads SET deleted = ? WHERE id = ?", (_now(), upload)))

    async def restore(self, upload: str) -> None:
        await self._database.run(lambda db: db.execute("UPDATE uploads SET deleted = NULL WHERE id = ?", (upload,)))

    async def purge(self, upload: str) -> None:
        await self._database.run(lambda db: db.execute("DELETE FROM uploads WHERE id = ?", (upload,)))

    async def purge_old(self, kept: int) -> list[str]:
        """Forget what was deleted longer ago than is kept; gives what went."""
        before = _now(-kept)
        return await self._database.run(lambda db: _deleted(db, "deleted < ?", before))

    async def purge_broken_off(self) -> None:
        await self._database.run(lambda db: db.execute("DELETE FROM uploads WHERE NOT complete"))


def _rows(db: sqlite3.Connection, which: str, parameters: tuple[str, ...]) -> list[UploadRow]:
    found = db.execute(f"SELECT {COLUMNS} FROM uploads WHERE {which}", parameters).fetchall()
    return [
        UploadRow(
            upload, story, content, made, bool(fixable), deleted,
            tuple(
                SentFile(*file)
                for file in db.execute(
                    "SELECT id, name, size FROM upload_files WHERE upload = ? ORDER BY id", (upload,)
                )
            ),
            tuple(
                FixMade(*fix)
                for fix in db.execute(
                    "SELECT number, what, cast_toml, made FROM upload_fixes WHERE upload = ? ORDER BY number", (upload,)
                )
            ),
        )
        for upload, story, content, made, fixable, deleted in found
    ]  # fmt: skip


def _insert(db: sqlite3.Connection, row: UploadRow) -> None:
    db.execute(
        "INSERT INTO uploads (id, story, content, made, fixable) VALUES (?, ?, ?, ?, ?)",
        (row.id, row.story, row.content, row.made, row.fixable),
    )


def _insert_piece(db: sqlite3.Connection, entry: tuple[int | None, int, bytes]) -> None:
    db.execute("INSERT INTO upload_pieces VALUES (?, ?, ?)", entry)


def _deleted(db: sqlite3.Connection, which: str, parameter: str) -> list[str]:
    return [upload for (upload,) in db.execute(f"DELETE FROM uploads WHERE {which} RETURNING id", (parameter,))]


def _complete(db: sqlite3.Connection, row: UploadRow) -> list[str]:
    gone = _deleted(db, "content = ? AND deleted IS NOT NULL", row.content)
    db.execute("INSERT INTO upload_fixes VALUES (?, 0, ?, ?, ?)", (row.id, AS_SENT, row.cast_toml, row.made))
    db.execute("UPDATE uploads SET complete = 1 WHERE id = ?", (row.id,))
    return gone


def _now(later: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=later)).isoformat(timespec="milliseconds")
