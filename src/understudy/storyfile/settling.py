"""The last step of writing a story: who witnessed what, who knew of whom since when, and what is dated."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from understudy.story import Character, Fact, Moment, Relation, Source
from understudy.storyfile.mentions import NameFinder
from understudy.storyfile.presence import Cue, Spell, spells_of_scene
from understudy.storyfile.schema import pack

__all__ = ["write_dated", "write_presence"]


class Row(NamedTuple):
    line: int
    speaker: int | None
    text: str


class Acquaintance:
    """The first line at which each character met, and at which each heard named, each other."""

    def __init__(self) -> None:
        self._met: dict[tuple[int, int], int] = {}
        self._named: dict[tuple[int, int], int] = {}

    def meet(self, spells: Sequence[Spell]) -> None:
        for one in spells:
            for other in spells:
                together = max(one.first, other.first)
                if one.character != other.character and together <= min(one.last, other.last):
                    self._met.setdefault((one.character, other.character), together)

    def hear(self, named: set[int], line: int, spells: Sequence[Spell]) -> None:
        for spell in spells:
            if spell.first <= line <= spell.last:
                for other in named - {spell.character}:
                    self._named.setdefault((spell.character, other), line)

    def rows(self) -> Iterator[tuple[int, int, int | None, int | None]]:
        for pair in self._met.keys() | self._named.keys():
            yield (*pair, self._met.get(pair), self._named.get(pair))


def write_presence(connection: sqlite3.Connection, first_group: int) -> None:
    """One pass over the scenes. Characters numbered from `first_group` on are groups ('All'), present nowhere."""
    finder = NameFinder(connection.execute("SELECT character, alias FROM aliases").fetchall())
    acquaintance = Acquaintance()
    cues = _cues_by_scene(connection, first_group)
    waiting = next(cues, None)
    rows = connection.execute("SELECT scene, id, speaker, text FROM lines ORDER BY id")
    for scene, group in groupby(rows, key=itemgetter(0)):
        said = [Row(line, speaker, text) for _, line, speaker, text in group]
        told = [
            Cue(row.line, "speaks", row.speaker)
            for row in said
            if row.speaker is not None and row.speaker < first_group
        ]
        while waiting is not None and waiting[0] <= scene:
            if waiting[0] == scene:
                told.extend(waiting[1])
            waiting = next(cues, None)
        told.sort(key=lambda cue: (cue.line, cue.kind != "listed"))
        spells = spells_of_scene(told, said[0].line, said[-1].line)
        connection.executemany(
            "INSERT OR IGNORE INTO presence VALUES (?, ?, ?, ?)",
            ((spell.character, spell.first, spell.last, scene) for spell in spells),
        )
        acquaintance.meet(spells)
        for row in said:
            if row.speaker is None:
                continue  # a direction is the author's word: nobody in the scene hears the names in it
            if named := set(finder.find(row.text)):
                acquaintance.hear(named, row.line, spells)
    connection.executemany("INSERT INTO acquaintance VALUES (?, ?, ?, ?)", acquaintance.rows())


def _cues_by_scene(connection: sqlite3.Connection, first_group: int) -> Iterator[tuple[int, list[Cue]]]:
    rows = connection.execute("SELECT scene, line, kind, label FROM cues ORDER BY scene, rowid")
    for scene, group in groupby(rows, key=itemgetter(0)):
        cues = []
        for _, line, kind, character in group:
            if kind == "clear":
                cues.append(Cue(line, "leave", None))
            elif character is not None and character < first_group:  # else the name in the direction is nobody's
                cues.append(Cue(line, kind, character))
        yield scene, cues


def write_dated(
    connection: sqlite3.Connection,
    cast: Sequence[Character],
    facts: Sequence[tuple[Source, Fact]],
    relations: Sequence[tuple[Source, Relation]],
) -> None:
    number = {character.name: place for place, character in enumerate(cast, 1)}
    files = {name: file for file, name in connection.execute("SELECT id, name FROM files")}

    def ends(until: Moment | None) -> bytes | None:
        return pack(until) if until else None

    for source, fact in facts:
        known_to = None if fact.known_to is None else json.dumps([number[name] for name in fact.known_to])
        values = json.dumps(fact.values, ensure_ascii=False)
        connection.execute(
            "INSERT INTO facts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number[fact.who], fact.attribute, values, pack(fact.since), ends(fact.until), known_to,
             files[source.file], source.line),
        )  # fmt: skip
    for source, tie in relations:
        connection.execute(
            "INSERT INTO relations VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number[tie.of], number[tie.to], tie.kind, tie.level, pack(tie.since), ends(tie.until),
             files[source.file], source.line),
        )  # fmt: skip
