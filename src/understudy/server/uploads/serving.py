"""The uploads that are served here, and what the processes of one database tell each other about uploads.

Each process records its reading jobs and looks at the records of the others. Stories are compared by a short state of
each upload, so that looking costs two small queries.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Collection, Mapping, Sequence

import msgspec

from understudy.database import Database
from understudy.errors import InputError
from understudy.server.database import ServerDatabase
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads.reading_jobs import ReadingJob
from understudy.server.uploads.store import SentFile
from understudy.story.storyfile import Story

__all__ = ["ServedUploads", "UploadSharing", "UploadState", "slug"]

ALIVE_S = 10.0  # after which a job is taken for dead whose process says no more of it
NOW = "extract(epoch FROM clock_timestamp())"

MAX_SLUG = 40

UploadState = tuple[str, str | None, int, str]
"""Of an upload: its story's name, when it was deleted, and the number and time of its newest fix."""


class JobState(msgspec.Struct):
    """A reading job as the other processes see it."""

    files: list[tuple[int, str, int]]
    made: str
    is_stored: bool
    is_update: bool
    is_running: bool
    share: float
    step: str | None
    error: str | None


class UploadSharing:
    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        self._holder = secrets.token_hex(8)  # this process
        self._recorded: set[str] = set()

    async def record(self, jobs: Sequence[tuple[str, ReadingJob]]) -> list[str]:
        """Tell others of this process's jobs; returns those that another process has forgotten since."""
        if not jobs and not self._recorded:
            return []
        states = {upload: msgspec.json.encode(_state(job)).decode() for upload, job in jobs}

        def write(db: Database) -> list[str]:
            forgotten: list[str] = []
            for upload in self._recorded - states.keys():
                db.rows("DELETE FROM reading_jobs WHERE upload = ? AND holder = ?", (upload, self._holder))
            for upload, state in states.items():
                values = (state, ALIVE_S, upload, self._holder)
                changing = f"""UPDATE reading_jobs SET state = ?, until = {NOW} + ?
                               WHERE upload = ? AND holder = ? RETURNING upload"""
                if not db.rows(changing, values):
                    if upload in self._recorded:
                        forgotten.append(upload)
                    else:
                        db.rows("DELETE FROM reading_jobs WHERE upload = ?", (upload,))
                        adding = f"INSERT INTO reading_jobs (state, until, upload, holder) VALUES (?, {NOW} + ?, ?, ?)"
                        db.rows(adding, values)
            return forgotten

        forgotten = await self._database.run(write)
        self._recorded = states.keys() - set(forgotten)
        return forgotten

    async def forget(self, upload: str) -> None:
        await self._database.run(lambda db: db.rows("DELETE FROM reading_jobs WHERE upload = ?", (upload,)))

    async def clean_up(self) -> None:
        """Remove the jobs of processes that were killed."""
        await self._database.run(lambda db: db.rows(f"DELETE FROM reading_jobs WHERE until < {NOW}"))

    async def look(self) -> tuple[dict[str, ReadingJob], Mapping[str, UploadState]]:
        """The other processes' jobs, and the state of every upload."""

        def read(db: Database) -> tuple[list[tuple[str, str]], dict[str, UploadState]]:
            foreign = f"SELECT upload, state FROM reading_jobs WHERE holder <> ? AND until > {NOW}"
            uploads = """SELECT id, story, deleted, max(number), max(upload_fixes.made) FROM uploads
                         JOIN upload_fixes ON upload = id WHERE complete = 1 GROUP BY id, story, deleted"""
            jobs = [(str(upload), str(state)) for upload, state in db.rows(foreign, (self._holder,))]
            return jobs, {upload: (name, deleted, *fix) for upload, name, deleted, *fix in db.rows(uploads)}

        jobs, uploads = await self._database.read(read)
        return {upload: _job(msgspec.json.decode(state, type=JobState)) for upload, state in jobs}, uploads


def _state(job: ReadingJob) -> JobState:
    return JobState(
        files=[(file.number, file.name, file.size) for file in job.files],
        made=job.made,
        is_stored=job.is_stored,
        is_update=job.is_update,
        is_running=job.is_running,
        share=job.share,
        step=job.step,
        error=None if job.error is None else str(job.error),
    )


def _job(state: JobState) -> ReadingJob:
    return ReadingJob(
        files=tuple(SentFile(*file) for file in state.files),
        made=state.made,
        is_stored=state.is_stored,
        is_update=state.is_update,
        share=state.share,
        step=state.step,
        error=None if state.error is None else InputError(state.error),
        runs_elsewhere=state.is_running,
    )


class ServedUploads:
    """Stories of uploads in the registry, beside those of the command line, which may have taken a name."""

    def __init__(self, registry: StoryRegistry) -> None:
        self._registry = registry
        self._names: dict[str, str] = {}
        self.states: dict[str, UploadState] = {}
        """As they were served last; without those that must be looked at again."""

    def __contains__(self, upload: str) -> bool:
        return upload in self._names

    def name_of(self, upload: str) -> str | None:
        return self._names.get(upload)

    def names(self) -> set[str]:
        return set(self._names.values())

    def story(self, name: str) -> Story:
        return self._registry.story(name)

    def put(self, upload: str, name: str, story: Story) -> None:
        self._registry.put(name, story)
        self._names[upload] = name
        self.states.pop(upload, None)

    def remove(self, upload: str) -> None:
        self.states.pop(upload, None)
        name = self._names.pop(upload, "")
        if self.is_taken(name):
            self._registry.remove(name)

    def is_taken(self, name: str) -> bool:
        """Is a story served by this name, of an upload or of the command line?"""
        return any(name == served for served, _ in self._registry)

    def unused_name(self, title: str, taken: Collection[str] = ()) -> str:
        name = base = slug(title)
        number = 2
        while self.is_taken(name) or name in taken:
            name, number = f"{base}-{number}", number + 1
        return name


def slug(title: str) -> str:
    """A story's name in URLs: the letters and digits of its title, in any script."""
    plain = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", title).casefold())
    return plain[:MAX_SLUG].strip("-") or "story"
