"""From rows to events: what tables and JSON lines share.

A row has a speaker and what is said, and perhaps where that stands: season, episode, chapter, act, scene, setting. An
empty cell of these means 'as above', as spreadsheets are filled in; chapters and scenes that have names and no numbers
are counted in the order in which they come. Who a row is said `to` is there from that line on.

Rows that `understudy export` wrote have the moments of their scenes (2.3.1): these are read back as they were, with the
usual names for levels, since rows do not tell the story's own. Their speakers are people, not labels: they are neither
taken apart nor merged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, NamedTuple

from understudy.formats.transcript.labels import TranscriptStatistics
from understudy.sources import Description, Event, Heading, Movement, Opening, SceneStart, Speech, Unread
from understudy.sources.columns import LEVELS, Columns
from understudy.sources.names import DeclaredNames, is_group
from understudy.sources.source import SourceFile
from understudy.story.types import Source

NOBODY = frozenset(("", "background", "none", "null", "nan", "narrator:"))
LOOK_AHEAD = 100  # rows that decide how a table counts time
LARGEST = 2**32 - 1
DOTTED = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,3}")
OUTER = ("book", "part", "chapter")
SCENE_PREFIX = "scene's "
NUMBERED = re.compile(r"(?:[^\W\d_]{1,12}[\s._#-]{0,3})?0*(\d{1,10})(?:\.0+)?")
QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
SEPARATOR = re.compile(r"\s*[,;/|]\s*|\s+and\s+|\s+&\s+", re.IGNORECASE)


class TableRow(NamedTuple):
    """A row as it stands in the file: its first line, how many lines it has, its text and its cells."""

    number: int
    units: int
    raw: str
    cells: Mapping[str, Any]


def as_number(value: object) -> int | None:
    """1, 1.0, "1" and "Season 1" are all one."""
    if isinstance(value, bool) or value is None:
        return None
    match = NUMBERED.fullmatch(str(value).strip())
    return int(match[1]) if match and int(match[1]) < LARGEST else None


def cell_text(value: object) -> str | None:
    """The words of a cell, in one line; None where it cannot hold any."""
    if isinstance(value, (dict, bool)):
        return None
    parts = [str(part) for part in value] if isinstance(value, list) else [] if value is None else [str(value)]
    return " ".join(" ".join(parts).split())


def row_events(
    source: SourceFile, rows: Iterable[TableRow], columns_of: Callable[[Mapping[str, Any]], Columns]
) -> Iterator[Event]:
    """The events of a table; `columns_of` says which of a row's cells holds what."""
    remaining = iter(rows)
    first = [(row, columns_of(row.cells)) for row in islice(remaining, LOOK_AHEAD)]
    depths = {_scene_depth(row.cells) for row, _ in first}
    depth = depths.pop() if len(depths) == 1 else 0
    first = [_dated(row, columns, depth) for row, columns in first]
    dating = _Dating.of_rows(first)
    speakers_of = _labels if depth == 0 else _person
    declared = DeclaredNames()
    yield Opening((*dating.levels, "scene", "line"))
    for row, columns in chain(first, (_dated(row, columns_of(row.cells), depth) for row in remaining)):
        at = source.at(row.number)
        if not dating.applies_to(row, columns):
            reason = f"is not dated by {' and '.join(dating.levels) or 'scene'} like the rows before it"
            yield Unread(at, row.raw[:200], reason, row.units)
            continue
        yield from dating.events(source, row, columns)
        speakers = speakers_of(None if columns.speaker is None else row.cells.get(columns.speaker))
        if depth:
            yield from declared.entries(at, *speakers)
        yield from _spoken(at, row, columns, speakers, dating)


def _scene_depth(cells: Mapping[str, Any]) -> int:
    """How many numbers the moment of a row's scene has, where `export` wrote it; 0 for other rows."""
    moment, scene = cells.get("moment"), cells.get("scene")
    if not (isinstance(moment, str) and isinstance(scene, str) and DOTTED.fullmatch(scene)):
        return 0
    return scene.count(".") + 1 if moment.rpartition(".")[0] == scene else 0


def _dated(row: TableRow, columns: Columns, depth: int) -> tuple[TableRow, Columns]:
    """A row with the numbers of its scene's moment in cells of their own."""
    if depth < 2 or _scene_depth(row.cells) != depth:
        return row, columns
    names = (*OUTER[1 - depth :], "scene")
    cells = {f"{SCENE_PREFIX}{name}": number for name, number in zip(names, row.cells["scene"].split("."))}
    named = replace(columns, **{name: f"{SCENE_PREFIX}{name}" for name in names})
    return row._replace(cells={**row.cells, **cells}), named


def _spoken(at: Source, row: TableRow, columns: Columns, speakers: tuple[str, ...], dating: _Dating) -> Iterator[Event]:
    text = None if columns.text is None else cell_text(row.cells.get(columns.text))
    if not text:
        reason = "says nothing" if text == "" else "has no column of words"
        yield Unread(at, row.raw[:200], reason, row.units)
        return
    dating.scene_number = dating.scene_number or 1  # a line before any scene makes one
    faced = tuple(name for name in _addressees(row, columns) if name not in dating.present)
    if faced:
        yield Movement(at, enter=faced, units=0)
    dating.present.update(faced, speakers)
    yield Speech(at, speakers, text, row.units) if speakers else Description(at, text, units=row.units)


def _person(value: object) -> tuple[str, ...]:
    """The speaker of a row that was exported."""
    return (value,) if isinstance(value, str) and value.strip() else ()


def _labels(value: object) -> tuple[str, ...]:
    """Whoever is named as speaking; `Ann and Bob` are two."""
    if isinstance(value, dict):
        return ()
    names = [str(name).strip() for name in value] if isinstance(value, list) else [str(value or "").strip()]
    names = [name for name in names if name.casefold() not in NOBODY]
    return TranscriptStatistics().speakers(names[0]) if len(names) == 1 else tuple(names)


def _addressees(row: TableRow, columns: Columns) -> tuple[str, ...]:
    value = None if columns.to is None else row.cells.get(columns.to)
    if isinstance(value, dict):  # probabilities, as `export --addressees` writes them, are guesses
        return ()
    if isinstance(value, str) and value.startswith("["):
        names = [first or second for first, second in QUOTED.findall(value)]
    else:
        names = [str(name) for name in value] if isinstance(value, list) else SEPARATOR.split(str(value or ""))
    plain = dict.fromkeys(name.strip() for name in names)
    return tuple(name for name in plain if name.casefold() not in NOBODY and not is_group(name))


@dataclass(slots=True)
class _Dating:
    """Where in the story the rows have come to."""

    levels: tuple[str, ...]
    numeric: frozenset[str]
    position: tuple[int, ...] = ()
    values: dict[str, str] = field(default_factory=dict)
    scene: tuple[str, str] = ("", "")
    scene_number: int = 0
    present: set[str] = field(default_factory=set)

    @classmethod
    def of_rows(cls, rows: list[tuple[TableRow, Columns]]) -> _Dating:
        values: dict[str, list[object]] = {level: [] for level in LEVELS}
        for row, columns in rows:
            for level in LEVELS:
                if (value := _cell(row, getattr(columns, level))) not in (None, ""):
                    values[level].append(value)
        levels = tuple(level for level in LEVELS if values[level])
        return cls(levels, frozenset(level for level in levels if all(as_number(v) is not None for v in values[level])))

    def applies_to(self, row: TableRow, columns: Columns) -> bool:
        """Does a row have a cell for every level, filled in here or above?"""
        for level in self.levels:
            value = _cell(row, getattr(columns, level))
            if value is None or (value == "" and level not in self.values):
                return False
            if value != "" and level in self.numeric and as_number(value) is None:
                return False
        return True

    def events(self, source: SourceFile, row: TableRow, columns: Columns) -> Iterator[Event]:
        """The headings and the scene that begin with a row."""
        at = source.at(row.number)
        values = {level: self._value(row, getattr(columns, level), level) for level in self.levels}
        if self.levels and values != self.values:
            self.position = self._position(values)
            self.values, self.scene, self.scene_number = values, ("", ""), 0
            self.present.clear()
            title = cell_text(row.cells.get(columns.title)) if columns.title else ""
            yield Heading(at, title or " ".join(values.values()), self.position, units=0)
        number, setting = _cell(row, columns.scene) or self.scene[0], _cell(row, columns.setting) or self.scene[1]
        if (number, setting) != self.scene:
            self.scene = number, setting
            self.present.clear()
            counted = as_number(number)
            if counted is not None and counted > self.scene_number:
                self.scene_number = counted
                yield SceneStart(at, setting, number=counted, units=0)
            else:
                self.scene_number += 1
                yield SceneStart(at, setting or ("" if counted is not None else number), units=0)

    def _value(self, row: TableRow, column: str | None, level: str) -> str:
        value = _cell(row, column) or self.values[level]
        return str(as_number(value)) if level in self.numeric else value

    def _position(self, values: Mapping[str, str]) -> tuple[int, ...]:
        numbers: list[int] = []
        same = bool(self.values)  # so far, from the top down
        for depth, level in enumerate(self.levels):
            before = self.position[depth] if same else 0
            same = same and values[level] == self.values[level]
            counted = as_number(values[level]) if level in self.numeric else None
            numbers.append((before if same else before + 1) if counted is None else counted)
        return tuple(numbers)


def _cell(row: TableRow, column: str | None) -> str | None:
    """A cell by which a row is dated, in one line; None where the row has no such cell."""
    value = None if column is None else row.cells.get(column)
    return None if value is None else cell_text(value)
