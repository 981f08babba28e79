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
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Literal, Self

from understudy.errors import InputError
from understudy.story import Character, Fact, LoreEntry, Moment, Relation, Source
from understudy.storyfile.cards import CardRecord, write_cards
from understudy.storyfile.database import migrate, pack
from understudy.storyfile.presence import write_presence
from understudy.storyfile.spans import Spans, write_spans
from understudy.storyfile.validation import identity_of, remember_validated
from understudy.text import fold

__all__ = ["MEMORY", "StoryWriter"]

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
                ((fold(name), name, number) for name in (character.name, *character.aliases)),
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
        if self._partial is not None:
            self.connection.close()
            self._partial.unlink(missing_ok=True)
        elif kind is not None:
            self.connection.close()


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
