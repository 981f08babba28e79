"""Jobs that read uploads, and look for their people: one asyncio task each, which runs a reader process of its own.

A file that would take for ever, or all memory, then costs the server nothing: the process is limited and killed.

Processes that share a database record their jobs there and look at those of the others. Stories are compared by a short
state of each upload, so that looking costs two small queries.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from understudy.database import Database
from understudy.errors import InputError, UnderstudyError
from understudy.server.database import ServerDatabase
from understudy.server.problems import Refused
from understudy.server.telemetry import LOG
from understudy.server.uploads.reader_process import MIB, UploadLimits
from understudy.server.uploads.storage import refuse_if_disk_full
from understudy.server.uploads.store import SentFile

MAX_FAILURES = 100  # failed jobs that are remembered
MAX_RESULT_BYTES = 64 * 1024
LOOK_S = 0.2  # between two looks at a job of another process
ALIVE_S = 10.0  # after which a job is taken for dead whose process says no more of it
NOW = "extract(epoch FROM clock_timestamp())"
PASSED_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
"""Environment variables the reader process gets; API keys are not among them."""

OnProgress: TypeAlias = Callable[[float, str | None], None]
"""Called with the share that has been read, and what is being read, in words."""
UploadState: TypeAlias = tuple[str, str | None, int, str]
"""Of an upload: its story's name, when it was deleted, and the number and time of its newest fix."""


@dataclass(slots=True)
class ReadingJob:
    """A job that is running or has failed."""

    files: tuple[SentFile, ...]
    made: str
    is_stored: bool = False
    """Whether the upload is in the database already and is only read again."""
    is_update: bool = False
    """Whether corrections are read into a story that is served as it was until then."""
    share: float = 0.0
    step: str | None = None
    """What is being read, in words."""
    error: UnderstudyError | None = None
    task: asyncio.Task[None] | None = None
    runs_elsewhere: bool = False
    """Whether another process of the server is running it."""

    @property
    def is_running(self) -> bool:
        return self.runs_elsewhere or (self.task is not None and not self.task.done())


class ReadingJobs:
    """Running and failed jobs by upload; a job that succeeds is removed. `elsewhere` are those of other processes."""

    def __init__(self) -> None:
        self._jobs: dict[str, ReadingJob] = {}
        self.elsewhere: dict[str, ReadingJob] = {}

    def get(self, upload: str) -> ReadingJob | None:
        """None if the upload has been read, or does not exist."""
        return self._jobs.get(upload) or self.elsewhere.get(upload)

    def own(self) -> list[tuple[str, ReadingJob]]:
        return list(self._jobs.items())

    def all(self) -> list[tuple[str, ReadingJob]]:
        """Newest first."""
        jobs = reversed({**self.elsewhere, **self._jobs}.items())
        return sorted(jobs, key=lambda item: item[1].made, reverse=True)

    def start(self, upload: str, job: ReadingJob, work: Coroutine[Any, Any, None]) -> None:
        self._jobs[upload] = job
        job.task = asyncio.create_task(self._run(upload, job, work))
        failed = [name for name, entry in self._jobs.items() if entry.error is not None and not entry.is_stored]
        for name in failed[:-MAX_FAILURES]:
            del self._jobs[name]

    def set_progress(self, upload: str, share: float, step: str | None) -> None:
        """Note the share of the upload that has been read, 0 to 1, and what is being read."""
        if (job := self._jobs.get(upload)) is not None:
            job.share, job.step = share, step

    async def wait(self, upload: str) -> None:
        """Until the job ends; raises its error if it failed."""
        while (job := self.get(upload)) is not None and job.runs_elsewhere:
            await asyncio.sleep(LOOK_S)
        if job is not None and job.task is not None:
            await asyncio.wait({job.task})
        if job is not None and job.error is not None:
            raise job.error

    def forget(self, upload: str) -> None:
        self._jobs.pop(upload, None)
        self.elsewhere.pop(upload, None)

    async def cancel(self, upload: str) -> None:
        """Stop a job whose result is not wanted any more; it is gone when this returns."""
        job = self._jobs.pop(upload, None)
        if job is not None and job.task is not None:
            job.task.cancel()
            await asyncio.wait({job.task})

    async def close(self) -> None:
        tasks = [job.task for job in self._jobs.values() if job.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, upload: str, job: ReadingJob, work: Coroutine[Any, Any, None]) -> None:
        try:
            with refuse_if_disk_full():
                await work
            if self._jobs.get(upload) is job:
                del self._jobs[upload]
        except UnderstudyError as error:
            job.error = error
        except Exception as error:  # its message may quote the upload, so only its type is logged
            LOG.error("an upload failed: %s", type(error).__name__)
            job.error = Refused("the server failed to read this: try again", 500)


class UploadSharing:
    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        self._holder = secrets.token_hex(8)  # this process
        self._recorded: set[str] = set()

    async def record(self, jobs: Sequence[tuple[str, ReadingJob]]) -> list[str]:
        """Tell others of this process's jobs; returns those that another process has forgotten since."""
        if not jobs and not self._recorded:
            return []
        states = {upload: _encoded(job) for upload, job in jobs}
        changing = f"""UPDATE reading_jobs SET state = ?, until = {NOW} + ?
                       WHERE upload = ? AND holder = ? RETURNING upload"""
        adding = f"""INSERT INTO reading_jobs (state, until, upload, holder) VALUES (?, {NOW} + ?, ?, ?)
                     ON CONFLICT (upload) DO UPDATE
                     SET state = excluded.state, until = excluded.until, holder = excluded.holder"""

        def write(db: Database) -> list[str]:
            forgotten: list[str] = []
            for upload in self._recorded - states.keys():
                db.rows("DELETE FROM reading_jobs WHERE upload = ? AND holder = ?", (upload, self._holder))
            for upload, state in states.items():
                values = (state, ALIVE_S, upload, self._holder)
                if upload not in self._recorded:
                    db.rows(adding, values)
                elif not db.rows(changing, values):
                    forgotten.append(upload)
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
        return {upload: _decoded(state) for upload, state in jobs}, uploads


def _encoded(job: ReadingJob) -> str:
    """A job as the other processes see it."""
    return msgspec.json.encode(replace(job, task=None, runs_elsewhere=job.is_running), enc_hook=str).decode()


def _decoded(state: str) -> ReadingJob:
    return msgspec.json.decode(state, type=ReadingJob, dec_hook=lambda _, message: InputError(message))


async def read_in_process(
    work: Path, limits: UploadLimits, on_progress: OnProgress, form: str = "", story: Path | None = None
) -> bool:
    """Run a `reader_process` on a work folder; returns whether the cast can be corrected by fixes.

    `form` names the reader that is to take the files. Of a `story` that has been read, its people are looked for.

    Raises an `InputError` with the reader's message if the upload cannot be read. The process never outlives the call.
    """
    starting = asyncio.ensure_future(_started_process(work))
    try:
        process = await asyncio.shield(starting)
    except asyncio.CancelledError:  # a start that is cancelled itself may wait for its pipes for ever
        process = await starting
        process.kill()
        await process.wait()
        raise
    try:
        async with asyncio.timeout(limits.timeout_s):
            request = {"work": str(work), "limits": asdict(limits), "form": form, "story": story and str(story)}
            result = await _result(process, request, on_progress)
            await process.wait()
    except TimeoutError:
        raise InputError(f"takes longer than {limits.timeout_s} s to read: send it in parts") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(process.wait())
    if result is None:
        raise InputError(
            f"took more than {limits.timeout_s} s or {limits.memory_bytes // MIB:,} MB of memory to read: "
            "send it in parts"
        )
    if "refused" in result:
        raise InputError(str(result["refused"]), result.get("file"), result.get("line"))
    return bool(result["fixable"])


async def _started_process(work: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "understudy.server.uploads.reader_process",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env=_environment(work), cwd="/", start_new_session=True, limit=MAX_RESULT_BYTES,
    )  # fmt: skip


async def _result(
    process: asyncio.subprocess.Process, request: dict[str, Any], on_progress: OnProgress
) -> dict[str, Any] | None:
    """The last message that is not a progress report; None if the process ended without one."""
    assert process.stdin is not None
    assert process.stdout is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(json.dumps(request).encode())
        await process.stdin.drain()
    process.stdin.close()
    result: dict[str, Any] | None = None
    async for line in process.stdout:
        message = json.loads(line)
        if "share" in message:
            on_progress(float(message["share"]), message.get("step"))
        else:
            result = message
    return result


def _environment(work: Path) -> dict[str, str]:
    passed = {name: os.environ[name] for name in PASSED_ENVIRONMENT if name in os.environ}
    own = {name: str(work) for name in ("TMPDIR", "SQLITE_TMPDIR", "UNDERSTUDY_CACHE")}
    return {**passed, **own, "PYTHONDONTWRITEBYTECODE": "1"}
