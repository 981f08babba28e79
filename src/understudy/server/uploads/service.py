"""Uploads through their life: received, read under limits, served, corrected, deleted and restored.

Who the people of a story are is looked for behind it, once it is served and whenever its cast has been corrected.

The uploaded files and the fixes are in the database (`store`); the story files beside it (`storage`) can be made again
from them at any time.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from weakref import WeakValueDictionary

from anyio import to_thread

from understudy.errors import InputError, UnderstudyError
from understudy.formats import format_named
from understudy.formats.prose.corrections import read_corrections
from understudy.server.database import ServerDatabase
from understudy.server.problems import Refused
from understudy.server.story_registry import StoryRegistry
from understudy.server.telemetry import LOG
from understudy.server.uploads import reader_process, storage
from understudy.server.uploads.fixes import CastChange, Fix, QuotationFix, apply_fix, cast_change
from understudy.server.uploads.quotations import decide, decided_only, listed_quotations
from understudy.server.uploads.reading_jobs import ReadingJob, ReadingJobs, UploadSharing, UploadState, read_in_process
from understudy.server.uploads.store import AS_SENT, SentFile, StoredFix, StoryNameTaken, UploadRow, UploadStore
from understudy.story.storyfile import Story

SYNC_S = 1.0  # between two looks at what other processes did
INCOMPLETE_S = 3600  # after which an upload that another process may be receiving is taken for abandoned


class UploadService:
    """Opened when the server starts and closed when it stops: `await uploads.open()`, `await uploads.close()`."""

    def __init__(
        self,
        database: ServerDatabase,
        registry: StoryRegistry,
        folder: Path,
        limits: reader_process.UploadLimits | None = None,
        owns_folder: bool = True,
        looks_for_people: bool = True,
    ) -> None:
        """`owns_folder` where no other process uses the folder."""
        self.limits = limits or reader_process.UploadLimits()
        self.store = UploadStore(database)
        self.jobs = ReadingJobs()
        self.finding = ReadingJobs()
        """Those that look for people; nothing waits for them."""
        self._looks_for_people = looks_for_people
        self._sharing = UploadSharing(database) if database.is_shared else None
        self._syncing = asyncio.Lock()
        self._sync_task: asyncio.Task[None] | None = None
        self._owns_folder = owns_folder
        self._registry = registry
        self._names: dict[str, str] = {}
        """The names that uploads are served by, beside those of stories of the command line, which may take one."""
        self._states: dict[str, UploadState] = {}
        """Of uploads as they were served last; without those that must be looked at again."""
        self._files = storage.StoryFiles(folder)
        self._quota = storage.StorageQuota(self.limits.total_bytes)
        self._failed = storage.FailedUploads(self.limits.upload_bytes)
        self._first_reads: dict[str, str] = {}
        """Uploads being read for the first time, by content: the same files sent twice are read once."""
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._admission = asyncio.Lock()
        self._readers = asyncio.Semaphore(self.limits.concurrency)
        self._finders = asyncio.Semaphore(1)  # apart from the readers, so that nobody's upload waits for it

    async def open(self) -> None:
        """Serve every upload; those whose story file is missing follow as soon as they are read again."""
        if self._owns_folder:
            await self.clean_up()
        for row in await self.store.all():
            self._quota.record(row.id, row.size)
            if row.deleted is None and not await self._serve_from_file(row):
                self._read_again(row)
            elif row.deleted is None and self._owns_folder and not self._files.found_file(row.id).exists():
                await self._look_for_people(row)
        if self._sharing is not None:
            self._sync_task = asyncio.create_task(self._keep_in_sync())

    async def close(self) -> None:
        if self._sync_task is not None:
            self._sync_task.cancel()
        await self.finding.close()
        await self.jobs.close()

    async def clean_up(self) -> None:
        """Remove what a killed server left, and what was deleted long ago."""
        if self._sharing is not None:
            await self._sharing.clean_up()
        await self.store.purge_incomplete(0 if self._sharing is None else INCOMPLETE_S)
        await self.store.purge_old(self.limits.restore_s)
        await to_thread.run_sync(self._files.clean_up, await self.store.all())

    # Other processes

    async def sync(self) -> None:
        """Learn what other processes have read, corrected, deleted and restored, and tell them what is read here."""
        if self._sharing is None:
            return
        async with self._syncing:
            for upload in await self._sharing.record(self.jobs.own()):
                self.jobs.forget(upload)
            self.jobs.elsewhere, states = await self._sharing.look()
            for upload in self._states.keys() | states.keys():
                state = states.get(upload)
                if self._states.get(upload) != state and await self._follow(upload, state is not None) and state:
                    self._states[upload] = state

    async def has_more_stories(self) -> bool:
        """Has another process read stories in that were not known here until now?"""
        before = set(self._names.values())
        await self.sync()
        return not before.issuperset(self._names.values())

    async def _keep_in_sync(self) -> None:
        while True:
            await asyncio.sleep(SYNC_S)
            try:
                await self.sync()
            except UnderstudyError as error:  # the database cannot be reached: requests say so
                LOG.warning("other processes' stories could not be looked up: %s", type(error).__name__)

    async def _follow(self, upload: str, exists: bool) -> bool:
        """Serve an upload as it is in the database now, or no longer; False where its story is still being read."""
        row = await self.store.find(upload) if exists else None
        if row is None or row.deleted is not None or row.story != self._names.get(upload, row.story):
            self._stop_serving(upload)
        if row is None:
            self._quota.release(upload)
            return True
        self._quota.record(row.id, row.size)
        if row.deleted is not None:
            return True
        served = self._registry.story(row.story) if row.story in self._registry else None
        if served is not None and (upload not in self._names or served.path == self._files.path(row)):
            return True
        story = await to_thread.run_sync(self._files.open, row)
        if story is not None:
            self._put(row.id, row.story, story)
        elif self.jobs.get(upload) is None:
            self._read_again(row)
        return story is not None

    # Receiving

    async def receive(self, content_type: str, chunks: AsyncIterator[bytes]) -> tuple[str, bool]:
        """Receive the files of a form and start to read them; returns the id, and whether the upload existed."""
        await self._delete_files(await self.store.purge_old(self.limits.restore_s))
        upload = secrets.token_hex(8)
        with storage.refuse_if_disk_full():
            work = await to_thread.run_sync(self._files.new_work_folder)
        try:
            received = await storage.receive(content_type, self._quota.metered(upload, chunks), work, self.limits)
            content = received.content
            async with self._admission:
                existing = self._first_reads.get(content)
                if existing is None and (row := await self.store.find_by_content(content)) is not None:
                    existing = row.id
                if existing is None:
                    await self._check_count()
                    self._quota.reserve(upload, received.size)
                    await to_thread.run_sync(_move_received, work, received.files)
                    self._start_first_read(upload, work, received)
                    await self.sync()
                    return upload, False
        except BaseException:
            await self._discard(upload, work)
            raise
        await self._discard(upload, work)
        return existing, True

    def can_retry(self, upload: str) -> bool:
        """Are the files of an upload that could not be read still here?"""
        return upload in self._failed

    async def retry(self, upload: str, form: str) -> None:
        """Start to read the files of an upload that failed again, as the format named, or as what they look like."""
        try:
            form = format_named(form).name if form else ""
        except InputError as error:
            raise Refused(str(error), 404) from error
        async with self._lock(upload), self._admission:
            failed = self._failed.take(upload)
            if failed is None:
                raise Refused("its files are here no more: send them again", 409)
            try:
                await self._check_count()
                self._quota.reserve(upload, failed.received.size)
            except Refused:
                await to_thread.run_sync(self._failed.keep, upload, failed)
                raise
            self._start_first_read(upload, failed.work, replace(failed.received, form=form))

    async def _check_count(self) -> None:
        if await self.store.count() + len(self._first_reads) >= self.limits.uploads:
            raise Refused(f"{self.limits.uploads} stories are here already: delete one first", 409)

    async def _discard(self, upload: str, work: Path) -> None:
        self._quota.release(upload)
        await _remove_folder(work)

    def _start_first_read(self, upload: str, work: Path, received: storage.ReceivedForm) -> None:
        made = datetime.now(UTC).isoformat(timespec="milliseconds")
        files = tuple(SentFile(number, file.name, file.size) for number, file in enumerate(received.files, 1))
        row = UploadRow(upload, "", received.content, made, True, None, files, (), received.form)
        self._first_reads[row.content] = upload
        self.jobs.start(upload, ReadingJob(files, made), self._first_read(row, work, received))

    async def _first_read(self, row: UploadRow, work: Path, received: storage.ReceivedForm) -> None:
        try:
            sent = [work / reader_process.SENT_FOLDER / file.name for file in received.files]
            fixable = await self._read(row, work)
            cast_toml = await to_thread.run_sync(_read_text, work / reader_process.USED_CAST)
            decided = await to_thread.run_sync(_decided_in, work / reader_process.USED_QUOTATIONS)
            first = StoredFix(0, AS_SENT, cast_toml, row.made, decided)
            row = replace(row, fixable=fixable, fixes=(first,))
            story = await to_thread.run_sync(self._files.adopt, work, row)
            replaced = await self._store_first(row, story, sent)
        except InputError:
            self._quota.release(row.id)
            await to_thread.run_sync(self._failed.keep, row.id, storage.FailedUpload(work, received))
            raise
        except BaseException:
            await self._discard(row.id, work)
            raise
        finally:
            self._first_reads.pop(row.content, None)
        await _remove_folder(work)
        await self._delete_files(replaced)
        await self._look_for_people(row)

    async def _store_first(self, row: UploadRow, story: Story, sent: list[Path]) -> list[str]:
        """Serve and store a story that was read for the first time, by a name that no other has."""
        taken = set[str]()
        while True:
            named = replace(row, story=self._registry.unused_name(story.title, taken))
            self._put(row.id, named.story, story)  # before it is stored, so that no other upload takes the name
            try:
                return await self.store.add(named, sent)
            except StoryNameTaken:
                self._stop_serving(row.id)
                taken.add(named.story)
            except BaseException:
                self._stop_serving(row.id)
                self._files.delete(row.id)
                raise

    # Correcting

    async def fix(self, upload: str, fix: Fix) -> CastChange:
        """Apply a fix and read the story again; if that fails, nothing has changed.

        What is decided about a quotation is kept at once and read into the story afterwards, since a novel takes a
        while and its author has many to decide.
        """
        async with self._lock(upload):
            row = await self._fixable_row(upload)
            newest, served = row.fixes[-1], self._registry.story(row.story)
            cast = [member.character for member in await to_thread.run_sync(served.cast)]
            if isinstance(fix, QuotationFix):
                corrections = await to_thread.run_sync(listed_quotations, served, row.quotations_toml)
                quotations_toml, what = decide(corrections, fix, cast)
                cast_toml = row.cast_toml
            else:
                is_prose = (await to_thread.run_sync(served.attributed_lines)).lines > 0
                cast_toml, what = apply_fix(row.cast_toml, fix, cast, is_prose)
                quotations_toml = row.quotations_toml
            if (cast_toml, quotations_toml) == (row.cast_toml, row.quotations_toml):
                raise InputError("this would change nothing")
            added = StoredFix(newest.number + 1, what, cast_toml, "", quotations_toml)
            store = partial(self.store.add_fix, upload, newest.number, what, cast_toml, quotations_toml)
            return await self._change(row, replace(row, fixes=(*row.fixes, added)), what, store)

    async def undo(self, upload: str) -> CastChange:
        """Undo the last fix."""
        async with self._lock(upload):
            row = await self._fixable_row(upload)
            if not row.was_fixed:
                raise Refused("there is nothing to undo: it is as it was sent", 409)
            newest = row.fixes[-1]
            store = partial(self.store.delete_fix, upload, newest.number)
            return await self._change(row, replace(row, fixes=row.fixes[:-1]), f"Undone: {newest.what}", store)

    async def _change(
        self, row: UploadRow, changed: UploadRow, what: str, store: Callable[[], Awaitable[None]]
    ) -> CastChange:
        """`store` the change; a story whose cast is another is read first, one with other quotations behind it."""
        if changed.cast_toml == row.cast_toml:
            await store()
            return await self._update_behind(row, what)
        served = self._registry.story(row.story)
        before = await to_thread.run_sync(served.cast)
        story = await self._open_or_read(changed)
        after = await to_thread.run_sync(story.cast)
        await store()
        await self._replace(row, served, story)
        return cast_change(what, before, after)

    async def _update_behind(self, row: UploadRow, what: str) -> CastChange:
        """Read the newest decisions into the served story, behind it; a reading that is under way goes on to them."""
        job = self.jobs.get(row.id)
        if job is None or not job.is_running:
            job = ReadingJob(row.files, row.made, is_stored=True, is_update=True)
            self.jobs.start(row.id, job, self._update(row.id))
        await self.sync()
        return CastChange(what, [], [], {})

    async def _update(self, upload: str) -> None:
        while True:
            row = await self.store.get(upload)
            try:
                story = await self._open_or_read(row)
            except InputError:
                if self._files.path(await self.store.get(upload)) == self._files.path(row):
                    raise
                continue  # a fix of the cast was faster, and has deleted this file
            async with self._lock(upload):
                newest = await self.store.get(upload)
                if self._files.path(newest) != self._files.path(row):
                    continue  # another decision was made meanwhile
                if newest.deleted is None:
                    await self._replace(row, self._registry.story(row.story), story)
                self.jobs.forget(upload)  # within the lock: the next decision starts an update of its own
                return

    async def _fixable_row(self, upload: str) -> UploadRow:
        row = await self.store.get(upload)
        job = self.jobs.get(upload)
        off_stage = job is not None and not job.is_update and (job.is_running or job.error is not None)
        if row.deleted is not None or off_stage:
            raise Refused("this story is not on stage now, so nothing of it can be put right", 409)
        if not row.fixable:
            raise Refused("this is a story file: its cast was settled when it was made. Fix and send its sources", 409)
        return row

    # Deleting

    async def delete(self, upload: str) -> None:
        """Stop serving a story; for a while it can be restored. One that could not be read is forgotten at once."""
        async with self._lock(upload):
            job = self.jobs.get(upload)
            if job is not None and job.is_running:
                raise Refused("this story is being read: wait until that is done", 409)
            if job is not None and not job.is_stored:
                self.jobs.forget(upload)
                await to_thread.run_sync(self._failed.discard, upload)
                if self._sharing is not None:
                    await self._sharing.forget(upload)
                return
            row = await self.store.get(upload)
            if row.deleted is None:
                await self.store.delete(upload)
                await self.finding.cancel(upload)
                self.jobs.forget(upload)
                self._stop_serving(upload)

    async def restore(self, upload: str) -> None:
        """Restore a deleted story."""
        async with self._lock(upload):
            row = await self.store.get(upload)
            if row.deleted is None:
                return
            if await self.store.find_by_content(row.content) is not None:
                raise Refused("the same files have been sent again since: that story is here", 409)
            story = await self._open_or_read(row)
            await self.store.restore(upload)
            await self._serve(row, story)

    # Serving

    def story_of(self, row: UploadRow) -> Story | None:
        """The story of an upload, served or deleted; None if it could not be read again."""
        job = self.jobs.get(row.id)
        if row.deleted is None and (job is None or job.is_update) and row.story in self._registry:
            return self._registry.story(row.story)
        return self._files.open(row)

    def story_path(self, row: UploadRow) -> Path:
        """The story file of an upload."""
        path = self._files.path(row)
        if not path.is_file():
            raise Refused("this story is not read yet", 409)
        return path

    async def _serve_from_file(self, row: UploadRow) -> bool:
        story = await to_thread.run_sync(self._files.open, row)
        if story is not None:
            await self._serve(row, story)
        return story is not None

    async def _serve(self, row: UploadRow, story: Story) -> None:
        name = row.story
        if name in self._registry and self._names.get(row.id) != name:  # one of the command line has taken it since
            name = self._registry.unused_name(story.title)
            await self.store.rename(row.id, name)
        self._put(row.id, name, story)

    def _put(self, upload: str, name: str, story: Story) -> None:
        self._registry.put(name, story)
        self._names[upload] = name
        self._states.pop(upload, None)

    def _stop_serving(self, upload: str) -> None:
        self._states.pop(upload, None)
        if (name := self._names.pop(upload, "")) in self._registry:
            self._registry.remove(name)

    def _read_again(self, row: UploadRow) -> None:
        async def read() -> None:
            await self._serve(row, await self._open_or_read(row))

        self.jobs.start(row.id, ReadingJob(row.files, row.made, is_stored=True), read())

    async def _open_or_read(self, row: UploadRow) -> Story:
        """The story from its file, or read again from the uploaded files."""
        if (story := await to_thread.run_sync(self._files.open, row)) is not None:
            return story
        with storage.refuse_if_disk_full():
            async with self._work_folder() as work:
                await self._export_files(row, work)
                await self._read(row, work)
                return await to_thread.run_sync(self._files.adopt, work, row)

    @asynccontextmanager
    async def _work_folder(self) -> AsyncIterator[Path]:
        work = await to_thread.run_sync(self._files.new_work_folder)
        try:
            yield work
        finally:
            await _remove_folder(work)

    async def _export_files(self, row: UploadRow, work: Path) -> None:
        (work / reader_process.SENT_FOLDER).mkdir()
        for file in row.files:
            with (work / reader_process.SENT_FOLDER / file.name).open("xb") as stream:
                async for piece in self.store.pieces(file):
                    await to_thread.run_sync(stream.write, piece)
        if row.was_fixed:
            (work / reader_process.FIXED_CAST).write_text(row.cast_toml, encoding="utf-8")
        if row.quotations_toml:
            (work / reader_process.FIXED_QUOTATIONS).write_text(row.quotations_toml, encoding="utf-8")

    async def _read(self, row: UploadRow, work: Path) -> bool:
        async with self._readers:
            return await read_in_process(work, self.limits, partial(self.jobs.set_progress, row.id), row.form)

    # People

    async def _look_for_people(self, row: UploadRow) -> None:
        """Look for the people of a story that is served; of one that has been read anew in the place of the older."""
        if self._looks_for_people:
            await self.finding.cancel(row.id)
            self.finding.start(row.id, ReadingJob(row.files, row.made, is_stored=True), self._find_people(row))

    async def _find_people(self, row: UploadRow) -> None:
        try:
            async with self._work_folder() as work:
                before = await to_thread.run_sync(self._files.copy_found, row.id, work)
                progress = partial(self.finding.set_progress, row.id)
                async with self._finders:
                    await read_in_process(work, self.limits, progress, story=self._files.path(row))
                is_kept = await to_thread.run_sync(self._files.adopt_found, row.id, work, before)
        except InputError as error:  # the story is of use without
            LOG.warning("the people of an upload could not be looked for: %s", error.message)
            return
        if is_kept and (name := self._names.get(row.id)) is not None:
            self._put(row.id, name, self._registry.story(name))  # characters that were made before are made anew

    # Helpers

    async def _replace(self, row: UploadRow, served: Story, story: Story) -> None:
        """Serve a newer reading of a story instead of the one that was served."""
        self._put(row.id, row.story, story)
        newest = await self.store.get(row.id)
        if self._owns_folder:  # else another process may be serving an earlier file; the next start deletes it
            await to_thread.run_sync(self._files.prune, newest, served)
        await self._look_for_people(newest)

    async def _delete_files(self, uploads: list[str]) -> None:
        self._quota.release(*uploads)
        for upload in uploads:
            await to_thread.run_sync(self._files.delete, upload)

    def _lock(self, upload: str) -> asyncio.Lock:
        return self._locks.setdefault(upload, asyncio.Lock())


def _move_received(work: Path, received: list[storage.ReceivedFile]) -> None:
    (work / reader_process.SENT_FOLDER).mkdir()
    for file in received:
        file.path.replace(work / reader_process.SENT_FOLDER / file.name)


def _read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig") if path.exists() else ""


def _decided_in(path: Path) -> str:
    return decided_only(read_corrections(path))


async def _remove_folder(folder: Path) -> None:
    await to_thread.run_sync(shutil.rmtree, folder, True)
