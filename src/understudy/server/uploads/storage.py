"""Files of uploads on disk: received from a form, read into story files, and counted against a quota.

A multipart form is parsed as its bytes come, and its parts are written to disk under size limits. A story file is named
after what it was made from: the upload, its bytes, its cast.toml, what was decided about quotations, and the version of
the readers. If any of these changes, the old file no longer matches and the story is read again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
import shutil
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple

import anyio.to_thread
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from understudy import __version__
from understudy.errors import InputError
from understudy.formats import format_named
from understudy.server.problems import Refused
from understudy.server.uploads.quotations import list_beside
from understudy.server.uploads.reader_process import (
    DISK_FULL,
    MIB,
    SENT_FOLDER,
    STORY_FILE,
    USED_QUOTATIONS,
    UploadLimits,
    safe_name,
)
from understudy.server.uploads.store import UploadRow
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import FOUND


@contextmanager
def refuse_if_disk_full() -> Iterator[None]:
    """Turns the errors of a full disk into status 507; any other OSError is a bug and stays one."""
    try:
        yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise Refused("there is no room on the server's disk: free some, then try again", 507) from error


class StorageQuota:
    """Bytes by upload, counted from the first byte received, so that parallel uploads cannot pass the limit together.

    A data folder belongs to one server process (see `DataFolder`), so counting in memory is enough.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._sizes: dict[str, int] = {}
        self._total = 0

    def reserve(self, upload: str, size: int) -> None:
        """Set the size of an upload; refused if the total would pass the limit."""
        change = size - self._sizes.get(upload, 0)
        if change > 0 and self._total + change > self._limit:
            raise Refused(f"all uploads together may have {self._limit // MIB or 1:,} MB: delete one first", 409)
        self.record(upload, size)

    def record(self, upload: str, size: int) -> None:
        """Set the size of an upload that is stored already, even if that passes the limit."""
        self._total += size - self._sizes.get(upload, 0)
        self._sizes[upload] = size

    def release(self, *uploads: str) -> None:
        for upload in uploads:
            self._total -= self._sizes.pop(upload, 0)

    async def metered(self, upload: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The same chunks, each counted after it was consumed: the consumer checks its own limits first."""
        async for chunk in chunks:
            yield chunk
            self.reserve(upload, self._sizes.get(upload, 0) + len(chunk))


class StoryFiles:
    def __init__(self, folder: Path) -> None:
        self._stories, self._work_folders = folder / "stories", folder / "reading"

    def path(self, row: UploadRow) -> Path:
        made_from = [__version__, row.content, row.cast_toml, str(row.was_fixed)]
        source = "\0".join([*made_from, row.quotations_toml] if row.quotations_toml else made_from)
        return self._stories / f"{row.id}-{sha256(source.encode()).hexdigest()[:16]}.story"

    def open(self, row: UploadRow) -> Story | None:
        """The story of an upload as it is now, if its file exists and is sound."""
        try:
            return Story.open(self.path(row), found_file=self.found_file(row.id))
        except InputError:
            return None

    def adopt(self, work: Path, row: UploadRow) -> Story:
        """Move a story file here from the folder in which it was made, and the list of its doubtful quotations."""
        path = self.path(row)
        if (work / USED_QUOTATIONS).exists():
            (work / USED_QUOTATIONS).replace(list_beside(path))
        (work / STORY_FILE).replace(path)
        return Story.open(path, found_file=self.found_file(row.id))

    def found_file(self, upload: str) -> Path:
        """What was found in an upload's text; it stays where a fix makes another story file."""
        return self._stories / f"{upload}.{FOUND}"

    def copy_found(self, upload: str, work: Path) -> str:
        """Copy what was found before to where it is looked for anew; returns its content."""
        before = self._found_text(upload)
        if before:
            (work / FOUND).write_text(before, encoding="utf-8")
        return before

    def adopt_found(self, upload: str, work: Path, before: str) -> bool:
        """Move here what was found, unless somebody has decided of what was found `before` since."""
        if self._found_text(upload) != before:
            return False
        (work / FOUND).replace(self.found_file(upload))
        return True

    def _found_text(self, upload: str) -> str:
        path = self.found_file(upload)
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def delete(self, upload: str) -> None:
        """Delete every story file of an upload."""
        for path in self._stories.glob(f"{upload}-*"):
            path.unlink()
        self.found_file(upload).unlink(missing_ok=True)

    def prune(self, row: UploadRow, last: Story) -> None:
        """Delete the files of earlier fixes, except the story served last: requests may be reading it, and undo may
        need it."""
        needed = {self.path(row).stem, last.path.stem if last.path else ""}
        for path in self._stories.glob(f"{row.id}-*"):
            if path.name.partition(".")[0] not in needed:
                path.unlink()

    def clean_up(self, rows: Iterable[UploadRow]) -> None:
        """Delete what a killed server left, and story files that match no upload as it is now."""
        needed = {
            path.name for row in rows for path in (self.path(row), list_beside(self.path(row)), self.found_file(row.id))
        }
        shutil.rmtree(self._work_folders, ignore_errors=True)
        for path in self._stories.glob("*") if self._stories.is_dir() else ():
            if path.name not in needed:
                path.unlink()

    def new_work_folder(self) -> Path:
        """An empty folder for one reading, with an unguessable name."""
        self._work_folders.mkdir(parents=True, exist_ok=True)
        self._stories.mkdir(parents=True, exist_ok=True)
        work = self._work_folders / secrets.token_hex(8)
        work.mkdir()
        return work


MAX_FIELD_BYTES = 1000
TEXT, TITLE, FORMAT = "text", "title", "form"
"""Form fields: a script pasted as text, its title, and the format that files are to be read as."""


@dataclass(slots=True)
class _FormPart:
    field: str
    filename: str | None
    """As it was sent; None for a plain form field."""
    stream: IO[bytes] | None = None
    path: Path | None = None
    value: bytearray = dataclasses.field(default_factory=bytearray)
    size: int = 0
    digest: hashlib._Hash = dataclasses.field(default_factory=hashlib.sha256)


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file that was received completely."""

    name: str
    path: Path
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ReceivedForm:
    """The files of a form; `form` names the reader that is to take them, "" where their content decides."""

    files: list[ReceivedFile]
    form: str = ""

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def content(self) -> str:
        """A hash of names, bytes and the format asked for: equal uploads have the same."""
        parts = sorted(f"{file.name}\0{file.sha256}" for file in self.files)
        return sha256("\0".join([*parts, self.form] if self.form else parts).encode()).hexdigest()


class _FormParser:
    """Parses a form incrementally. `feed` writes to disk, so it is called in a worker thread."""

    def __init__(self, boundary: bytes, folder: Path, limits: UploadLimits) -> None:
        self.parts: list[_FormPart] = []
        self._folder, self._limits, self._bytes_left = folder, limits, limits.upload_bytes
        self._complete = False
        self._header_name = self._header_value = self._disposition = b""
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin_part,
                "on_header_field": self._add_header_name,
                "on_header_value": self._add_header_value,
                "on_header_end": self._end_header,
                "on_headers_finished": self._open_part,
                "on_part_data": self._write_part,
                "on_part_end": self.close,
                "on_end": self._end_form,
            },
        )

    def feed(self, chunk: bytes) -> None:
        try:
            with refuse_if_disk_full():
                self._parser.write(chunk)
        except FormParserError as error:
            raise Refused("the form broke off or is damaged: send it again", 400) from error

    def finish(self) -> None:
        if not self._complete:  # the parser itself accepts a truncated form
            raise Refused("the form broke off: send it again", 400)

    def close(self) -> None:
        for part in self.parts:
            if part.stream is not None:
                part.stream.close()

    def _begin_part(self) -> None:
        self._disposition = b""

    def _add_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _add_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _end_header(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header_name = self._header_value = b""

    def _open_part(self) -> None:
        _, options = parse_options_header(self._disposition)
        raw = options.get(b"filename")
        filename = None if raw is None else raw.decode(errors="replace")
        part = _FormPart(options.get(b"name", b"").decode(errors="replace"), filename)
        if len(self.parts) >= self._limits.files:
            raise Refused(f"these are more than {self._limits.files} files: send a zip of a story folder", 413)
        if part.filename or part.field == TEXT:
            part.path = self._folder / f"part-{len(self.parts)}"
            part.stream = part.path.open("xb")
        self.parts.append(part)

    def _write_part(self, data: bytes, start: int, end: int) -> None:
        part = self.parts[-1]
        part.size += end - start
        self._bytes_left -= end - start
        if self._bytes_left < 0:
            raise Refused(f"this is more than {self._limits.upload_bytes // MIB or 1} MB: send it in parts", 413)
        if part.stream is not None:
            part.digest.update(data[start:end])
            part.stream.write(data[start:end])
        elif part.size > MAX_FIELD_BYTES:
            raise Refused(f"the field '{part.field[:40]}' is too long", 413)
        else:
            part.value += data[start:end]

    def _end_form(self) -> None:
        self._complete = True


async def receive(content_type: str, chunks: AsyncIterator[bytes], folder: Path, limits: UploadLimits) -> ReceivedForm:
    """Write the files of a multipart form into a folder; text pasted into the form becomes a file as well."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary or len(boundary) > 70:
        raise Refused("send files as a form (multipart/form-data), each as a part with a file name", 415)
    form = _FormParser(boundary, folder, limits)
    try:
        async for chunk in chunks:
            if chunk:
                await anyio.to_thread.run_sync(form.feed, chunk)
        form.finish()
    finally:
        form.close()
    chosen = _value_of(form.parts, FORMAT).strip()
    return ReceivedForm(_received_files(form.parts), format_named(chosen).name if chosen else "")


def _received_files(parts: list[_FormPart]) -> list[ReceivedFile]:
    title = _value_of(parts, TITLE)
    files = [part for part in parts if part.path is not None and (part.filename or part.size)]
    if not files:
        raise Refused("no file was sent: choose one, or paste a script", 400)
    names = distinct(safe_name(part.filename or f"{title.strip() or 'Pasted story'}.txt") for part in files)
    return [
        ReceivedFile(name, part.path, part.size, part.digest.hexdigest())
        for name, part in zip(names, files)
        if part.path is not None
    ]


def distinct(names: Iterable[str]) -> list[str]:
    """The same names, numbered where one is repeated; names that differ only in case count as equal."""
    taken: set[str] = set()
    result: list[str] = []
    for name in names:
        stem, dot, suffix = name.rpartition(".")
        stem, suffix = (stem, f".{suffix}") if dot and stem else (name, "")
        number, candidate = 2, name
        while candidate.casefold() in taken:
            number, candidate = number + 1, f"{stem} ({number}){suffix}"
        taken.add(candidate.casefold())
        result.append(candidate)
    return result


def _value_of(parts: list[_FormPart], field: str) -> str:
    return next((bytes(part.value).decode(errors="replace") for part in parts if part.field == field), "")


class FailedUpload(NamedTuple):
    work: Path
    """The folder in which it was read; only the files as they were sent are left in it."""
    received: ReceivedForm


class FailedUploads:
    """Files of uploads that could not be read, for a while: they can be read as another format without being sent.

    They are beside the quota of uploads, but all together no more than one upload may have: the oldest make room for
    newer ones. A server that starts again has forgotten them. The methods delete files, so they are called in threads.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._uploads: dict[str, FailedUpload] = {}

    def __contains__(self, upload: str) -> bool:
        return upload in self._uploads

    def keep(self, upload: str, failed: FailedUpload) -> None:
        for path in failed.work.iterdir():
            if path.name != SENT_FOLDER:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._uploads[upload] = failed
        oldest_first = list(self._uploads.items())  # at once: another thread may add one
        while oldest_first and sum(upload.received.size for _, upload in oldest_first) > self._max_bytes:
            self.discard(oldest_first.pop(0)[0])

    def take(self, upload: str) -> FailedUpload | None:
        """The files of an upload, to be read again; from then on they are the caller's."""
        return self._uploads.pop(upload, None)

    def discard(self, upload: str) -> None:
        if (failed := self._uploads.pop(upload, None)) is not None:
            shutil.rmtree(failed.work, ignore_errors=True)
