"""Writes a story file: to a temporary file first, then moved into place, so that a kill leaves the old or the new one.

Readers hand over lines with speaker *labels*; who stands behind a label is known only when all have been counted.
So lines are loaded with label ids, and `finish` turns them into characters, works out who was present and who
knew of whom since when, and builds the indexes.
"""

from __future__ import annotations

import glob
import json
import os
import sqlite3
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, permutations
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Literal, NamedTuple, Self

from understudy.errors import InputError
from understudy.story.storyfile.database import Spans, migrate, pack, write_spans
from understudy.story.storyfile.past import deliveries
from understudy.story.storyfile.people import CardRecord, write_cards
from understudy.story.storyfile.validation import identity_of, remember_validated
from understudy.story.types import Character, Fact, LoreEntry, Moment, Relation, Source
from understudy.text import HeardName, NameFinder, fold

MEMORY = "file:story-{}?mode=memory&cache=shared"
BATCH = 5_000


class StoryWriter:
    """Fills one story file. Without a path the story is made in memory, and `address` opens it."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        if path is None:
            self.address = MEMORY.format(uuid.uuid4().hex)
            self._partial = None
        else:
            self._partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
            _remove_abandoned(path)
            self.address = f"{self._partial.absolute().as_uri()}?mode=rwc"
        self._lines: list[tuple[int, int, int, int | None, str, int, int]] = []
        self._cues: list[tuple[int, int, str, int | None]] = []
        self._spans: list[tuple[int, Spans, float | None]] = []
        self._next_line = 1
        self._scene: int | None = None

    def file(self, name: str, form: str) -> int:
        cursor = self.connection.execute("INSERT INTO files (name, format) VALUES (?, ?)", (name, form))
        return int(cursor.lastrowid or 0)

    def tally(self, file: int, units: int, counts: Mapping[str, int]) -> None:
        self.connection.execute(
            "UPDATE files SET units = ?, lines = ?, descriptions = ?, headings = ?, unread = ? WHERE id = ?",
            (units, counts["lines"], counts["descriptions"], counts["headings"], counts["unread"], file),
        )

    def unread(self, file: int, line: int, text: str, reason: str) -> None:
        self.connection.execute("INSERT INTO unread VALUES (?, ?, ?, ?)", (file, line, text, reason))

    def heading(self, moment: Moment | None, title: str, file: int, line: int) -> None:
        self.connection.execute(
            "INSERT INTO headings (moment, title, before_scene, file, line) VALUES (?, ?, ?, ?, ?)",
            (pack(moment) if moment else None, title, (self._scene or 0) + 1, file, line),
        )

    def scene(self, moment: Moment, setting: str, file: int, line: int) -> None:
        self._end_scene()
        self._scene = (self._scene or 0) + 1
        self._number = 0
        self.connection.execute(
            "INSERT INTO scenes VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self._scene, pack(moment), setting, self._next_line, self._next_line - 1, file, line),
        )

    def line(
        self,
        label: int | None,
        text: str,
        file: int,
        source_line: int,
        spans: Spans = (),
        confidence: float | None = None,
    ) -> None:
        assert self._scene is not None, "a line stands in a scene"
        self._number += 1
        if spans or confidence is not None:
            self._spans.append((self._next_line, spans, confidence))
        self._lines.append((self._next_line, self._scene, self._number, label, text, file, source_line))
        self._next_line += 1
        if len(self._lines) >= BATCH:
            self._flush()

    def cue(self, kind: Literal["listed", "enter", "leave"], label: int | None, ahead: bool = False) -> None:
        """Somebody is listed for the scene just begun, or enters or leaves with the line just written.

        `ahead`: comes with the line about to be written. No label with 'leave': everybody goes.
        """
        assert self._scene is not None, "a cue stands in a scene"
        line = self._next_line if ahead or kind == "listed" else self._next_line - 1
        self._cues.append((self._scene, line, "clear" if label is None else kind, label))

    def finish(
        self,
        about: Mapping[str, str],
        cast: Sequence[Character],
        groups: Sequence[str],
        character_of: Mapping[int, int],
        facts: Sequence[tuple[Source, Fact]],
        relations: Sequence[tuple[Source, Relation]],
        cards: Mapping[str, CardRecord] = MappingProxyType({}),
        lore: Sequence[tuple[str | None, LoreEntry]] = (),
    ) -> None:
        """Replace labels by characters and close the file. `character_of`: label id -> index into cast + groups."""
        self._end_scene()
        self._flush()
        run = self.connection.execute
        self.connection.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", about.items())
        self._write_cast(cast, groups)
        run("CREATE TEMP TABLE who (label INTEGER PRIMARY KEY, character INTEGER)")
        self.connection.executemany(
            "INSERT INTO who VALUES (?, ?)", ((label, index + 1) for label, index in character_of.items())
        )
        run("UPDATE lines SET speaker = (SELECT character FROM who WHERE label = speaker) WHERE speaker IS NOT NULL")
        run("UPDATE cues SET label = (SELECT character FROM who WHERE who.label = cues.label)")
        first_lines = write_presence(self.connection, first_group=len(cast) + 1)
        migrate(self.connection)
        self.connection.executemany(
            "INSERT INTO names VALUES (?, ?, ?)", ((*name, line) for name, line in first_lines.items())
        )
        run(
            """UPDATE characters SET (lines, first, last) =
               (SELECT count(*), min(lines.id), max(lines.id) FROM lines WHERE speaker = characters.id)"""
        )
        _write_dated(self.connection, cast, facts, relations)
        numbers = {character.name: number for number, character in enumerate(cast, 1)}
        write_cards(self.connection, numbers, cards, lore)
        write_spans(self.connection, self._spans)
        self.connection.commit()
        self._move_into_place()

    def _write_cast(self, cast: Sequence[Character], groups: Sequence[str]) -> None:
        for number, character in enumerate(cast, 1):
            self.connection.execute(
                "INSERT INTO characters (id, name, profile) VALUES (?, ?, ?)",
                (number, character.name, json.dumps(character.profile, ensure_ascii=False)),
            )
            self.connection.executemany(
                "INSERT OR IGNORE INTO aliases VALUES (?, ?, ?)",
                ((fold(name), name, number) for name in character.names),
            )
        self.connection.executemany(
            "INSERT INTO characters (id, name, is_group) VALUES (?, ?, 1)", enumerate(groups, len(cast) + 1)
        )

    def _end_scene(self) -> None:
        if self._scene is not None:
            self.connection.execute("UPDATE scenes SET last = ? WHERE id = ?", (self._next_line - 1, self._scene))

    def _flush(self) -> None:
        self.connection.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?)", self._lines)
        self.connection.executemany("INSERT INTO cues VALUES (?, ?, ?, ?)", self._cues)
        self._lines.clear()
        self._cues.clear()

    def _move_into_place(self) -> None:
        if self._partial is None or self.path is None:
            return
        self.connection.close()
        with self._partial.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(self._partial, self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        os.fsync(folder)  # the new name must survive a power cut as well as the new content
        os.close(folder)
        remember_validated(identity_of(self.path), written_here=True)

    def __enter__(self) -> Self:
        try:
            self.connection = sqlite3.connect(self.address, uri=True, check_same_thread=False)
            self.connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
            migrate(self.connection, upto=1)
            self.connection.execute("CREATE TEMP TABLE cues (scene INTEGER, line INTEGER, kind TEXT, label INTEGER)")
        except BaseException as error:  # an interrupt too must not leave a file behind
            if self._partial is not None:
                self._partial.unlink(missing_ok=True)
            if isinstance(error, sqlite3.Error):
                raise InputError(f"cannot be written: {error}", self.path) from error
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.connection.close()  # a story in memory lives on in the connection of whoever has opened it by now
        if self._partial is not None:
            self._partial.unlink(missing_ok=True)


def _remove_abandoned(path: Path) -> None:
    """Remove temporary files of writers that were killed; those of running processes stay."""
    for partial in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        process = partial.name.split(".")[-2]
        try:
            if int(process) != os.getpid():
                os.kill(int(process), 0)
                continue
        except (ValueError, PermissionError):
            continue
        except ProcessLookupError:
            pass
        partial.unlink(missing_ok=True)


def _write_dated(
    connection: sqlite3.Connection,
    cast: Sequence[Character],
    facts: Sequence[tuple[Source, Fact]],
    relations: Sequence[tuple[Source, Relation]],
) -> None:
    ids = {character.name: number for number, character in enumerate(cast, 1)}
    files = {name: file for file, name in connection.execute("SELECT id, name FROM files")}

    def packed(until: Moment | None) -> bytes | None:
        return pack(until) if until else None

    for source, fact in facts:
        known_to = None if fact.known_to is None else json.dumps([ids[name] for name in fact.known_to])
        values = json.dumps(fact.values, ensure_ascii=False)
        connection.execute(
            "INSERT INTO facts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
            (ids[fact.who], fact.attribute, values, pack(fact.since), packed(fact.until), known_to,
             files[source.file], source.line),
        )  # fmt: skip
    for source, tie in relations:
        connection.execute(
            "INSERT INTO relations VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (ids[tie.of], ids[tie.to], tie.kind, tie.level, pack(tie.since), packed(tie.until),
             files[source.file], source.line, tie.term),
        )  # fmt: skip


# Who witnessed which lines, who has met, or heard named, whom since when, and which names stand where first.
#
# Somebody is there if they spoke, were listed, or entered and had not left. Who is listed, or speaks before any
# direction brings them in, was there from the scene's first line; who enters is there from that line on; who leaves
# hears the line that says so and nothing after, until they enter or speak again.


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
