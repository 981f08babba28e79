"""Opening a source safely: a bounded stream of text lines with their numbers, never a slurp.

UTF-8 is expected (UTF-16 with its mark too). Transcripts found in the wild mix in Windows-1252, so a line that is
not UTF-8 is read as that; a line that is neither, or holds NUL bytes, is an error with its number.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from understudy.errors import InputError
from understudy.novels.prose import Attribution, NovelCharacter, Prose
from understudy.story.types import Source

__all__ = [
    "HEAD_BYTES",
    "LONGEST_LINE",
    "Attributed",
    "Progress",
    "SourceFile",
    "no_progress",
    "sha256_of",
    "universal_lines",
]

HEAD_BYTES = 64 * 1024
LONGEST_LINE = 8 * 1024 * 1024
BOM = codecs.BOM_UTF8.decode("latin-1")

Progress = Callable[[int, str], None]
"""Told how many more bytes of the sources are done, and in words what is being done ('Chapter 12 of 55'), '' while they
are read. Where the work begins after the bytes have been read, they count as done in proportion to it."""

Attributed = Callable[[Prose, Sequence[Attribution]], None]
"""Given a text and who was taken to say each of its quotations, before an author's corrections."""


class NovelSource(Protocol):
    """The files of a novel, with what is worked out of all of them together."""

    @property
    def parsed(self) -> Mapping[Path, Prose]: ...

    def speakers(self, source: SourceFile, /) -> tuple[Sequence[NovelCharacter], Sequence[Attribution]]: ...


def no_progress(_done: int, _doing: str) -> None:
    pass


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def universal_lines(path: Path, most: int) -> Iterator[str]:
    """The lines of a file with their ends (LF, CR LF or CR), each byte as the Latin-1 character of its number.

    One that is longer than `most` comes in pieces of that length.
    """
    with path.open(encoding="latin-1", newline="", buffering=1 << 18) as file:
        while line := file.readline(most):
            yield line


@dataclass(slots=True)
class SourceFile:
    """One file being read. `units` counts its non-blank lines (or units), apart from what a reader makes of them.

    `story_folder` is the folder it is read as a part of, `novel` the novel that is read from it and other files.
    `attributed` is called with what was worked out of prose. `annotates` is the file that this one's content is merged
    into, `annotations` are the files whose content is merged into this one's.
    """

    path: Path
    progress: Progress = no_progress
    units: int = field(default=0, init=False)
    story_folder: Path | None = field(default=None, kw_only=True)
    attributed: Attributed | None = field(default=None, kw_only=True)
    novel: NovelSource | None = field(default=None, kw_only=True)
    annotates: Path | None = field(default=None, kw_only=True)
    annotations: tuple[Path, ...] = field(default=(), kw_only=True)
    _done: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.path.is_dir():
            raise InputError("is a folder, not a file", self.path)
        if not self.path.exists():
            raise InputError("no such file", self.path)
        if not self.path.is_file():
            raise InputError("is a pipe or a device: save what it gives as a file first", self.path)
        if self.path.stat().st_size == 0:
            raise InputError("is empty: there is nothing to read", self.path)

    def head(self) -> bytes:
        """The first bytes, by which a format is recognised."""
        try:
            with self.path.open("rb") as file:
                return file.read(HEAD_BYTES)
        except OSError as error:
            raise InputError(f"cannot be opened: {error.strerror}", self.path) from error

    def reopened(self, progress: Progress | None = None) -> SourceFile:
        """The same source, to be read once more; `units` are counted anew."""
        return SourceFile(self.path, progress or no_progress)

    def advance(self, size: int) -> None:
        """So many more bytes have been read."""
        self._done += size
        self.progress(size, "")

    def reach(self, share: float, doing: str = "") -> None:
        """So much of the work on this source is done, 0 to 1."""
        size = max(round(share * self.size) - self._done, 0)
        self._done += size
        self.progress(size, doing)

    def at(self, line: int) -> Source:
        return Source(self.path.name, line)

    def error(self, message: str, line: int | None = None) -> InputError:
        return InputError(message, self.path, line)

    def chunks(self, size: int = 1 << 20) -> Iterator[bytes]:
        """The raw bytes, for formats that are not made of lines."""
        with self.path.open("rb") as file:
            while chunk := file.read(size):
                self.advance(len(chunk))
                yield chunk

    def lines(
        self, longest: int = LONGEST_LINE, lost: str | None = None, *, is_work: bool = True
    ) -> Iterator[tuple[int, str]]:
        """(number, text without its line end) of every line, blank ones included; counts the non-blank into `units`.

        Unless reading `is_work`, the bytes do not count as done: the caller says how far the work on them is.

        Old conversions left single NULs where a dash or a quotation mark was: `lost` stands in for these, as long as
        the line is mostly text. Without it a NUL is an error.
        """
        head = self.head()
        wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        advance = self.advance if is_work else _ignore
        lines = self._wide_lines(longest, advance) if wide else self._narrow_lines(longest, advance)
        for number, line in enumerate(lines, 1):
            if "\0" in line:
                if lost is not None and line.count("\0") * 4 <= len(line):
                    line = line.replace("\0", lost)
                else:
                    raise self.error("holds NUL bytes: this is not a text file, or it is damaged", number)
            if line and not line.isspace():
                self.units += 1
            yield number, line

    def _narrow_lines(self, longest: int, advance: Callable[[int], None]) -> Iterator[str]:
        for number, raw in enumerate(universal_lines(self.path, longest + 1), 1):
            if len(raw) > longest:
                raise self.error(f"a line of over {longest:,} bytes: this is not a script of lines", number)
            advance(len(raw))
            if number == 1:
                raw = raw.removeprefix(BOM)
            line = raw if raw.isascii() else self._decoded(raw.encode("latin-1"), number)
            yield line.rstrip("\r\n")

    def _decoded(self, raw: bytes, number: int) -> str:
        for encoding in ("utf-8", "cp1252"):
            try:
                return raw.decode(encoding)
            except UnicodeDecodeError:
                continue
        raise self.error("is neither UTF-8 nor Windows-1252 text: convert it to UTF-8 first", number)

    def _wide_lines(self, longest: int, advance: Callable[[int], None]) -> Iterator[str]:
        number = 0
        try:
            with self.path.open(encoding="utf-16") as file:
                while line := file.readline(longest + 1):
                    number += 1
                    if len(line) > longest:
                        raise self.error(f"a line of over {longest:,} characters: this is not a script", number)
                    advance(2 * len(line))
                    yield line.rstrip("\r\n")
        except UnicodeError as error:
            raise self.error("says it is UTF-16, but breaks off or is damaged", number + 1) from error

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def _ignore(_size: int) -> None:
    pass
