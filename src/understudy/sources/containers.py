"""Zip archives and XML, read with every size bounded. EPUB and DOCX are archives, whose parts are read in memory.

Nothing is unpacked to disk, so that no path inside an archive means anything but a name. An archive is refused before
anything is unpacked where it says that it would become too large, and while unpacking where it said less than it is.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import SEEK_END
from types import MappingProxyType
from typing import BinaryIO, NamedTuple, Protocol, Self, TypeAlias
from xml.parsers import expat

from understudy.errors import InputError
from understudy.sources.source import SourceFile

LARGEST = 512 * 1024 * 1024  # pictures included; only text is unpacked
LARGEST_PART = 32 * 1024 * 1024
LARGEST_RATIO = 200  # text is packed to a tenth or so
SMALL_PART = 1024 * 1024  # below which the ratio says nothing
MOST_PARTS = 10_000
CHUNK = 1 << 16
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
SIGNATURE = b"PK\x03\x04"
END, END_RECORD, LONGEST_END = b"PK\x05\x06", struct.Struct("<4s4H2IH"), 22 + 65535
LARGEST_LIST = 4 * 1024 * 1024  # bytes
LARGE_COUNT, LARGE_FORM, LARGE_LOCATOR = 0xFFFF, b"PK\x06\x07", 20  # how a larger list shows at the end
SIZE_UNKNOWN, ENCRYPTED = 0x8, 0x1
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)
"""What a damaged or hostile archive raises, wherever it is opened or unpacked."""


def leading_names(head: bytes) -> Iterator[str]:
    """The names of the parts with which an archive begins, by the headers that stand before each."""
    at = 0 if head.startswith(SIGNATURE) else -1
    while 0 <= at <= len(head) - LOCAL_HEADER.size:
        fields = LOCAL_HEADER.unpack_from(head, at)
        flags, packed, name_length, extra_length = fields[2], fields[7], fields[9], fields[10]
        start = at + LOCAL_HEADER.size
        yield head[start : start + name_length].decode("utf-8", "replace")
        following = start + name_length + extra_length + (0 if flags & SIZE_UNKNOWN else packed)
        at = head.find(SIGNATURE, following)


def listed_files(file: BinaryIO) -> float | None:
    """How many files an archive lists, by the record at its end: no end of them where the list would fill the memory.

    The large form of that record (ZIP64) is for more files or bytes than a book or a card may have. None without one.
    """
    file.seek(max(0, file.seek(0, SEEK_END) - LARGE_LOCATOR - LONGEST_END))
    tail = file.read()
    end = tail.rfind(END)
    if end < 0 or len(tail) < end + END_RECORD.size:
        return None
    count, length = END_RECORD.unpack_from(tail, end)[4:6]
    is_large = count == LARGE_COUNT or tail.startswith(LARGE_FORM, max(0, end - LARGE_LOCATOR))
    return math.inf if is_large or length > LARGEST_LIST else count


@dataclass(frozen=True, slots=True)
class ArchivePart:
    """One part of an archive, as `xml_tokens` reads it; an error names the part."""

    source: SourceFile
    name: str
    content: bytes

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        for start in range(0, len(self.content), size):
            yield self.content[start : start + size]

    def error(self, message: str, line: int | None = None) -> InputError:
        return self.source.error(f"{self.name}{'' if line is None else f', line {line}'}: {message}")


class SourceArchive:
    """A source that is a zip archive. `what` names the kind of file in errors: 'an EPUB'."""

    def __init__(self, source: SourceFile, what: str) -> None:
        self.source, self.what = source, what
        try:
            with source.path.open("rb") as file:
                if listed_files(file) == math.inf:  # else an archive, or none, which its opening tells
                    raise source.error(f"holds more than {MOST_PARTS:,} files: this is not {what} of text")
            self._archive = zipfile.ZipFile(source.path)
            self._parts = {part.filename: part for part in self._archive.infolist()}
            count = len(self._archive.infolist())
        except DAMAGE as error:
            raise self._damaged(error) from error
        if count > MOST_PARTS:
            raise source.error(f"holds {count:,} files: this is not {what} of text")
        if self.size > LARGEST:
            raise source.error(f"unpacks to {self.size // 2**20:,} MiB: this is not {what} of text")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._parts)

    @property
    def size(self) -> int:
        """What all parts unpack to, by what they say."""
        return sum(part.file_size for part in self._parts.values())

    def __contains__(self, name: str) -> bool:
        return name in self._parts

    def read(self, name: str) -> ArchivePart:
        """One part, unpacked; an error where there is none."""
        part = self._parts.get(name)
        if part is None:
            raise self.source.error(f"lacks its part '{name[:200]}': it is damaged, or not {self.what}")
        if part.flag_bits & ENCRYPTED:
            raise self.source.error(f"is locked with a password ('{name[:200]}'): save it without one")
        if part.file_size > LARGEST_PART:
            raise self.source.error(f"'{name[:200]}' unpacks to over {LARGEST_PART // 2**20} MiB: this is no text")
        if part.file_size > SMALL_PART and part.file_size > LARGEST_RATIO * max(part.compress_size, 1):
            raise self.source.error(f"'{name[:200]}' is packed over {LARGEST_RATIO} times: no text is, it is refused")
        try:
            with self._archive.open(part) as stream:
                content = stream.read(LARGEST_PART + 1)
        except DAMAGE as error:
            raise self._damaged(error) from error
        if len(content) > LARGEST_PART:
            raise self.source.error(f"'{name[:200]}' unpacks to more than it says: it is refused")
        return ArchivePart(self.source, name, content)

    def _damaged(self, error: Exception) -> InputError:
        return self.source.error(f"cannot be unpacked ({error}): the file is cut off, damaged, or not {self.what}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()


# XML as a stream of tags and text, each with its line; what could harm is refused.
#
# Entity declarations (by which a small file becomes a huge one) and external entities (by which a file reads others)
# are errors, and depth and the size of a single tag are bounded. Names come without their namespace prefix.

DEEPEST = 200
LARGEST_TAG = 4 * 1024 * 1024
BREAKS_OFF = frozenset(("no element found", "unclosed token", "partial character", "unclosed CDATA section"))


class Start(NamedTuple):
    line: int
    name: str
    attributes: Mapping[str, str]


class End(NamedTuple):
    line: int
    name: str


class Text(NamedTuple):
    line: int
    text: str


Token: TypeAlias = Start | End | Text


class XmlSource(Protocol):
    """A file, or a part of one, and how what is wrong with it is said."""

    def chunks(self, size: int) -> Iterator[bytes]: ...

    def error(self, message: str, line: int | None = None) -> InputError: ...


def xml_tokens(source: XmlSource, entities: Mapping[str, str] = MappingProxyType({})) -> Iterator[Token]:
    """The tags and the text of an XML file, in order; `entities` are names that its kind of file has a meaning for."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    tokens: list[Token] = []
    depth = fed = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            message = f"is nested more than {DEEPEST} deep: this is no text that somebody wrote"
            raise source.error(message, parser.CurrentLineNumber)
        tokens.append(Start(parser.CurrentLineNumber, _local(name), attributes))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        tokens.append(End(parser.CurrentLineNumber, _local(name)))

    def text(data: str) -> None:
        tokens.append(Text(parser.CurrentLineNumber, data))

    def refuse_entity(name: str, *_: object) -> None:
        message = f"declares the entity '{name[:60]}': write the text out, entities are not read"
        raise source.error(message, parser.CurrentLineNumber)

    def refuse_external(*_: object) -> int:
        raise source.error("refers to another file: put everything into this one", parser.CurrentLineNumber)

    def known_entity(name: str, *_: object) -> None:
        if name in entities:
            tokens.append(Text(parser.CurrentLineNumber, entities[name]))
            return
        message = f"uses the entity '&{name[:60]};', which nothing explains: write the character itself"
        raise source.error(message, parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.EntityDeclHandler, parser.ExternalEntityRefHandler = refuse_entity, refuse_external
    parser.SkippedEntityHandler = known_entity
    try:
        for chunk in source.chunks(CHUNK):
            parser.Parse(chunk, False)
            fed += len(chunk)
            yield from tokens
            tokens.clear()
            if fed - max(parser.CurrentByteIndex, 0) > LARGEST_TAG:
                message = f"a tag or comment of over {LARGEST_TAG:,} bytes: this is no text that somebody wrote"
                raise source.error(message, parser.CurrentLineNumber)
        parser.Parse(b"", True)
        yield from tokens
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code) or "an error"
        cut = what in BREAKS_OFF
        message = f"breaks off ({what}): the file is cut off" if cut else f"is not well-formed XML here ({what})"
        raise source.error(message, error.lineno) from error
    except (LookupError, ValueError) as error:
        raise source.error(f"names an encoding that cannot be read ({error}): convert it to UTF-8", 1) from error


def _local(name: str) -> str:
    return name.rpartition(":")[2]
