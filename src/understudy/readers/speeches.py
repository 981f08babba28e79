"""Speeches in rows: JSONL with a speaker and what is said, and perhaps season, episode, scene.

One row is one unit. A row that cannot be a speech or a description is listed as unread; a row that is no JSON at all
is an error, for then the file is damaged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from understudy.readers.events import Description, Event, Heading, Opening, Reader, SceneStart, Speech, Unread
from understudy.readers.jsonstream import SURROGATE
from understudy.readers.source import SourceFile
from understudy.readers.transcript.labels import TranscriptStatistics

__all__ = ["READER", "events", "recognises"]

WHO = ("character", "speaker", "name")
WHAT = ("lines", "text", "line", "utterance")
NOBODY = frozenset(("", "background", "none", "null", "narrator:"))


def recognises(head: bytes, _: Path) -> bool:
    """The first row is a JSON object with a speaker and words."""
    first = next((line for line in head.splitlines() if line.strip()), b"").removeprefix(b"\xef\xbb\xbf")
    if not first.lstrip().startswith(b"{"):
        return False
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and _key(row, WHO) is not None and _text(row) is not None


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file."""
    levels: tuple[str, ...] | None = None
    position: tuple[int, ...] | None = None
    scene: object = None
    for number, line in source.lines():
        if not line or line.isspace():
            continue
        row = _row(source, line, number)
        at = source.at(number)
        counted = tuple(level for level in ("season", "episode") if _number(row.get(level)) is not None)
        if levels is None:
            levels = counted
            yield Opening((*levels, "scene", "line"))
        if counted != levels:
            yield Unread(at, line[:200], f"is not dated by {' and '.join(levels) or 'scene'} like the rows before it")
            continue
        here = tuple(_number(row[level]) or 0 for level in levels)
        if levels and here != position:
            position, scene = here, None
            yield Heading(at, str(row.get("title") or " ".join(map(str, here))), here, units=0)
        if row.get("scene") is not None and row["scene"] != scene:
            scene = row["scene"]
            yield SceneStart(at, "" if isinstance(scene, (int, float)) else str(scene), units=0)
        yield _event(source, number, row, line)
    if levels is None:
        yield Opening()


def _event(source: SourceFile, number: int, row: Mapping[str, Any], line: str) -> Event:
    at = source.at(number)
    text = _text(row)
    if not text:
        return Unread(at, line[:200], "says nothing" if text == "" else f"has none of {', '.join(WHAT)}")
    key = _key(row, WHO)
    who = row[key] if key else None
    names = [str(name).strip() for name in who] if isinstance(who, list) else [str(who or "").strip()]
    names = [name for name in names if name.casefold() not in NOBODY]
    if not names:
        return Description(at, text)
    speakers = tuple(names) if len(names) > 1 else TranscriptStatistics().speakers(names[0])
    return Speech(at, speakers, text)


def _row(source: SourceFile, line: str, number: int) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise source.error(f"is not a row of JSON ({error}): the file is cut off or damaged", number) from error
    if SURROGATE.search(line):
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise source.error("holds half of a character (a lone surrogate): the file is damaged", number) from error
    if not isinstance(row, dict):
        raise source.error("is JSON, but not an object with a speaker and words", number)
    return row


def _key(row: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((key for key in keys if key in row), None)


def _text(row: Mapping[str, Any]) -> str | None:
    key = _key(row, WHAT)
    if key is None or isinstance(row[key], (dict, bool)):
        return None
    value = row[key]
    parts = [str(part) for part in value] if isinstance(value, list) else [] if value is None else [str(value)]
    return " ".join(" ".join(parts).split())


def _number(value: object) -> int | None:
    """1, 1.0 and "1" are all one."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(str(value))
    except ValueError:
        return None
    return int(number) if number.is_integer() and 0 <= number < 2**32 - 1 else None


READER = Reader("speeches", recognises, events)
