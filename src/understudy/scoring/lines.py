"""Lines to be judged, from a text file (a line each), a .jsonl file ({"text": ...} each) or stdin, in pieces.

A file is never held whole. Unlike a script found in the wild, it is asked to be UTF-8: a guess would change the words.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from understudy.errors import InputError

__all__ = ["PIECE_LINES", "Span", "pieces"]

PIECE_LINES = 4096
PIECE_BYTES = 1 << 22
LONGEST = 64 << 20
OTHER_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class Span:
    """Some whole lines of a file: from which byte up to which, and the number of the first line."""

    start: int
    stop: int
    first: int


def pieces(path: Path, span: Span | None = None) -> Iterator[list[str]]:
    """The lines of a file, or of a span of it, some at a time; `-` is stdin. Every line counts, blank ones too."""
    if str(path) == "-":
        yield from _pieces(sys.stdin.buffer, Path("stdin"), None)
        return
    if path.is_dir():
        raise InputError("is a folder, not a file of lines", path)
    if not path.exists():
        raise InputError("no such file", path)
    with path.open("rb", buffering=1 << 18) as file:
        yield from _pieces(file, path, span)


def _pieces(file: BinaryIO, path: Path, span: Span | None) -> Iterator[list[str]]:
    as_json = path.suffix.lower() in (".jsonl", ".ndjson")
    piece: list[str] = []
    size = number = 0
    if span is not None:
        file.seek(span.start)
        number = span.first - 1
    while (span is None or file.tell() < span.stop) and (raw := file.readline(LONGEST + 1)):
        number += 1
        if len(raw) > LONGEST:
            raise InputError(f"a line of over {LONGEST >> 20} MB: this is not a file of lines", path, number)
        text = _decoded(raw, path, number)
        piece.append(_text_of(text, path, number) if as_json else text)
        size += len(raw)
        if len(piece) == PIECE_LINES or size >= PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if not number:
        raise InputError("is empty: there is no line to score", path)
    if piece:
        yield piece


def _decoded(raw: bytes, path: Path, number: int) -> str:
    if number == 1:
        if raw.startswith(OTHER_MARKS):
            raise InputError("is UTF-16: convert it to UTF-8 first", path)
        raw = raw.removeprefix(codecs.BOM_UTF8)
    if b"\0" in raw:
        raise InputError("holds NUL bytes: this is not a text file, or it is damaged", path, number)
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8: convert it first, as with iconv -f SHIFT_JIS -t UTF-8", path, number) from error


def _text_of(line: str, path: Path, number: int) -> str:
    try:
        document = json.loads(line)
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", path, number) from error
    if not isinstance(document, dict) or not isinstance(document.get("text"), str):
        raise InputError('is not an object with a text: {"text": "..."}', path, number)
    text = str(document["text"])
    if "\0" in text:
        raise InputError("has a NUL character in its text: clean the file first", path, number)
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InputError("has half a character (a lone surrogate) in its text", path, number)
    return text
