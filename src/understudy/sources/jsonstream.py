"""JSON a record at a time: the members of one large object, the elements of one large list, or one document after the
other; never the whole file at once.

Each record comes with its `RecordLocation`, so that a reader whose records are not in the order of the story can note
the locations, sort them, and read the records again one by one.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from understudy.errors import InputError
from understudy.sources.source import SourceFile, universal_lines

LONGEST_RECORD = 16 * 1024 * 1024
DEEPEST = 100
LONGEST_SHOWN = 200  # characters
TRIMMED_BYTES = 1 << 19  # what lies behind the window is dropped in pieces: a copy of the rest for each would be slow

MARK = re.compile(rb'["{}\[\],]')
IN_STRING = re.compile(rb'["\\]')
SPACE = re.compile(rb"[ \t\r\n]*")
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class RecordLocation(NamedTuple):
    """Where a record stands: its key (empty for a line), its line, and its bytes."""

    key: str
    line: int
    offset: int
    length: int


def load_json(path: Path, remedy: str = "") -> Any:
    """The document that a file of modest size is; `remedy` says what to do where it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"is not there: no such file{remedy}", path) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON in UTF-8 ({error}){remedy}", path) from error


def json_members(source: SourceFile, longest: int = LONGEST_RECORD) -> Iterator[tuple[RecordLocation, Any]]:
    """The members of the object that the file is, in the order of the file."""
    window = _Window(source, longest)
    window.expect(b"{", "is not a JSON object: it should begin with '{'")
    if window.next() == b"}":
        window.expect(b"}")
        window.expect_end()
        return
    while True:
        if window.next() != b'"':
            raise source.error("a member of the object has no name in quotation marks before it", window.line)
        at, raw = window.value()
        key = str(_parsed(source, raw, at.line))
        window.expect(b":", f'a colon should follow "{key[:60]}"')
        at, raw = window.value()
        yield at._replace(key=key), _parsed(source, raw, at.line)
        if window.next() == b"}":
            break
        window.expect(b",", f'a comma or the closing brace should follow the member "{key[:60]}"')
    window.expect(b"}")
    window.expect_end()


def json_lines(source: SourceFile, longest: int = LONGEST_RECORD) -> Iterator[tuple[RecordLocation, Any]]:
    """The documents of a JSON Lines file; blank lines are passed over."""
    offset = 0
    for number, line in enumerate(universal_lines(source.path, longest + 1), 1):
        if len(line) > longest:
            raise source.error(f"a record of over {longest:,} bytes: this is not JSON Lines", number)
        source.advance(len(line))
        raw = line.encode("latin-1")
        mark = len(codecs.BOM_UTF8) if number == 1 and raw.startswith(codecs.BOM_UTF8) else 0
        if text := raw[mark:].rstrip():
            yield RecordLocation("", number, offset + mark, len(text)), _parsed(source, text, number)
        offset += len(raw)


def json_records(source: SourceFile) -> Iterator[tuple[RecordLocation, Any]]:
    """The elements of the list that the file is; or its documents, one a line or spread over several."""
    window = _Window(source, LONGEST_RECORD)
    if window.next() != b"[":
        while not window.is_at_end():
            at, raw = window.value()
            yield at, _parsed(source, raw, at.line)
        return
    window.expect(b"[")
    while window.next() != b"]":
        at, raw = window.value()
        yield at, _parsed(source, raw, at.line)
        if window.next() != b"]":
            window.expect(b",", "a comma or the closing bracket should follow the element before")
    window.expect(b"]")
    window.expect_end()


def read_records_at(source: SourceFile, locations: Iterable[RecordLocation]) -> Iterator[tuple[RecordLocation, Any]]:
    """Read the records at these locations again, in the given order."""
    with source.path.open("rb") as file:
        for location in locations:
            file.seek(location.offset)
            yield location, _parsed(source, file.read(location.length), location.line)


def _parsed(source: SourceFile, raw: bytes, line: int) -> Any:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line += _line_ends(raw[: error.start])
        raise source.error("is not UTF-8 text here: the file is damaged, or must be converted first", line) from error
    return parsed_json(source, text, line, _no_constant)


def parsed_json(source: SourceFile, text: str, line: int, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """A text of JSON that begins on a line of a source; `parse_constant` is called for `NaN` and the like."""
    try:
        value = json.loads(text, parse_constant=parse_constant)
    except json.JSONDecodeError as error:
        message = f"is not valid JSON here ({error.msg}): the file is cut off or damaged"
        raise source.error(message, line + error.lineno - 1) from error
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not JSON that can be read ({error})", line) from error
    if SURROGATE.search(text):
        # half of a character passes json.loads, but can be written to no file
        try:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise source.error("holds half of a character (a lone surrogate): the file is damaged", line) from error
    return value


def shown_json(value: object) -> str:
    """The beginning of a value as JSON, for a list of what is not read."""
    return json.dumps(value, ensure_ascii=False)[:LONGEST_SHOWN]


def _line_ends(raw: bytes) -> int:
    return raw.count(b"\n") + raw.count(b"\r") - raw.count(b"\r\n")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


class _Window:
    """The part of the file in memory: from the current record to the last chunk that was read."""

    def __init__(self, source: SourceFile, longest: int) -> None:
        self._source, self._longest = source, longest
        self._chunks = source.chunks()
        self._data = b""
        self._at = 0
        self._offset = 0
        self.line = 1
        if self._more() and self._data.startswith(codecs.BOM_UTF8):
            self._at = len(codecs.BOM_UTF8)

    def next(self) -> bytes:
        """The next character that is no space; it stays where it is."""
        if self.is_at_end():
            raise self._source.error("breaks off in the middle of the object: the file is cut off", self.line)
        return self._data[self._at : self._at + 1]

    def expect(self, wanted: bytes, message: str = "is not valid JSON") -> None:
        if self.next() != wanted:
            raise self._source.error(message, self.line)
        self._go(self._at + 1)

    def is_at_end(self) -> bool:
        while True:
            match = SPACE.match(self._data, self._at)
            self._go(match.end() if match else self._at)
            if self._at < len(self._data):
                return False
            if not self._more():
                return True

    def expect_end(self) -> None:
        if not self.is_at_end():
            raise self._source.error("goes on after the object has ended: it should be one JSON object", self.line)

    def value(self) -> tuple[RecordLocation, bytes]:
        """The value that begins here, unparsed. Depth and length are bounded before anything is parsed."""
        self.next()
        depth, position = 0, self._at
        while True:
            match = MARK.search(self._data, position)
            if match is None:
                position = len(self._data)
                self._need_more()
                continue
            mark, position = match[0], match.end()
            if mark == b'"':
                position = self._string_end(position)
            elif mark in b"{[":
                depth += 1
                if depth > DEEPEST:
                    raise self._source.error(f"is nested more than {DEEPEST} deep: this is no story", self.line)
            elif depth == 0:  # a number or a word ends where the object goes on
                position = match.start()
                break
            elif mark in b"}]":
                depth -= 1
            if depth == 0:
                break
        raw = self._data[self._at : position]
        if len(raw) > self._longest:
            raise self._source.error(f"a record of over {self._longest:,} bytes", self.line)
        location = RecordLocation("", self.line, self._offset + self._at, len(raw))
        self._go(position)
        if position > TRIMMED_BYTES:
            self._data, self._offset, self._at = self._data[position:], self._offset + position, 0
        return location, raw

    def _string_end(self, position: int) -> int:
        while True:
            match = IN_STRING.search(self._data, position)
            if match is None:
                position = max(position, len(self._data))
                self._need_more()
            elif match[0] == b'"':
                return match.end()
            else:
                position = match.end() + 1

    def _need_more(self) -> None:
        if len(self._data) - self._at > self._longest:
            raise self._source.error(f"a record of over {self._longest:,} bytes", self.line)
        if not self._more():
            raise self._source.error("breaks off inside a record that begins here: the file is cut off", self.line)

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self._data += chunk
        return bool(chunk)

    def _go(self, position: int) -> None:
        self.line += _line_ends(self._data[self._at : position])
        self._at = position
