"""What tests of uploads share: forms as a browser sends them, a server's uploads, and a novel that is quickly read.

The people and speakers of the novel are given by the test instead of being worked out. Readings happen in the server's
own process, so that a test can hold them up, count them or let them fail.
"""

from __future__ import annotations

import asyncio
import io
import re
import sys
import zipfile
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from anyio import to_thread

from understudy.errors import InputError
from understudy.formats import prose as prose_reading
from understudy.novels.prose import Attribution, NovelCharacter, Prose
from understudy.server.database import ServerDatabase
from understudy.server.story_registry import StoryRegistry
from understudy.server.uploads import service
from understudy.server.uploads.reader_process import UploadLimits, look_for_people, make_story
from understudy.server.uploads.reading_jobs import OnProgress
from understudy.server.uploads.routes import UploadReport, upload_report
from understudy.server.uploads.service import UploadService

__all__ = [
    "FORM",
    "NOVEL",
    "File",
    "NovelReadings",
    "form",
    "opened",
    "read_in_thread",
    "read_novels_here",
    "sent",
    "zipped",
]

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


NOVEL = """THE TIN WHISTLE

CHAPTER I

The Ferry

The rain had stopped an hour before, and the quay was as slick as a plate. Odile came down the steps with her collar up.

"You sold the piano," said Odile.

"I sold the noise of it," said Bastien.

"All of it?"

"Every key. You may have the stool, if you like."

She did not sit down. The ferry hooted twice beyond the wall, and a boy ran past with a basket of eels.

"Then you had better tell Mother," she said at last, "before the neighbours do."

CHAPTER II

The Stool

In the evening they sat in the kitchen. Nobody had lit the lamp.

"It was mine," said Odile.

"It was everybody's," said Corvin.

"I was at school!"

"So you were. And who paid for that, do you think?"

Corvin laughed. He had a way of laughing that made the dog leave the room.
"""
PEOPLE = (NovelCharacter("Odile"), NovelCharacter("Bastien"), NovelCharacter("Corvin Pell", ("Corvin",)))
GUESSES: dict[str, tuple[tuple[str, float], ...]] = {
    "All of it?": (("Odile", 0.4), ("Corvin Pell", 0.35), ("Bastien", 0.25)),
    "Every key.": (("Bastien", 0.55), ("Odile", 0.3)),
    "Then you had": (("Odile", 0.3), ("Bastien", 0.29), ("Corvin Pell", 0.28)),
    "I was at school!": (("Bastien", 0.2), ("Odile", 0.19)),
    "So you were.": (("Corvin Pell", 0.8), ("Odile", 0.1)),
}
TAG = re.compile(r"said (\w+)")


@dataclass
class NovelReadings:
    """What became of the readings of a test."""

    count: int = 0
    gate: asyncio.Event | None = None
    """Where it is set, a reading waits for it."""
    problem: str = ""
    """Where it is set, a reading fails with it."""
    forms: list[str] = field(default_factory=list)


def attribute(prose: Prose, cast: Sequence[NovelCharacter], **_: object) -> list[Attribution]:
    called = {name: person.name for person in cast for name in (person.name, *person.aliases)}
    return [_attribution(prose, index, called) for index in range(len(prose.quotations))]


def _attribution(prose: Prose, index: int, called: dict[str, str]) -> Attribution:
    quotation = prose.quotations[index]
    said = prose.said(quotation)
    for words, candidates in GUESSES.items():
        if said.startswith(words):
            named = tuple((called.get(name, name), share) for name, share in candidates)
            return Attribution(named[0][0], named[0][1], (), named)
    tag = TAG.search(prose.text, quotation.span.end, quotation.span.end + 30)
    assert tag is not None, said
    speaker = called[tag[1]]
    return Attribution(speaker, 0.98, (), ((speaker, 0.98),))


def read_novels_here(monkeypatch: pytest.MonkeyPatch) -> NovelReadings:
    readings = NovelReadings()

    async def read_here(
        work: Path, limits: UploadLimits, on_progress: OnProgress, form: str = "", story: Path | None = None
    ) -> bool:
        if story is not None:
            return await read_in_thread(work, limits, on_progress, form, story)
        readings.count += 1
        readings.forms.append(form)
        if readings.gate is not None:
            await readings.gate.wait()
        if readings.problem:
            raise InputError(readings.problem)
        return await read_in_thread(work, limits, on_progress, form, story)

    monkeypatch.setattr(prose_reading, "find_cast", lambda _: PEOPLE)
    monkeypatch.setitem(sys.modules, "understudy.novels.attribution", SimpleNamespace(attribute=attribute))
    monkeypatch.setattr(service, "read_in_process", read_here)
    return readings
