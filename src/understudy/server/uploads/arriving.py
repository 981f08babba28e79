"""Files on their way in: a form's parts, written to disk as they come and measured while they do."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import anyio.to_thread
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from understudy.server.problems import Refused
from understudy.server.uploads.limits import MIB, Limits
from understudy.server.uploads.names import distinct, safe_name
from understudy.server.uploads.shelf import room

__all__ = ["Arrived", "receive"]

LONGEST_FIELD = 1000
TEXT, TITLE = "text", "title"
"""Fields of the form: a script pasted as text, and what to call it."""


@dataclass(slots=True)
class _Part:
    of: str
    name: str | None
    """The file's, as it was sent; a part without one is a field."""
    stream: IO[bytes] | None = None
    path: Path | None = None
    value: bytearray = field(default_factory=bytearray)
    size: int = 0
    content: hashlib._Hash = field(default_factory=hashlib.sha256)


@dataclass(frozen=True, slots=True)
class Arrived:
    """A file that has come in whole."""

    name: str
    path: Path
    size: int
    content: str


class _Form:
    """Takes a form apart as its bytes come. Runs in a thread, where writing to disk holds up nobody."""

    def __init__(self, boundary: bytes, folder: Path, limits: Limits) -> None:
        self.parts: list[_Part] = []
        self._folder, self._limits, self._left = folder, limits, limits.upload
        self._complete = False
        self._header = self._value = self._disposition = b""
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin,
                "on_header_field": self._header_name,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._open,
                "on_part_data": self._write,
                "on_part_end": self._end,
                "on_end": self._ended,
            },
        )

    def take(self, chunk: bytes) -> None:
        try:
            with room():
                self._parser.write(chunk)
        except FormParserError as error:
            raise Refused("the form broke off or is damaged: send it again", 400) from error

    def finish(self) -> None:
        if not self._complete:  # the parser itself would take what came before it broke off
            raise Refused("the form broke off: send it again", 400)

    def close(self) -> None:
        for part in self.parts:
            if part.stream is not None:
                part.stream.close()

    def _begin(self) -> None:
        self._disposition = b""

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._disposition = self._value
        self._header = self._value = b""

    def _open(self) -> None:
        _, options = parse_options_header(self._disposition)
        name = options.get(b"filename")
        part = _Part(_decoded(options.get(b"name", b"")), None if name is None else _decoded(name))
        if len(self.parts) >= self._limits.files:
            raise Refused(f"these are more than {self._limits.files} files: send a zip of a story folder", 413)
        if part.name or part.of == TEXT:
            part.path = self._folder / f"part-{len(self.parts)}"
            part.stream = part.path.open("xb")
        self.parts.append(part)

    def _write(self, data: bytes, start: int, end: int) -> None:
        part = self.parts[-1]
        part.size += end - start
        self._left -= end - start
        if self._left < 0:
            raise Refused(f"this is more than {self._limits.upload // MIB or 1} MB: send it in parts", 413)
        if part.stream is not None:
            part.content.update(data[start:end])
            part.stream.write(data[start:end])
        elif part.size > LONGEST_FIELD:
            raise Refused(f"the field '{part.of[:40]}' is too long", 413)
        else:
            part.value += data[start:end]

    def _end(self) -> None:
        if (stream := self.parts[-1].stream) is not None:
            stream.close()

    def _ended(self) -> None:
        self._complete = True


async def receive(content_type: str, chunks: AsyncIterator[bytes], folder: Path, limits: Limits) -> list[Arrived]:
    """The files of a multipart form, written into a folder; text pasted into it is a file as well."""
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary or len(boundary) > 70:
        raise Refused("send files as a form (multipart/form-data), each as a part with a file name", 415)
    form = _Form(boundary, folder, limits)
    try:
        async for chunk in chunks:
            if chunk:
                await anyio.to_thread.run_sync(form.take, chunk)
        form.finish()
    finally:
        form.close()
    return _named(form.parts)


def _named(parts: list[_Part]) -> list[Arrived]:
    title = next((bytes(part.value).decode(errors="replace") for part in parts if part.of == TITLE), "")
    files = [part for part in parts if part.path is not None and (part.name or part.size)]
    if not files:
        raise Refused("no file was sent: choose one, or paste a script", 400)
    names = distinct(safe_name(part.name or f"{title.strip() or 'Pasted story'}.txt") for part in files)
    return [
        Arrived(name, part.path, part.size, part.content.hexdigest())
        for name, part in zip(names, files)
        if part.path is not None
    ]


def _decoded(raw: bytes) -> str:
    return raw.decode(errors="replace")
