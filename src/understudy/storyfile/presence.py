"""Who witnessed which lines, who has met, or heard named, whom since when, and which names stand where first.

Somebody is there if they spoke, were listed, or entered and had not left. Who is listed, or speaks before any
direction brings them in, was there from the scene's first line; who enters is there from that line on; who leaves
hears the line that says so and nothing after, until they enter or speak again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, permutations
from operator import itemgetter
from typing import Literal, NamedTuple

from understudy.storyfile.delivery import deliveries
from understudy.storyfile.name_finder import HeardName, NameFinder

__all__ = ["PresenceCue", "PresenceInterval", "presence_intervals", "write_presence"]


class PresenceCue(NamedTuple):
    """Something that tells of somebody's presence, at a line. `character` None with 'leave': everybody goes."""

    line: int
    kind: Literal["listed", "speaks", "enter", "leave"]
    character: int | None


class PresenceInterval(NamedTuple):
    """A stretch of a scene, first and last line included, that a character was there for."""

    character: int
    first: int
    last: int


def presence_intervals(cues: Iterable[PresenceCue], first: int, last: int) -> Sequence[PresenceInterval]:
    """The intervals of everybody in a scene with the lines `first` to `last`. Cues come in order of their lines."""
    since: dict[int, int] = {}
    ended: dict[int, list[PresenceInterval]] = {}  # by character; somebody who is present has a key as well

    def leave(character: int, line: int) -> None:
        if character not in ended:  # was there from the start: only the leaving is mentioned
            since[character] = first
        if character in since:
            ended.setdefault(character, []).append(PresenceInterval(character, since.pop(character), line))

    for cue in cues:
        if cue.kind == "leave":
            for character in list(since) if cue.character is None else [cue.character]:
                leave(character, cue.line)
            continue
        assert cue.character is not None
        if cue.character not in since:
            earlier = ended.get(cue.character)
            if earlier and earlier[-1].last >= cue.line:  # out and in again within one line: never away
                since[cue.character] = earlier.pop().first
                continue
            from_start = cue.kind == "listed" or (cue.kind == "speaks" and earlier is None)
            since[cue.character] = first if from_start else cue.line
            ended.setdefault(cue.character, [])
    for character, start in since.items():
        ended[character].append(PresenceInterval(character, start, last))
    return [interval for intervals in ended.values() for interval in intervals if interval.first <= interval.last]


class _LineRow(NamedTuple):
    line: int
    speaker: int | None
    text: str


class _FirstMeetings:
    """The first line at which each character met each other, and the first at which it heard them named."""

    def __init__(self) -> None:
        self._met: dict[tuple[int, int], int] = {}
        self._named: dict[tuple[int, int], int] = {}

    def meet(self, intervals: Sequence[PresenceInterval]) -> None:
        for first, second in permutations(intervals, 2):
            together = max(first.first, second.first)
            if first.character != second.character and together <= min(first.last, second.last):
                self._met.setdefault((first.character, second.character), together)

    def hear(self, named: set[int], line: int, intervals: Sequence[PresenceInterval]) -> None:
        for interval in intervals:
            if interval.first <= line <= interval.last:
                for character in named - {interval.character}:
                    self._named.setdefault((interval.character, character), line)

    def rows(self) -> Iterator[tuple[int, int, int | None, int | None]]:
        for pair in self._met.keys() | self._named.keys():
            yield (*pair, self._met.get(pair), self._named.get(pair))


def write_presence(connection: sqlite3.Connection, first_group: int) -> dict[HeardName, int]:
    """Fill the tables `presence` and `acquaintance` in one pass over the scenes; the first line that has each name.

    Characters numbered from `first_group` on are groups ('All'), present nowhere.
    """
    finder = NameFinder(connection.execute("SELECT character, alias FROM aliases").fetchall())
    meetings = _FirstMeetings()
    first_lines: dict[HeardName, int] = {}
    cues = _cues_by_scene(connection, first_group)
    next_cues = next(cues, None)
    rows = connection.execute("SELECT scene, id, speaker, text FROM lines ORDER BY id")
    for scene, group in groupby(rows, key=itemgetter(0)):
        lines = [_LineRow(line, speaker, text) for _, line, speaker, text in group]
        cues_of_scene = [
            PresenceCue(row.line, "speaks", row.speaker)
            for row in lines
            if row.speaker is not None and row.speaker < first_group
        ]
        while next_cues is not None and next_cues[0] <= scene:
            if next_cues[0] == scene:
                cues_of_scene.extend(next_cues[1])
            next_cues = next(cues, None)
        cues_of_scene.sort(key=lambda cue: (cue.line, cue.kind != "listed"))
        intervals = presence_intervals(cues_of_scene, lines[0].line, lines[-1].line)
        connection.executemany(
            "INSERT OR IGNORE INTO presence VALUES (?, ?, ?, ?)",
            ((interval.character, interval.first, interval.last, scene) for interval in intervals),
        )
        meetings.meet(intervals)
        for row, delivery in zip(lines, deliveries(lines)):
            names = list(finder.find_names(row.text))
            for name in names:
                first_lines.setdefault(name, row.line)
            if row.speaker is None or not names:
                continue  # a direction is the author's word: nobody in the scene hears the names in it
            if named := set(finder.find(delivery.aloud)):
                meetings.hear(named, row.line, intervals)
    connection.executemany("INSERT INTO acquaintance VALUES (?, ?, ?, ?)", meetings.rows())
    return first_lines


def _cues_by_scene(connection: sqlite3.Connection, first_group: int) -> Iterator[tuple[int, list[PresenceCue]]]:
    rows = connection.execute("SELECT scene, line, kind, label FROM cues ORDER BY scene, rowid")
    for scene, group in groupby(rows, key=itemgetter(0)):
        cues = []
        for _, line, kind, character in group:
            if kind == "clear":
                cues.append(PresenceCue(line, "leave", None))
            elif character is not None and character < first_group:  # else the name in the direction is nobody's
                cues.append(PresenceCue(line, kind, character))
        yield scene, cues
