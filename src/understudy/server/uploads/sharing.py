"""What the processes of one database tell each other about uploads: what is being read, and which stories there are.

Each process records its reading jobs and looks at the records of the others. Stories are compared by a short state of
each upload, so that looking costs two small queries.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

import msgspec

from understudy.database import Database
from understudy.errors import InputError
from understudy.server.database import ServerDatabase
from understudy.server.uploads.reading_jobs import ReadingJob
from understudy.server.uploads.store import SentFile

__all__ = ["UploadSharing", "UploadState"]

ALIVE_S = 10.0  # after which a job is taken for dead whose process says no more of it
NOW = "extract(epoch FROM clock_timestamp())"

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
            others = f"SELECT upload, state FROM reading_jobs WHERE holder <> ? AND until > {NOW}"
            uploads = """SELECT id, story, deleted, max(number), max(upload_fixes.made) FROM uploads
                         JOIN upload_fixes ON upload = id WHERE complete = 1 GROUP BY id, story, deleted"""
            jobs = [(str(upload), str(state)) for upload, state in db.rows(others, (self._holder,))]
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
