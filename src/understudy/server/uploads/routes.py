"""HTTP operations on uploads. They are for authors: a report covers the whole story, its end included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from itertools import islice
from typing import Annotated, Literal

import msgspec
from anyio import to_thread
from starlette.responses import FileResponse, Response, StreamingResponse

from understudy.formats.documents import reading_document
from understudy.server.operations import EVENTS, Call, Operations, attachment
from understudy.server.problems import Refused
from understudy.server.streaming import EventStream, server_event
from understudy.server.uploads.fixes import CastChange, Fix
from understudy.server.uploads.quotations import (
    QuotationFilter,
    QuotationListing,
    doubtful_quotations,
    listed_quotations,
)
from understudy.server.uploads.reading_jobs import ReadingJob
from understudy.server.uploads.service import UploadService
from understudy.server.uploads.storage import FORMAT, TEXT, TITLE
from understudy.server.uploads.store import SentFile, UploadRow
from understudy.story.storyfile import CastMember, Story

PROGRESS_INTERVAL_S = 0.2
BINARY = "application/octet-stream"
FORM = {
    "type": "object",
    "properties": {
        "file": {
            "type": "array",
            "items": {"type": "string", "format": "binary"},
            "description": "A novel, scripts, a card, a story file, a cast.toml, or one zip of a story folder.",
        },
        TEXT: {"type": "string", "description": "A script as text, instead of a file."},
        TITLE: {"type": "string", "maxLength": 200, "description": "What to call a script sent as text."},
        FORMAT: {"type": "string", "description": "The format to read them as; without it, what they look like."},
    },
}


class UploadedFile(msgspec.Struct):
    """A file as it was sent."""

    number: int
    name: str
    size: int


class AppliedFix(msgspec.Struct):
    number: int
    what: str
    made: str


class Upload(msgspec.Struct, kw_only=True):
    """An uploaded story. If it cannot be read, `problem` says why."""

    id: str
    state: Literal["reading", "ready", "failed", "deleted"]
    story: str | None
    """The name it is served by, once it has been read."""
    title: str
    language: str | None
    scenes: int
    lines: int
    people: int
    made: str
    files: list[UploadedFile]
    fixes: list[AppliedFix]
    fixable: bool
    """Whether its cast can be corrected here; that of a story file was settled when it was made."""
    share: float
    """How much of it has been read, 0 to 1."""
    step: str | None = None
    """What of it is being read: 'Chapter 12 of 55'."""
    form: str | None = None
    """The format that it was to be read as; null where its content decided."""
    doubtful: int = 0
    """Lines whose speakers were worked out less surely than they should be."""
    updating: bool = False
    """Whether corrections are being read into it; it is served as it was until then."""
    finding: bool = False
    """Whether its text is being looked through for who its people are; `share` and `step` say how far."""
    problem: str | None = None
    can_retry: bool = False
    """Whether it failed, and its files are still here to be read as another format."""
    already: bool = False
    """Whether the same files had been uploaded before."""


class Uploads(msgspec.Struct):
    uploads: list[Upload]


class Total(msgspec.Struct):
    """What became of source lines. The last four counts add up to `units`."""

    units: int
    lines: int
    descriptions: int
    headings: int
    unread: int


class FileReport(Total, kw_only=True):
    file: str
    format: str
    reasons: dict[str, int]


class UnreadLine(msgspec.Struct):
    file: str
    line: int
    text: str
    reason: str


class PersonReport(msgspec.Struct):
    name: str
    aliases: list[str]
    profile: list[str]
    lines: int
    first: str | None
    last: str | None


class ReadingReport(msgspec.Struct):
    """What became of every source line. It covers the whole story, its end included: it is for authors."""

    levels: list[str]
    files: list[FileReport]
    total: Total
    unread: list[UnreadLine]
    """The first of them; `total` counts all."""
    cast: list[PersonReport]


class UploadReport(Upload, kw_only=True):
    report: ReadingReport | None = None
    cast_toml: str = ""
    change: CastChange | None = None


def reading_report(story: Story, max_unread: int) -> ReadingReport:
    document = reading_document(story, islice(story.unread(), max_unread))
    document["cast"] = list(_people(story.cast()))
    return msgspec.convert(document, ReadingReport, from_attributes=True)


def _people(cast: tuple[CastMember, ...]) -> Iterator[PersonReport]:
    for member in cast:
        who = member.character
        first, last = (moment.dotted if moment else None for moment in (member.first, member.last))
        yield PersonReport(who.name, list(who.aliases), list(who.profile), member.lines, first, last)


class SendQuery(msgspec.Struct):
    wait: bool = True
    """Respond when the upload has been read; else at once, and its progress can be followed."""


class ProgressQuery(msgspec.Struct):
    people: bool = False
    """Follow how its people are looked for, too."""


class ReportQuery(msgspec.Struct):
    unread: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 200
    """How many of the unread lines are listed."""


class QuotationsQuery(msgspec.Struct):
    decided: bool = False
    """Those that were decided, instead of those that are doubtful."""
    chapter: str = ""
    speaker: str = ""
    offset: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20


class RetryRequest(msgspec.Struct, forbid_unknown_fields=True):
    form: str = ""
    """The format to read it as; without it, what it looks like."""


class FixRequest(msgspec.Struct, forbid_unknown_fields=True):
    fix: Fix


async def all_uploads(uploads: UploadService) -> list[Upload]:
    """Every upload, newest first; those being read for the first time before all others."""
    await uploads.sync()
    rows = await uploads.store.all()
    known = {row.id for row in rows}
    unstored = [_unstored_summary(uploads, name, job) for name, job in uploads.jobs.all() if name not in known]
    return [*unstored, *[await to_thread.run_sync(_summary, uploads, row) for row in reversed(rows)]]


async def upload_report(
    uploads: UploadService, upload: str, max_unread: int = 200, change: CastChange | None = None
) -> UploadReport:
    """An upload with its reader's report."""
    await uploads.sync()
    job = uploads.jobs.get(upload)
    try:
        row = await uploads.store.get(upload)
    except Refused:
        if job is None:
            raise
        return UploadReport(**msgspec.structs.asdict(_unstored_summary(uploads, upload, job)))
    return await to_thread.run_sync(_report, uploads, row, max_unread, change)


async def quotations_of(uploads: UploadService, upload: str, wanted: QuotationFilter) -> QuotationListing:
    """The quotations of an upload that its author should look at."""
    row = await uploads.store.get(upload)

    def listed() -> QuotationListing:
        story = uploads.story_of(row)
        if story is None:
            raise Refused("this story is not read yet", 409)
        return doubtful_quotations(story, listed_quotations(story, row.quotations_toml), wanted)

    return await to_thread.run_sync(listed)


def _report(uploads: UploadService, row: UploadRow, max_unread: int, change: CastChange | None) -> UploadReport:
    story = uploads.story_of(row)
    return UploadReport(
        **msgspec.structs.asdict(_summary(uploads, row)),
        report=None if story is None else reading_report(story, max_unread),
        cast_toml=row.cast_toml,
        change=change,
    )


def _summary(uploads: UploadService, row: UploadRow) -> Upload:
    story, job, finding = uploads.story_of(row), uploads.jobs.get(row.id), uploads.finding.get(row.id)
    upload = _blank(row.id, row.files, row.made)
    upload.state, upload.story = ("ready", row.story) if row.deleted is None else ("deleted", None)
    upload.fixes = [AppliedFix(fix.number, fix.what, fix.made) for fix in row.fixes[1:]]
    upload.fixable, upload.form, upload.share = row.fixable, row.form or None, 1.0
    if story is not None:
        upload.title, upload.language = story.title, story.language
        upload.scenes, upload.lines = story.count()
        upload.people, upload.doubtful = len(story.cast()), story.attributed_lines().doubtful
    if job is None and finding is not None and finding.is_running:
        upload.finding, upload.share, upload.step = True, finding.share, finding.step
    return upload if job is None else _with_job(upload, job)


def _unstored_summary(uploads: UploadService, upload: str, job: ReadingJob) -> Upload:
    """An upload that is being read for the first time, or could not be read."""
    summary = _blank(upload, job.files, job.made)
    summary.can_retry = uploads.can_retry(upload)
    return _with_job(summary, job)


def _blank(upload: str, files: Sequence[SentFile], made: str) -> Upload:
    sent = [UploadedFile(number, file.name, file.size) for number, file in enumerate(files, 1)]
    return Upload(
        id=upload, state="reading", story=None, title=files[0].name, language=None, scenes=0, lines=0, people=0,
        made=made, files=sent, fixes=[], fixable=False, share=0.0,
    )  # fmt: skip


def _with_job(upload: Upload, job: ReadingJob) -> Upload:
    upload.share, upload.step = job.share, job.step
    upload.problem = None if job.error is None else str(job.error)
    if job.is_update:
        upload.updating = job.is_running
    else:
        upload.state = "reading" if job.error is None else "failed"
        upload.story = None
    return upload


UPLOAD = "/api/uploads/{upload}"
OPERATIONS = Operations("uploads")


@OPERATIONS(
    "POST", "/api/uploads", "Send the files of one story, as a form; it is read and put on stage", form=FORM,
    status=201, refuses=(409, 507),
)  # fmt: skip
async def _send(call: Call, query: SendQuery) -> UploadReport:
    uploads = call.context.uploads
    upload, already = await uploads.receive(call.request.headers.get("content-type", ""), call.request.stream())
    if query.wait:
        await uploads.jobs.wait(upload)
    report = await upload_report(uploads, upload)
    report.already = already
    return report


@OPERATIONS("GET", "/api/uploads", "Every story that was sent")
async def _list(call: Call) -> Uploads:
    return Uploads(await all_uploads(call.context.uploads))


@OPERATIONS("GET", UPLOAD, "A story that was sent, with the reader's report of all of it")
async def _get(call: Call, query: ReportQuery) -> UploadReport:
    return await upload_report(call.context.uploads, call.path("upload"), query.unread)


@OPERATIONS("GET", f"{UPLOAD}/progress", "How far its reading is, as server-sent events", media=EVENTS)
async def _progress(call: Call, query: ProgressQuery) -> Response:
    uploads, upload = call.context.uploads, call.path("upload")
    await upload_report(uploads, upload, 0)  # a missing upload is an error status, not an event

    def running() -> ReadingJob | None:
        jobs = (uploads.jobs.get(upload), uploads.finding.get(upload) if query.people else None)
        return next((job for job in jobs if job is not None and job.is_running), None)

    async def events() -> AsyncGenerator[bytes, None]:
        while (job := running()) is not None:
            yield server_event("progress", {"share": job.share, "step": job.step})
            if job.task is not None:
                await asyncio.wait({job.task}, timeout=PROGRESS_INTERVAL_S)
            else:
                await asyncio.sleep(PROGRESS_INTERVAL_S)
        yield server_event("done", await upload_report(uploads, upload, 0))

    return EventStream(events())


@OPERATIONS(
    "GET", f"{UPLOAD}/quotations", "Quotations whose speakers are doubtful, with the text around them", refuses=(409,)
)
async def _quotations(call: Call, query: QuotationsQuery) -> QuotationListing:
    wanted = QuotationFilter(**msgspec.structs.asdict(query))
    return await quotations_of(call.context.uploads, call.path("upload"), wanted)


@OPERATIONS("PATCH", UPLOAD, "Put something of its cast or a speaker right and read it again", refuses=(409, 507))
async def _fix(call: Call, body: FixRequest) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    return await upload_report(uploads, upload, change=await uploads.fix(upload, body.fix))


@OPERATIONS("POST", f"{UPLOAD}/undo", "Take the last fix back", refuses=(409, 507))
async def _undo(call: Call) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    return await upload_report(uploads, upload, change=await uploads.undo(upload))


@OPERATIONS("DELETE", UPLOAD, "Take it off the stage; for a day it can be brought back", refuses=(409, 507))
async def _delete(call: Call) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    report = await upload_report(uploads, upload, 0)
    await uploads.delete(upload)
    report.state, report.story = "deleted", None
    return report


@OPERATIONS("POST", f"{UPLOAD}/retry", "Read one that could not be read as another format", refuses=(409, 507))
async def _retry(call: Call, query: SendQuery, body: RetryRequest) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    await uploads.retry(upload, body.form)
    if query.wait:
        await uploads.jobs.wait(upload)
    return await upload_report(uploads, upload)


@OPERATIONS("POST", f"{UPLOAD}/restore", "Bring a deleted one back", refuses=(409, 507))
async def _restore(call: Call) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    await uploads.restore(upload)
    return await upload_report(uploads, upload, 0)


@OPERATIONS("GET", f"{UPLOAD}/files/{{number}}", "One of its files, as it was sent", media=BINARY)
async def _original(call: Call) -> Response:
    uploads = call.context.uploads
    row = await uploads.store.get(call.path("upload"))
    file = {str(number): file for number, file in enumerate(row.files, 1)}.get(call.path("number"))
    if file is None:
        raise Refused(f"there are files 1 to {len(row.files)} in this upload", 404)
    headers = {**attachment(file.name), "Content-Length": str(file.size)}
    return StreamingResponse(uploads.store.pieces(file), media_type=BINARY, headers=headers)


@OPERATIONS("GET", f"{UPLOAD}/story", "Its story file", media=BINARY, refuses=(409,))
async def _story_file(call: Call) -> Response:
    uploads = call.context.uploads
    row = await uploads.store.get(call.path("upload"))
    return FileResponse(uploads.story_path(row), media_type=BINARY, headers=attachment(f"{row.story}.story"))
