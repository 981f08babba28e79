"""What one character has lived through and heard before one moment, and nothing else.

The only way a persona reaches the story: a connection of its own on which only views with character and moment baked
in can be read. SQLite itself refuses every other table, so a query that would show the future, or a scene the
character was not in, does not compile.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from understudy.story.storyfile.database import SharedConnection, connect, translated_errors, unpack
from understudy.story.types import Exchange, Line, Moment, Scene, Source
from understudy.text import fold

# How lines are spoken, as far as directions say so: aside, or not in the speaker's own words.
#
# A direction speaks of the line after it, and of what the same speaker goes on to say until it ends: 'Aside.', 'To
# himself', 'beiseite'; 'aloud' and 'To Ann' end an aside. In brackets it stands in the line itself, and speaks of what
# follows there. What is aside is a thought: nobody but its speaker, or the one it is said to, hears it. What is read
# out or sung, and a line that is mostly a quotation, is said aloud, but is no statement of who says it.


PART = re.compile(r"[^.,;:!—–()\[\]（）。、，；]+")
BRACKET = re.compile(r"[(\[（]([^()\[\]（）]{1,80})[)\]）]")
ASIDE = re.compile(
    r"(?:speaking |speaks |spoken |half )?(?:aside|apart|(?:to|with) (?:(?:him|her|it|one|my)self|themselves)|"
    r"bei ?seite|bey ?seite|bei ?seits|bey ?seits|für sich|vor sich(?: hin)?|zu sich(?: selbst)?|à part|aparte|a parte|"
    r"в сторону|про себя|傍白|独白|独り言)",
    re.IGNORECASE,
)
ASIDE_TO = re.compile(
    r"(?:aside|apart|beiseite|leise|heimlich|whisper(?:s|ing|ed)?) (?:to|zu|zum|zur) (.+)", re.IGNORECASE
)
ALOUD = re.compile(
    r"(?:to|turns to|turning to|zu|zum|zur) .+|aloud|loudly|laut|haut|tout haut|alto|вслух|громко", re.IGNORECASE
)
RECITED = re.compile(
    r"(?:s?he |they |again |still )?(?:(?:reads?|reading|liest|lesend|lit|lisant)"
    r"(?: (?:aloud|out|it|on|again|from .+|(?:the|a|his|her|this|that|another)? ?(?:letter|note|paper|poem)\b.*))?|"
    r"(?:sings?|singing|recites?|reciting|singt|singend|chante|chantant)(?: .+)?)",
    re.IGNORECASE,
)
MARK = re.compile(r"[(\[（“\"]")  # begins a direction, or a quotation
WORD = re.compile(r"\w+")
QUOTATION = re.compile(r"[“\"][^“”\"]+[”\"]")
LONGEST_DIRECTION = 120  # characters; what is longer is narration
MOSTLY, LEAST_QUOTED = 0.6, 30  # of a line's characters; a word in quotation marks is only stressed


class SceneLine(Protocol):
    """A line: who says it (None: a direction), and its text."""

    @property
    def speaker(self) -> object: ...
    @property
    def text(self) -> str: ...


class Delivery(NamedTuple):
    """What of a line everybody there hears, and what nobody does but its speaker and those an aside is `to`."""

    aloud: str
    aside: str = ""
    to: str = ""
    """Those an aside is meant for, in the direction's words."""
    is_own: bool = True
    """Are what is aloud the speaker's own words?"""
    announces: bool = False
    """Is it a direction that speaks of nothing but how the line after it is said?"""

    def is_heard_by(self, name: str) -> bool:
        """Does somebody else who is there hear all of it?"""
        return not self.aside or not _words(name).isdisjoint(_words(self.to))


class _Manner(NamedTuple):
    is_aside: bool = False
    to: str = ""
    is_recited: bool = False


PLAINLY = _Manner()


def deliveries(lines: Sequence[SceneLine]) -> Iterator[Delivery]:
    """How each line of a scene, or of a part of it, is spoken."""
    speaker: object = None
    manner = PLAINLY
    announced: _Manner | None = None
    is_interrupted = False  # by a direction: then the same speech may go on after it
    for line in lines:
        if line.speaker is None:
            announced = _manner(line.text) or announced
            is_interrupted = True
            yield Delivery(line.text, announces=_says_only_manner(line.text))
            continue
        if announced is not None:
            manner = announced
        elif line.speaker != speaker or not is_interrupted:
            manner = PLAINLY
        speaker, announced, is_interrupted = line.speaker, None, False
        yield _delivered(line.text, manner)


def _delivered(text: str, manner: _Manner) -> Delivery:
    """How a line is spoken that begins in a manner."""
    if manner is PLAINLY and MARK.search(text) is None:
        return Delivery(text)  # as most lines are
    aloud, aside = list[str](), list[str]()
    to, start = manner.to, 0
    is_recited = manner.is_recited
    for match in BRACKET.finditer(text):
        following = _manner(match[1])
        if following is None:
            continue
        (aside if manner.is_aside else aloud).append(text[start : match.start()])
        is_recited |= following.is_recited and not text[: match.start()].strip()
        manner, to = following, to or following.to
        start = match.end() if following.is_aside else match.start()
    (aside if manner.is_aside else aloud).append(text[start:])
    said = " ".join("".join(aloud).split()) if aside else text
    is_own = not is_recited and not _is_quotation(text)
    return Delivery(said, " ".join("".join(aside).split()), to, is_own)


@lru_cache(4096)  # directions repeat
def _manner(direction: str) -> _Manner | None:
    """What a direction says of the manner of speaking; None where it says nothing of it, or tells a story."""
    for part in PART.findall(direction) if len(direction) <= LONGEST_DIRECTION else ():
        words = part.strip()
        if match := ASIDE_TO.fullmatch(words):
            return _Manner(True, match[1])
        if ASIDE.fullmatch(words):
            return _Manner(True)
        if RECITED.fullmatch(words):
            return _Manner(is_recited=True)
        if ALOUD.fullmatch(words):
            return PLAINLY
    return None


def _says_only_manner(direction: str) -> bool:
    parts = [part for part in PART.findall(direction) if part.strip()]
    return bool(parts) and all(_manner(part) is not None for part in parts)


def _words(text: str) -> set[str]:
    return {fold(word) for word in WORD.findall(text)}


def _is_quotation(text: str) -> bool:
    """Is it mostly what somebody else said or wrote? Quotation marks around all of it mark no more than a speech."""
    stripped = text.strip()
    quoted = [match[0] for match in QUOTATION.finditer(stripped)]
    return quoted != [stripped] and sum(map(len, quoted)) >= max(MOSTLY * len(stripped), LEAST_QUOTED)


# Line numbers run in story order, so 'before the moment' is `id < {bound}`.
VIEWS = """
CREATE TEMP TABLE known (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TEMP VIEW own_numbers AS SELECT id FROM main.lines WHERE speaker = {character} AND id < {bound};
CREATE TEMP VIEW own_lines AS
    SELECT lines.id, scenes.moment, lines.number, known.name, lines.text, files.name AS file, lines.line
    FROM main.lines JOIN main.scenes ON scenes.id = lines.scene
    JOIN main.files ON files.id = lines.file JOIN known ON known.id = lines.speaker
    WHERE lines.speaker = {character} AND lines.id < {bound};
CREATE TEMP VIEW unheard AS
    SELECT lines.id FROM main.lines WHERE speaker = {character} AND lines.id < {bound}
    AND NOT EXISTS (SELECT 1 FROM main.presence AS theirs INDEXED BY presence_by_scene
        WHERE theirs.scene = lines.scene AND theirs.character <> {character}
        AND theirs.first <= lines.id AND theirs.last >= lines.id)
    AND EXISTS (SELECT 1 FROM main.presence AS theirs INDEXED BY presence_by_scene
        WHERE theirs.scene = lines.scene AND theirs.character <> {character} AND theirs.first < {bound});
CREATE TEMP VIEW past_scenes AS
    SELECT presence.first, min(presence.last, {bound} - 1) AS last, scenes.id, scenes.moment, scenes.setting
    FROM main.presence JOIN main.scenes ON scenes.id = presence.scene
    WHERE presence.character = {character} AND presence.first < {bound};
CREATE TEMP VIEW past_lines AS
    SELECT presence.scene, lines.id, scenes.moment, lines.number, known.name, lines.text, files.name AS file, lines.line
    FROM main.presence CROSS JOIN main.lines ON lines.id BETWEEN presence.first AND presence.last
    JOIN main.scenes ON scenes.id = presence.scene JOIN main.files ON files.id = lines.file
    LEFT JOIN known ON known.id = lines.speaker
    WHERE presence.character = {character} AND lines.id < {bound};
CREATE TEMP VIEW stays AS
    SELECT mine.scene, known.name, theirs.first, min(theirs.last, {bound} - 1) AS last
    FROM main.presence AS mine INDEXED BY presence_by_scene
    CROSS JOIN main.presence AS theirs INDEXED BY presence_by_scene ON theirs.scene = mine.scene
         AND theirs.first <= mine.last AND mine.first <= theirs.last AND theirs.first < {bound}
    JOIN known ON known.id = theirs.character
    WHERE mine.character = {character} AND mine.first < {bound};
"""
ALLOWED_VIEWS = frozenset({"own_numbers", "own_lines", "unheard", "past_scenes", "past_lines", "stays"})
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION})
SCENES_WITH_COMPANY = 400  # that are remembered
SCENES_WITH_THOUGHTS = 40  # the most recent ones; bounds the work on a long story

Witnessed: TypeAlias = tuple[int, Line, Delivery]
"""A line with its number in the file, and how it was spoken."""


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
        self._companies: dict[int, dict[int, frozenset[str]]] = {}
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
        for number, moment, setting in self._visits(last):
            yield Scene(unpack(moment, self._levels), setting, self._company(number), self._lines(self._rows(number)))

    def latest(self, most: int) -> Scene | None:
        """The scene the character was in last, with the last few of its lines."""
        stay = self._db.row("SELECT id, moment, setting, last FROM past_scenes ORDER BY first DESC LIMIT 1")
        if stay is None:
            return None
        number, moment, setting, last = stay
        rows = self._rows(number, since=last - most + 1)
        return Scene(unpack(moment, self._levels), setting, self._company(number), self._lines(rows))

    def exchanges(self) -> Iterator[Exchange]:
        """Each thing the character said to others in its own words, with what somebody still there had just said."""
        for scene, _, setting in self._visits():
            stays = self._db.rows("SELECT name, first, last FROM stays WHERE scene = ?", (scene,))
            heard: Line | None = None
            for number, line, delivery in self._witnessed(self._rows(scene)):
                if line.speaker != self._name:
                    heard = heard if line.speaker is None else line
                elif number not in self._unheard and delivery.aloud and delivery.is_own:
                    if heard is not None and not _is_there(heard.speaker, number, stays):
                        heard = None
                    yield Exchange(heard, replace(line, text=delivery.aloud), setting)

    def thoughts(self) -> tuple[Line, ...]:
        """What the character said aside, or with nobody there, of late, in story order."""
        return self._thoughts

    def company(self, moment: Moment) -> frozenset[str]:
        """Who else was there for a line; nobody for one that the character did not witness."""
        scene = self._scene_numbers.get(moment.numbers[:-1])
        if scene is None:
            return frozenset()
        if (company := self._companies.get(scene)) is None:
            if len(self._companies) == SCENES_WITH_COMPANY:
                self._companies.clear()
            company = self._companies[scene] = self._company_by_line(scene)
        return company.get(moment.numbers[-1], frozenset())

    @cached_property
    def _scene_numbers(self) -> dict[tuple[int, ...], int]:
        return {unpack(moment, self._levels).numbers: scene for scene, moment, _ in self._visits()}

    def _company_by_line(self, scene: int) -> dict[int, frozenset[str]]:
        """By the number of a line in its scene, who else was there for it."""
        stays = self._db.rows("SELECT name, first, last FROM stays WHERE scene = ?", (scene,))
        return {
            line.moment.numbers[-1]: frozenset(name for name, first, last in stays if first <= number <= last)
            - {self._name}
            for number, line in self._rows(scene)
        }

    @cached_property
    def _thoughts(self) -> tuple[Line, ...]:
        return tuple(
            replace(line, text=line.text if number in self._unheard else delivery.aside)
            for scene, _, _ in self._visits(SCENES_WITH_THOUGHTS)
            for number, line, delivery in self._witnessed(self._rows(scene))
            if line.speaker == self._name and delivery.is_own
            if number in self._unheard or (delivery.aside and not delivery.to)
        )

    @cached_property
    def _unheard(self) -> frozenset[int]:
        """The numbers of own lines that were said while nobody else was there, though somebody was before or after."""
        return frozenset(number for (number,) in self._db.rows("SELECT id FROM unheard"))

    def _visits(self, last: int | None = None) -> Iterator[tuple[int, bytes, str]]:
        """Number, moment and setting of the scenes the character was in."""
        newest_first: dict[int, tuple[bytes, str]] = {}  # somebody who left and came back has a row for each stay
        for scene, moment, setting in self._db.stream(
            "SELECT id, moment, setting FROM past_scenes ORDER BY first DESC"
        ):
            if scene not in newest_first and last is not None and len(newest_first) == last:
                break
            newest_first[scene] = (moment, setting)
        for scene, (moment, setting) in reversed(newest_first.items()):
            yield scene, moment, setting

    def _company(self, scene: int) -> tuple[str, ...]:
        rows = self._db.rows("SELECT DISTINCT name FROM stays WHERE scene = ? ORDER BY name", (scene,))
        return tuple(name for (name,) in rows)

    def _rows(self, scene: int, since: int = 0) -> list[tuple[int, Line]]:
        """The lines of a scene that the character was there for, with their numbers."""
        rows = self._db.rows(
            """SELECT id, moment, number, name, text, file, line FROM past_lines
               WHERE scene = ? AND id >= ? ORDER BY id""",
            (scene, since),
        )
        return [(number, self._line(row)) for number, *row in rows]

    def _lines(self, rows: Sequence[tuple[int, Line]]) -> tuple[Line, ...]:
        return tuple(line for _, line, _ in self._witnessed(rows))

    def _witnessed(self, rows: Sequence[tuple[int, Line]]) -> Iterator[Witnessed]:
        """Lines as the character heard them: without what others said aside, and the directions that announce it."""
        announced: list[Witnessed] = []
        for (number, line), delivery in zip(rows, deliveries([line for _, line in rows])):
            if delivery.announces:
                announced.append((number, line, delivery))
                continue
            if line.speaker not in (None, self._name) and not delivery.is_heard_by(self._name):
                line = replace(line, text=delivery.aloud)
            if line.text or not delivery.aside:
                yield from announced
                yield number, line, delivery
            announced.clear()

    def _line(self, row: Sequence[Any]) -> Line:
        moment, number, speaker, text, file, line = row
        return Line(unpack(moment, self._levels, number), speaker, text, Source(file, line))


def _is_there(name: str | None, line: int, stays: Sequence[tuple[Any, ...]]) -> bool:
    """Was somebody there for a line? Groups, such as 'All', have no stays, and do not leave."""
    of_name = [(first, last) for who, first, last in stays if who == name]
    return not of_name or any(first <= line <= last for first, last in of_name)


def _limit(last: int | None) -> int:
    return -1 if last is None else last


def _authorize(action: int, table: str | None, _column: str | None, _database: str | None, view: str | None) -> int:
    """SQLite calls this for everything a statement would access; `view` is the view that accesses it."""
    if action in READING or (action == sqlite3.SQLITE_READ and (table in ALLOWED_VIEWS or view in ALLOWED_VIEWS)):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY
