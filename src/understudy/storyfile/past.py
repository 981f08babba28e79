"""What one character has lived through before one moment, and nothing else.

The only way a persona reaches the story: a connection of its own on which only views with character and moment baked
in can be read. SQLite itself refuses every other table, so a query that would show the future, or a scene the
character was not in, does not compile.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from understudy.story import Exchange, Line, Scene, Source
from understudy.storyfile.database import SharedConnection, connect, translated_errors, unpack

__all__ = ["StoryPast"]

# Line numbers run in story order, so 'before the moment' is `id < {bound}`.
VIEWS = """
CREATE TEMP TABLE known (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TEMP VIEW own_numbers AS SELECT id FROM main.lines WHERE speaker = {character} AND id < {bound};
CREATE TEMP VIEW own_lines AS
    SELECT lines.id, scenes.moment, lines.number, known.name, lines.text, files.name AS file, lines.line
    FROM main.lines JOIN main.scenes ON scenes.id = lines.scene
    JOIN main.files ON files.id = lines.file JOIN known ON known.id = lines.speaker
    WHERE lines.speaker = {character} AND lines.id < {bound};
CREATE TEMP VIEW past_scenes AS
    SELECT presence.first, scenes.id, scenes.moment, scenes.setting
    FROM main.presence JOIN main.scenes ON scenes.id = presence.scene
    WHERE presence.character = {character} AND presence.first < {bound};
CREATE TEMP VIEW past_lines AS
    SELECT presence.scene, lines.id, scenes.moment, lines.number, known.name, lines.text, files.name AS file, lines.line
    FROM main.presence CROSS JOIN main.lines ON lines.id BETWEEN presence.first AND presence.last
    JOIN main.scenes ON scenes.id = presence.scene JOIN main.files ON files.id = lines.file
    LEFT JOIN known ON known.id = lines.speaker
    WHERE presence.character = {character} AND lines.id < {bound};
CREATE TEMP VIEW company AS
    SELECT DISTINCT mine.scene, known.name FROM main.presence AS mine INDEXED BY presence_by_scene
    CROSS JOIN main.presence AS theirs INDEXED BY presence_by_scene ON theirs.scene = mine.scene
         AND theirs.first <= mine.last AND mine.first <= theirs.last AND theirs.first < {bound}
    JOIN known ON known.id = theirs.character
    WHERE mine.character = {character} AND mine.first < {bound};
"""
ALLOWED_VIEWS = frozenset({"own_numbers", "own_lines", "past_scenes", "past_lines", "company"})
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION})


class StoryPast:
    """Lazy views: rows are read only when a method is called, and only as many as it needs.

    `known` gives the names by which the character knows those it has met, each with their number in the file.
    """

    def __init__(
        self,
        address: str,
        path: Path | None,
        levels: tuple[str, ...],
        character: int,
        bound: int,
        known: tuple[tuple[int, str], ...],
    ) -> None:
        self._levels = levels
        self._name = dict(known)[character]
        with translated_errors(path):
            connection = connect(address, path)
            connection.executescript(VIEWS.format(character=int(character), bound=int(bound)))
            connection.executemany("INSERT INTO known VALUES (?, ?)", known)
            connection.commit()
        connection.set_authorizer(_authorize)
        self._db = SharedConnection(connection, path)

    def __len__(self) -> int:
        """How many lines the character has said."""
        ((number,),) = self._db.rows("SELECT count(id) FROM own_numbers")
        return int(number)

    def lines(self, last: int | None = None) -> tuple[Line, ...]:
        """What the character said, in story order; `last` keeps the most recent."""
        newest_first = self._db.rows(
            "SELECT moment, number, name, text, file, line FROM own_lines ORDER BY id DESC LIMIT ?", (_limit(last),)
        )
        return tuple(map(self._line, reversed(newest_first)))

    def scenes(self, last: int | None = None) -> Iterator[Scene]:
        """The scenes the character was in, as far as it was there, in story order; `last` keeps the most recent."""
        newest_first: dict[int, tuple[bytes, str]] = {}  # somebody who left and came back has a row for each stay
        for scene, moment, setting in self._db.stream(
            "SELECT id, moment, setting FROM past_scenes ORDER BY first DESC"
        ):
            if scene not in newest_first and last is not None and len(newest_first) == last:
                break
            newest_first[scene] = (moment, setting)
        for scene, (moment, setting) in reversed(newest_first.items()):
            present = self._db.rows("SELECT name FROM company WHERE scene = ? ORDER BY name", (scene,))
            yield Scene(
                unpack(moment, self._levels), setting, tuple(name for (name,) in present), self._lines_of(scene)
            )

    def exchanges(self) -> Iterator[Exchange]:
        """Each thing the character said, with what it had just heard in that scene."""
        for scene in self.scenes():
            heard: Line | None = None
            for line in scene.lines:
                if line.speaker == self._name:
                    yield Exchange(heard, line, scene.setting)
                elif line.speaker is not None:
                    heard = line

    def _lines_of(self, scene: int) -> tuple[Line, ...]:
        rows = self._db.rows(
            "SELECT moment, number, name, text, file, line FROM past_lines WHERE scene = ? ORDER BY id", (scene,)
        )
        return tuple(map(self._line, rows))

    def _line(self, row: tuple[bytes, int, str | None, str, str, int]) -> Line:
        moment, number, speaker, text, file, line = row
        return Line(unpack(moment, self._levels, number), speaker, text, Source(file, line))


def _limit(last: int | None) -> int:
    return -1 if last is None else last


def _authorize(action: int, table: str | None, _column: str | None, _database: str | None, view: str | None) -> int:
    """SQLite calls this for everything a statement would access; `view` is the view that accesses it."""
    if action in READING or (action == sqlite3.SQLITE_READ and (table in ALLOWED_VIEWS or view in ALLOWED_VIEWS)):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
