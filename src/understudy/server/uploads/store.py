"""Uploads in the server's database: the files as they were sent, and the fixes made since.

A large upload is written in pieces, each in a transaction of its own so that chats are not held up; only the last
transaction marks it complete. Incomplete uploads are deleted when the server starts. The story made from an upload is
a file (see `storage`) that can be made again at any time, so it is not in the database.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.to_thread

from understudy.database import Database, Row
from understudy.errors import UnderstudyError
from understudy.server.database import ServerDatabase
from understudy.server.problems import Refused

PIECE_BYTES = 1024 * 1024
AS_SENT = "As it was sent"
COLUMNS = "id, story, content, made, fixable, deleted, form"
FIX_COLUMNS = "number, what, cast_toml, made, quotations_toml"


class SentFile(NamedTuple):
    number: int
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class StoredFix:
    """A fix: what it did, in words, and the cast.toml and quotations.toml from then on."""

    number: int
    what: str
    cast_toml: str
    made: str
    quotations_toml: str = ""


@dataclass(frozen=True, slots=True)
class UploadRow:
    id: str
    story: str
    """The name it is served by."""
    content: str
    """A hash of file names and bytes: equal uploads have the same."""
    made: str
    fixable: bool
    deleted: str | None
    files: tuple[SentFile, ...]
    fixes: tuple[StoredFix, ...]
    form: str = ""
    """The reader that is to take the files, "" where their content decides."""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def cast_toml(self) -> str:
        return self.fixes[-1].cast_toml

    @property
    def quotations_toml(self) -> str:
        """The decisions about quotations: a quotations.toml of the decided ones, "" where there are none."""
        return self.fixes[-1].quotations_toml

    @property
    def was_fixed(self) -> bool:
        return len(self.fixes) > 1


class StoryNameTaken(UnderstudyError):
    """Another upload is served by the name."""


class UploadStore:
    def __init__(self, database: ServerDatabase) -> None:
        self._database = database

    async def all(self) -> list[UploadRow]:
        """Every complete upload, oldest first, including deleted ones that can still be restored."""
        return await self._database.read(lambda db: _rows(db, "complete = 1 ORDER BY made, id", ()))

    async def get(self, upload: str) -> UploadRow:
        row = await self.find(upload)
        if row is None:
            raise Refused("there is no such upload here", 404)
        return row

    async def find(self, upload: str) -> UploadRow | None:
        rows = await self._database.read(lambda db: _rows(db, "complete = 1 AND id = ?", (upload,)))
        return rows[0] if rows else None

    async def find_by_content(self, content: str) -> UploadRow | None:
        """An upload with the same files that has not been deleted."""
        where = "complete = 1 AND content = ? AND deleted IS NULL"
        rows = await self._database.read(lambda db: _rows(db, where, (content,)))
        return rows[0] if rows else None

    async def count(self) -> int:
        """How many uploads there are that have not been deleted."""
        query = "SELECT count(*) FROM uploads WHERE complete = 1 AND deleted IS NULL"
        ((count,),) = await self._database.read(lambda db: db.rows(query))
        return int(count)

    async def add(self, row: UploadRow, paths: Iterable[Path]) -> list[str]:
        """Add an upload and its files, all or nothing; `StoryNameTaken` where another one is served by its name.

        Returns the ids of uploads this replaces: deleted ones with the same files.
        """
        await self._database.run(lambda db: _insert(db, row))
        try:
            for file, path in zip(row.files, paths):
                await self._add_file(row.id, file, path)
            return await self._database.run(lambda db: _complete(db, row))
        except BaseException:
            with anyio.CancelScope(shield=True), contextlib.suppress(Refused):  # if the disk is full: at the next start
                await self.purge(row.id)
            raise

    async def _add_file(self, upload: str, file: SentFile, path: Path) -> None:
        query = "INSERT INTO upload_files (upload, name, size) VALUES (?, ?, ?) RETURNING id"
        ((number,),) = await self._database.run(lambda db: db.rows(query, (upload, file.name, file.size)))
        with path.open("rb") as stream:
            index = 0
            while piece := await anyio.to_thread.run_sync(stream.read, PIECE_BYTES):
                await self._database.run(partial(_insert_piece, row=(number, index, piece)))
                index += 1

    async def pieces(self, file: SentFile) -> AsyncIterator[bytes]:
        """A file as it was sent, a piece at a time."""
        index = 0
        while (piece := await self._piece(file.number, index)) is not None:
            yield piece
            index += 1

    async def _piece(self, file: int, index: int) -> bytes | None:
        query = "SELECT bytes FROM upload_pieces WHERE file = ? AND number = ?"
        rows = await self._database.read(lambda db: db.rows(query, (file, index)))
        return bytes(rows[0][0]) if rows else None

    async def add_fix(self, upload: str, newest: int, what: str, cast_toml: str, quotations_toml: str) -> None:
        """`what` says in words what the fix did to the `newest` one so far, the others are the result."""
        query = f"""INSERT INTO upload_fixes (upload, {FIX_COLUMNS})
                   SELECT upload, max(number) + 1, ?, ?, ?, ? FROM upload_fixes WHERE upload = ?
                   GROUP BY upload HAVING max(number) = ? RETURNING number"""
        values = (what, cast_toml, _now(), quotations_toml, upload, newest)
        _refuse_unless(await self._database.run(lambda db: db.rows(query, values)))

    async def delete_fix(self, upload: str, newest: int) -> None:
        query = """DELETE FROM upload_fixes WHERE upload = ? AND number > 0 AND number = ?
                   AND number = (SELECT max(number) FROM upload_fixes WHERE upload = ?) RETURNING number"""
        _refuse_unless(await self._database.run(lambda db: db.rows(query, (upload, newest, upload))))

    async def rename(self, upload: str, story: str) -> None:
        await self._database.run(lambda db: db.rows("UPDATE uploads SET story = ? WHERE id = ?", (story, upload)))

    async def delete(self, upload: str) -> None:
        """Mark as deleted, to be restored or purged."""
        await self._database.run(lambda db: db.rows("UPDATE uploads SET deleted = ? WHERE id = ?", (_now(), upload)))

    async def restore(self, upload: str) -> None:
        await self._database.run(lambda db: db.rows("UPDATE uploads SET deleted = NULL WHERE id = ?", (upload,)))

    async def purge(self, upload: str) -> None:
        await self._database.run(lambda db: db.rows("DELETE FROM uploads WHERE id = ?", (upload,)))

    async def purge_old(self, restore_s: int) -> list[str]:
        """Remove what was deleted longer ago than so many seconds; returns the ids."""
        before = _now(-restore_s)
        return await self._database.run(lambda db: _delete(db, "deleted < ?", before))

    async def purge_incomplete(self, age_s: int) -> None:
        """Remove uploads that were begun longer ago than so many seconds, and never completed."""
        before = _now(-age_s)
        await self._database.run(lambda db: db.rows("DELETE FROM uploads WHERE complete = 0 AND made <= ?", (before,)))


def _rows(db: Database, where: str, parameters: tuple[str, ...]) -> list[UploadRow]:
    uploads = list[UploadRow]()
    files_query = "SELECT id, name, size FROM upload_files WHERE upload = ? ORDER BY id"
    fixes_query = f"SELECT {FIX_COLUMNS} FROM upload_fixes WHERE upload = ? ORDER BY number"
    rows = db.rows(f"SELECT {COLUMNS} FROM uploads WHERE {where}", parameters)
    for upload, story, content, made, fixable, deleted, form in rows:
        files = tuple(SentFile(*file) for file in db.rows(files_query, (upload,)))
        fixes = tuple(StoredFix(*fix) for fix in db.rows(fixes_query, (upload,)))
        uploads.append(UploadRow(upload, story, content, made, bool(fixable), deleted, files, fixes, form))
    return uploads


def _insert(db: Database, row: UploadRow) -> None:
    if db.rows("SELECT 1 FROM uploads WHERE story = ? AND deleted IS NULL", (row.story,)):
        raise StoryNameTaken("another process of the server has given a story this name")
    db.rows(
        "INSERT INTO uploads (id, story, content, made, fixable, form) VALUES (?, ?, ?, ?, ?, ?)",
        (row.id, row.story, row.content, row.made, int(row.fixable), row.form),
    )


def _insert_piece(db: Database, row: tuple[int, int, bytes]) -> None:
    db.rows("INSERT INTO upload_pieces VALUES (?, ?, ?)", row)


def _delete(db: Database, where: str, parameter: str) -> list[str]:
    return [upload for (upload,) in db.rows(f"DELETE FROM uploads WHERE {where} RETURNING id", (parameter,))]


def _complete(db: Database, row: UploadRow) -> list[str]:
    replaced = _delete(db, "content = ? AND deleted IS NOT NULL", row.content)
    first = (row.id, AS_SENT, row.cast_toml, row.made, row.quotations_toml)
    db.rows(f"INSERT INTO upload_fixes (upload, {FIX_COLUMNS}) VALUES (?, 0, ?, ?, ?, ?)", first)
    db.rows("UPDATE uploads SET complete = 1 WHERE id = ?", (row.id,))
    return replaced


def _refuse_unless(changed: list[Row]) -> None:
    if not changed:
        raise Refused("somebody else has changed this story meanwhile: reload the page", 409)


def _now(offset_s: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=offset_s)).isoformat(timespec="milliseconds")
