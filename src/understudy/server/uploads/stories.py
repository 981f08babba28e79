"""The stories somebody sent: taken in, read under limits, put on stage, put right, put away and brought back.

What was sent and what was put right lie in the database; the story files lie beside it and can be made again from it
at any time. A file is named for what it was made from, so one that is older than its source is simply not found.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

from anyio import to_thread

from understudy.errors import InputError
from understudy.server.database import ServerDatabase
from understudy.server.problems import Refused
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads.answers import Change, change
from understudy.server.uploads.apart import read_apart
from understudy.server.uploads.arriving import Arrived, receive
from understudy.server.uploads.fixes import Fix, fixed
from understudy.server.uploads.limits import Limits
from understudy.server.uploads.names import slug
from understudy.server.uploads.reading import FIXED, SENT, USED
from understudy.server.uploads.readings import Progress, Readings
from understudy.server.uploads.shelf import Shelf, room
from understudy.server.uploads.space import Space
from understudy.server.uploads.store import AS_SENT, FixMade, SentFile, UploadRow, UploadStore
from understudy.storyfile import Story

__all__ = ["Uploads"]


class Uploads:
    """Opened once the server runs, and closed with it: `await uploads.open()`, `await uploads.close()`."""

    def __init__(
        self, database: ServerDatabase, registry: StoryRegistry, folder: Path, limits: Limits | None = None
    ) -> None:
        self.limits = limits or Limits()
        self.store = UploadStore(database)
        self._stories = registry
        self._shelf = Shelf(folder)
        self.readings = Readings()
        self._space = Space(self.limits.total)
        self._arriving: dict[str, str] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._entrance = asyncio.Lock()
        self._places = asyncio.Semaphore(self.limits.at_once)

    async def open(self) -> None:
        """Put every upload on stage; those whose story file is missing follow as soon as they are read again."""
        await self.store.purge_broken_off()
        await self.store.purge_old(self.limits.kept)  # whose files `tidy` takes away
        rows = await self.store.all()
        await to_thread.run_sync(self._shelf.tidy, rows)
        for row in rows:
            self._space.keep(row.id, sum(file.size for file in row.files))
            if row.deleted is None and not await self._staged(row):
                self.readings.start(row.id, Progress(row.files, row.made, known=True), self._made_again(row))

    async def close(self) -> None:
        await self.readings.close()

    # Taking in

    async def take(self, content_type: str, chunks: AsyncIterator[bytes]) -> tuple[str, bool]:
        """Receive the files of a form and begin to read them: the upload's id, and whether it was there before."""
        await self._clear_away(await self.store.purge_old(self.limits.kept))
        upload = secrets.token_hex(8)
        with room():
            work = await to_thread.run_sync(self._shelf.new_work)
        try:
            arrived = await receive(content_type, self._space.counted(upload, chunks), work, self.limits)
            content = _content(arrived)
            async with self._entrance:
                same = self._arriving.get(content) or getattr(await self.store.same(content), "id", None)
                if same is None:
                    await self._must_have_room()
                    self._space.set(upload, sum(one.size for one in arrived))
                    self._begin(upload, work, arrived, content)
                    return upload, False
        except BaseException:
            await self._given_up(upload, work)
            raise
        await self._given_up(upload, work)
        return same, True

    async def _must_have_room(self) -> None:
        if await self.store.count() + len(self._arriving) >= self.limits.uploads:
            raise Refused(f"{self.limits.uploads} stories are here already: delete one first", 409)

    async def _given_up(self, upload: str, work: Path) -> None:
        self._space.release(upload)
        await _removed(work)

    def _begin(self, upload: str, work: Path, arrived: list[Arrived], content: str) -> None:
        made = datetime.now(UTC).isoformat(timespec="milliseconds")
        files = tuple(SentFile(number, one.name, one.size) for number, one in enumerate(arrived, 1))
        row = UploadRow(upload, "", content, made, True, None, files, ())
        self._arriving[content] = upload
        self.readings.start(upload, Progress(files, made), self._read_first(row, work, arrived))

    async def _read_first(self, row: UploadRow, work: Path, arrived: list[Arrived]) -> None:
        try:
            sent = [work / SENT / one.name for one in arrived]
            await to_thread.run_sync(_laid_out, work, arrived)
            fixable = await self._read(row.id, work)
            first = FixMade(0, AS_SENT, await to_thread.run_sync(_text, work / USED), row.made)
            row = replace(row, fixable=fixable, fixes=(first,))
            story = await to_thread.run_sync(self._shelf.put, work, row)
            row = replace(row, story=self._free_name(story.title))
            self._stories.put(row.story, story)  # so that nobody else is given the name while it is being kept
            try:
                gone = await self.store.keep(row, sent)
            except BaseException:
                self._stories.remove(row.story)
                self._shelf.take_away(row.id)
                raise
        except BaseException:
            self._space.release(row.id)
            raise
        finally:
            self._arriving.pop(row.content, None)
            await _removed(work)
        await self._clear_away(gone)

    # Putting right

    async def fix(self, upload: str, fix: Fix) -> Change:
        """Put something right and read again; where that fails, nothing has changed."""
        async with self._turn(upload):
            row = await self._on_stage(upload)
            before = await to_thread.run_sync(self._stories.story(row.story).cast)
            text, what = fixed(row.cast_toml, fix, [member.character for member in before])
            if text == row.cast_toml:
                raise InputError("this would change nothing")
            newest = FixMade(row.fixes[-1].number + 1, what, text, "")
            story = await self._story_again(replace(row, fixes=(*row.fixes, newest)))
            after = await to_thread.run_sync(story.cast)
            await self.store.fix(upload, what, text)
            self._stories.put(row.story, story)
            await to_thread.run_sync(self._shelf.thin_out, await self.store.one(upload), row)
            return change(what, before, after)

    async def undo(self, upload: str) -> Change:
        """Take the last fix back."""
        async with self._turn(upload):
            row = await self._on_stage(upload)
            if not row.was_fixed:
                raise Refused("there is nothing to undo: it is as it was sent", 409)
            before = await to_thread.run_sync(self._stories.story(row.story).cast)
            story = await self._story_again(replace(row, fixes=row.fixes[:-1]))
            after = await to_thread.run_sync(story.cast)
            await self.store.undo(upload)
            self._stories.put(row.story, story)
            await to_thread.run_sync(self._shelf.thin_out, await self.store.one(upload), row)
            return change(f"Undone: {row.fixes[-1].what}", before, after)

    async def _on_stage(self, upload: str) -> UploadRow:
        row = await self.store.one(upload)
        progress = self.readings.of(upload)
        if row.deleted is not None or (progress is not None and (progress.running or progress.error)):
            raise Refused("this story is not on stage now, so nothing of it can be put right", 409)
        if not row.fixable:
            raise Refused("this is a story file: its cast was settled when it was made. Fix and send its sources", 409)
        return row

    # Putting away

    async def delete(self, upload: str) -> None:
        """Take a story off the stage; for a while it can be brought back. One that could not be read is forgotten."""
        async with self._turn(upload):
            progress = self.readings.of(upload)
            if progress is not None and progress.running:
                raise Refused("this story is being read: wait until that is done", 409)
            if progress is not None and not progress.known:
                self.readings.forget(upload)
                return
            row = await self.store.one(upload)
            if row.deleted is None:
                await self.store.delete(upload)
                self.readings.forget(upload)
                if self._is_on(row.story):
                    self._stories.remove(row.story)

    async def restore(self, upload: str) -> None:
        """Bring a deleted story back."""
        async with self._turn(upload):
            row = await self.store.one(upload)
            if row.deleted is None:
                return
            if await self.store.same(row.content) is not None:
                raise Refused("the same files have been sent again since: that story is here", 409)
            story = await self._story_again(row)
            await self.store.restore(upload)
            await self._put(row, story)

    # On stage

    def story_of(self, row: UploadRow) -> Story | None:
        """Its story, on stage or put away; None where it could not be read again."""
        if row.deleted is None and self.readings.of(row.id) is None and self._is_on(row.story):
            return self._stories.story(row.story)
        return self._shelf.story(row)

    def path_of(self, row: UploadRow) -> Path:
        """Its story file."""
        path = self._shelf.path(row)
        if not path.is_file():
            raise Refused("this story is not read yet", 409)
        return path

    async def _staged(self, row: UploadRow) -> bool:
        story = await to_thread.run_sync(self._shelf.story, row)
        if story is not None:
            await self._put(row, story)
        return story is not None

    async def _put(self, row: UploadRow, story: Story) -> None:
        name = row.story
        if self._is_on(name):  # by the server's own command line, since it was sent
            name = self._free_name(story.title)
            await self.store.rename(row.id, name)
        self._stories.put(name, story)

    async def _made_again(self, row: UploadRow) -> None:
        await self._put(row, await self._story_again(row))

    async def _story_again(self, row: UploadRow) -> Story:
        """Its story file, made from what was sent unless it is there."""
        if (story := await to_thread.run_sync(self._shelf.story, row)) is not None:
            return story
        with room():
            work = await to_thread.run_sync(self._shelf.new_work)
            try:
                await self._lay_out_again(row, work)
                await self._read(row.id, work)
                return await to_thread.run_sync(self._shelf.put, work, row)
            finally:
                await _removed(work)

    async def _lay_out_again(self, row: UploadRow, work: Path) -> None:
        (work / SENT).mkdir()
        for file in row.files:
            with (work / SENT / file.name).open("xb") as stream:
                async for piece in self.store.pieces(file):
                    await to_thread.run_sync(stream.write, piece)
        if row.was_fixed:
            (work / FIXED).write_text(row.cast_toml, encoding="utf-8")

    async def _read(self, upload: str, work: Path) -> bool:
        async with self._places:
            return await read_apart(work, self.limits, partial(self.readings.advance, upload))

    # Housekeeping

    async def _clear_away(self, uploads: list[str]) -> None:
        self._space.release(*uploads)
        for upload in uploads:
            await to_thread.run_sync(self._shelf.take_away, upload)

    def _turn(self, upload: str) -> asyncio.Lock:
        return self._turns.setdefault(upload, asyncio.Lock())

    def _is_on(self, name: str) -> bool:
        return any(name == other for other, _ in self._stories)

    def _free_name(self, title: str) -> str:
        name = plain = slug(title)
        number = 2
        while self._is_on(name):
            name, number = f"{plain}-{number}", number + 1
        return name


def _laid_out(work: Path, arrived: list[Arrived]) -> None:
    (work / SENT).mkdir()
    for one in arrived:
        one.path.replace(work / SENT / one.name)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig") if path.exists() else ""


def _content(arrived: list[Arrived]) -> str:
    told = sorted(f"{one.name}\0{one.content}" for one in arrived)
    return sha256("\0".join(told).encode()).hexdigest()


async def _removed(folder: Path) -> None:
    await to_thread.run_sync(shutil.rmtree, folder, True)
