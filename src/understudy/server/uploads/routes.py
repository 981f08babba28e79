"""What can be asked of uploads. Whoever sends a story sees the whole of it here, its end included: it is their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import quote

import msgspec
from anyio import to_thread
from starlette.responses import FileResponse, Response, StreamingResponse

from understudy.server.operations import ENCODER, Call, Operation
from understudy.server.problems import Refused
from understudy.server.uploads.answers import Change, FixTold, Sent, Upload, UploadReport, reading
from understudy.server.uploads.answers import Uploads as UploadsTold
from understudy.server.uploads.arriving import TEXT, TITLE
from understudy.server.uploads.fixes import Fix
from understudy.server.uploads.readings import Progress
from understudy.server.uploads.store import UploadRow
from understudy.server.uploads.stories import Uploads

__all__ = ["OPERATIONS", "told_all", "told_fully"]

STEP_SECONDS = 0.2  # between two looks at a reading's progress
BINARY = "application/octet-stream"
EVENTS = "text/event-stream"
FORM = {
    "type": "object",
    "properties": {
        "file": {
            "type": "array",
            "items": {"type": "string", "format": "binary"},
            "description": "Scripts, a card, a story file, a cast.toml, or one zip of a story folder.",
        },
        TEXT: {"type": "string", "description": "A script as text, instead of a file."},
        TITLE: {"type": "string", "maxLength": 200, "description": "What to call a script sent as text."},
    },
}


class Waiting(msgspec.Struct):
    wait: bool = True
    """Answer when the upload is read; else at once, and its progress can be followed."""


class Detail(msgspec.Struct):
    unread: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 200
    """How many of the lines that were not read are spelt out."""


class FixAsked(msgspec.Struct, forbid_unknown_fields=True):
    fix: Fix


async def told_all(uploads: Uploads) -> list[Upload]:
    """Every upload, newest first; those being read for the first time before all others."""
    rows = await uploads.store.all()
    known = {row.id for row in rows}
    coming = [_coming(name, one) for name, one in uploads.readings.all() if name not in known]
    return [*coming, *[await to_thread.run_sync(_told, uploads, row) for row in reversed(rows)]]


async def told_fully(uploads: Uploads, upload: str, unread: int = 200, change: Change | None = None) -> UploadReport:
    """An upload with its reader's report."""
    progress = uploads.readings.of(upload)
    try:
        row = await uploads.store.one(upload)
    except Refused:
        if progress is None:
            raise
        return UploadReport(**msgspec.structs.asdict(_coming(upload, progress)))
    return await to_thread.run_sync(_told_fully, uploads, row, unread, change)


def _told_fully(uploads: Uploads, row: UploadRow, unread: int, change: Change | None) -> UploadReport:
    story = uploads.story_of(row)
    return UploadReport(
        **msgspec.structs.asdict(_told(uploads, row)),
        report=None if story is None else reading(story, unread),
        cast_toml=row.cast_toml,
        change=change,
    )


def _told(uploads: Uploads, row: UploadRow) -> Upload:
    story, progress = uploads.story_of(row), uploads.readings.of(row.id)
    scenes, lines = (0, 0) if story is None else story.count()
    upload = Upload(
        id=row.id,
        state="ready" if row.deleted is None else "deleted",
        story=row.story if row.deleted is None else None,
        title=row.files[0].name if story is None else story.title,
        language=None if story is None else story.language,
        scenes=scenes,
        lines=lines,
        people=0 if story is None else len(story.cast()),
        made=row.made,
        files=[Sent(number, file.name, file.size) for number, file in enumerate(row.files, 1)],
        fixes=[FixTold(fix.number, fix.what, fix.made) for fix in row.fixes[1:]],
        fixable=row.fixable,
        share=1.0,
    )
    return upload if progress is None else _with(upload, progress)


def _coming(upload: str, progress: Progress) -> Upload:
    """One that is being read for the first time, or could not be read."""
    files = [Sent(number, file.name, file.size) for number, file in enumerate(progress.files, 1)]
    plain = Upload(
        id=upload, state="reading", story=None, title=files[0].name, language=None, scenes=0, lines=0, people=0,
        made=progress.made, files=files, fixes=[], fixable=False, share=progress.share,
    )  # fmt: skip
    return _with(plain, progress)


def _with(upload: Upload, progress: Progress) -> Upload:
    upload.state = "reading" if progress.error is None else "failed"
    upload.story, upload.share = None, progress.share
    upload.problem = None if progress.error is None else str(progress.error)
    return upload


async def _send(call: Call) -> UploadReport:
    uploads = call.context.uploads
    upload, already = await uploads.take(call.request.headers.get("content-type", ""), call.request.stream())
    if call.query.wait:
        await uploads.readings.wait(upload)
    answer = await told_fully(uploads, upload)
    answer.already = already
    return answer


async def _list(call: Call) -> UploadsTold:
    return UploadsTold(await told_all(call.context.uploads))


async def _one(call: Call) -> UploadReport:
    return await told_fully(call.context.uploads, call.path("upload"), call.query.unread)


async def _progress(call: Call) -> Response:
    uploads, upload = call.context.uploads, call.path("upload")
    await told_fully(uploads, upload, 0)  # refused before anything is sent, if there is no such upload

    async def events() -> AsyncIterator[bytes]:
        while (progress := uploads.readings.of(upload)) is not None and progress.task is not None and progress.running:
            yield b"event: progress\ndata: " + ENCODER.encode({"share": progress.share}) + b"\n\n"
            await asyncio.wait({progress.task}, timeout=STEP_SECONDS)
        yield b"event: done\ndata: " + ENCODER.encode(await told_fully(uploads, upload, 0)) + b"\n\n"

    return StreamingResponse(events(), media_type=EVENTS, headers={"Cache-Control": "no-store"})


async def _fix(call: Call) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    return await told_fully(uploads, upload, change=await uploads.fix(upload, call.body.fix))


async def _undo(call: Call) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    return await told_fully(uploads, upload, change=await uploads.undo(upload))


async def _delete(call: Call) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    answer = await told_fully(uploads, upload, 0)
    await uploads.delete(upload)
    answer.state, answer.story = "deleted", None
    return answer


async def _restore(call: Call) -> UploadReport:
    uploads, upload = call.context.uploads, call.path("upload")
    await uploads.restore(upload)
    return await told_fully(uploads, upload, 0)


async def _original(call: Call) -> Response:
    uploads = call.context.uploads
    row = await uploads.store.one(call.path("upload"))
    file = {str(number): file for number, file in enumerate(row.files, 1)}.get(call.path("number"))
    if file is None:
        raise Refused(f"there are files 1 to {len(row.files)} in this upload", 404)
    headers = {**_attached(file.name), "Content-Length": str(file.size)}
    return StreamingResponse(uploads.store.pieces(file), media_type=BINARY, headers=headers)


async def _story_file(call: Call) -> Response:
    uploads = call.context.uploads
    row = await uploads.store.one(call.path("upload"))
    return FileResponse(uploads.path_of(row), media_type=BINARY, headers=_attached(f"{row.story}.story"))


def _attached(name: str) -> dict[str, str]:
    """To be saved, never shown: what somebody sent must not run as a page of this server."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


OPERATIONS = (
    Operation(
        "POST", "/api/uploads", _send, "Send the files of one story, as a form; it is read and put on stage",
        answers=UploadReport, query=Waiting, form=FORM, status=201, refuses=(409, 413, 415, 507), tag="uploads",
    ),
    Operation("GET", "/api/uploads", _list, "Every story that was sent", answers=UploadsTold, tag="uploads"),
    Operation(
        "GET", "/api/uploads/{upload}", _one, "A story that was sent, with the reader's report of all of it",
        answers=UploadReport, query=Detail, refuses=(404,), tag="uploads",
    ),
    Operation(
        "GET", "/api/uploads/{upload}/progress", _progress, "How far its reading is, as server-sent events",
        media=EVENTS, refuses=(404,), tag="uploads",
    ),
    Operation(
        "PATCH", "/api/uploads/{upload}", _fix, "Put something of its cast right and read it again",
        answers=UploadReport, body=FixAsked, refuses=(404, 409, 507), tag="uploads",
    ),
    Operation(
        "POST", "/api/uploads/{upload}/undo", _undo, "Take the last fix back",
        answers=UploadReport, refuses=(404, 409, 507), tag="uploads",
    ),
    Operation(
        "DELETE", "/api/uploads/{upload}", _delete, "Take it off the stage; for a day it can be brought back",
        answers=UploadReport, refuses=(404, 409, 507), tag="uploads",
    ),
    Operation(
        "POST", "/api/uploads/{upload}/restore", _restore, "Bring a deleted one back",
        answers=UploadReport, refuses=(404, 409, 507), tag="uploads",
    ),
    Operation(
        "GET", "/api/uploads/{upload}/files/{number}", _original, "One of its files, as it was sent",
        media=BINARY, refuses=(404,), tag="uploads",
    ),
    Operation(
        "GET", "/api/uploads/{upload}/story", _story_file, "Its story file",
        media=BINARY, refuses=(404, 409), tag="uploads",
    ),
)  # fmt: skip
