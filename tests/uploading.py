"""What tests of uploads share: forms as a browser sends them, and the uploads of a server that starts and stops."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from anyio import to_thread

from understudy.server.database import ServerDatabase
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads.reader_process import UploadLimits, look_for_people, make_story
from understudy.server.uploads.reading_jobs import OnProgress
from understudy.server.uploads.routes import UploadReport, upload_report
from understudy.server.uploads.service import UploadService

__all__ = ["FORM", "File", "form", "opened", "read_in_thread", "sent", "zipped"]

BOUNDARY = "----a-boundary-of-a-form"
FORM = f"multipart/form-data; boundary={BOUNDARY}"

File = tuple[str, bytes]
"""A name and a content."""


def form(files: Iterable[File], fields: Mapping[str, str] | None = None) -> bytes:
    """A form's body: files, and fields beside them."""
    parts = [(f'name="file"; filename="{name}"', content) for name, content in files]
    parts += [(f'name="{name}"', value.encode()) for name, value in (fields or {}).items()]
    lines = (
        f"--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + content + b"\r\n"
        for head, content in parts
    )
    return b"".join(lines) + f"--{BOUNDARY}--\r\n".encode()


async def in_chunks(body: bytes, size: int = 4096) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


@asynccontextmanager
async def opened(
    folder: Path,
    registry: StoryRegistry | None = None,
    limits: UploadLimits | None = None,
    address: str | None = None,
    looks_for_people: bool = False,
) -> AsyncIterator[UploadService]:
    """The uploads of a server from its start to its end; of one of several processes where an address is given."""
    database = ServerDatabase(address or folder / "server.sqlite")
    stories = StoryRegistry({}) if registry is None else registry
    uploads = UploadService(
        database, stories, folder, limits, owns_folder=address is None, looks_for_people=looks_for_people
    )
    try:
        await uploads.open()
        yield uploads
    finally:
        await uploads.close()
        database.close()


async def read_in_thread(
    work: Path, limits: UploadLimits, on_progress: OnProgress, form: str = "", story: Path | None = None
) -> bool:
    """As `read_in_process` for what can be read, without the time that a process takes to start."""
    loop = asyncio.get_running_loop()

    def send(message: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(on_progress, message["share"], message.get("step"))

    if story is not None:
        await to_thread.run_sync(look_for_people, story, work, send)
        return False
    return await to_thread.run_sync(make_story, work, limits, send, form)


async def sent(uploads: UploadService, *files: File) -> UploadReport:
    """Files sent and read; what is wrong with them comes through."""
    upload, already = await uploads.receive(FORM, in_chunks(form(files)))
    await uploads.jobs.wait(upload)
    report = await upload_report(uploads, upload)
    report.already = already
    return report


def zipped(files: Iterable[File]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return stream.getvalue()
