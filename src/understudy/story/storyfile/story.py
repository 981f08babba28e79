"""A story as a view on its file: of its lines none are held in memory, only its people and their dated facts and ties.

A `Story` knows everything, the future included. Only readers, authors' reports and `persona_at` hold one; an agent
never does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from understudy.errors import InputError, UnknownMoment
from understudy.story.storyfile.database import (
    DOUBTFUL,
    AttributedLines,
    LineSpans,
    SharedConnection,
    address_of,
    connect,
    pack,
    translated_errors,
    unpack,
)
from understudy.story.storyfile.found import FoundClaims, FoundOverlay, found_file_of
from understudy.story.storyfile.past import StoryPast, deliveries
from understudy.story.storyfile.people import CardFile, CardRecord, CastMember, People, SpokenNames
from understudy.story.storyfile.validation import identity_of, is_validated, remember_validated, validate_story_file
from understudy.story.types import Character, Dated, Fact, Line, LoreEntry, Moment, Relation, Scene, Schema, Source

PASTS = 64  # most recently used ones that stay open
PRESENT = 1 << 14  # lines whose company is remembered
SPEECH = 6  # lines back that a direction for how a line is spoken is looked for
LINES = """SELECT scenes.moment, lines.number, characters.name, lines.text, files.name, lines.line
           FROM lines JOIN scenes ON scenes.id = lines.scene JOIN files ON files.id = lines.file
           LEFT JOIN characters ON characters.id = lines.speaker"""


@dataclass(frozen=True, slots=True)
class FileCounts:
    """What a reader made of one file: source lines by what they became. The last four add up to `units`."""

    name: str
    format: str
    units: int
    lines: int
    descriptions: int
    headings: int
    unread: int


class _SpokenText(NamedTuple):
    speaker: str | None
    text: str


@dataclass(frozen=True, slots=True)
class UnreadSourceLine:
    """A source line that became no part of the story, and why."""

    source: Source
    text: str
    reason: str


class Story:
    """Scenes in order, cast, facts, relations, language."""

    def __init__(self, address: str, path: Path | None = None, found_file: Path | None = None) -> None:
        """Open by SQLite address; `Story.open` takes a path. What was found in the text is kept in `found_file`."""
        self._address = address
        with translated_errors(path):
            connection = connect(address, path)
        self._db = SharedConnection(connection, path)
        about: dict[str, str] = dict(self._db.rows("SELECT key, value FROM about"))
        self.path = path
        self._stamp = None if path is None else _stamp(path)
        self.identity = address if self._stamp is None else f"{address} {self._stamp}"
        """Tells one story from another, as a title cannot: a revised draft has the title of the one before."""
        self.title: str = about["title"]
        self.language: str = about["language"]
        self.levels: tuple[str, ...] = tuple(json.loads(about["levels"]))
        self.schema = Schema().extended(tuple(json.loads(about["attributes"])), tuple(json.loads(about["kinds"])))
        self._people = People(self._db, self.title, self.levels)
        self._cards = CardFile(self._db)
        # One past for equal queries, so that what is computed from it (an index, vectors) is computed once.
        self._pasts = lru_cache(PASTS)(partial(StoryPast, address, path, self.levels))
        self._present: dict[Moment, frozenset[str]] = {}
        self.found_file = found_file
        self._overlay = None if found_file is None else FoundOverlay(found_file)
        self._found()  # a damaged file is told of at once

    @classmethod
    def open(cls, path: Path, annotated: bool = False, found_file: Path | None = None) -> Story:
        """Open a story file for reading only. A file that is seen for the first time is checked whole.

        What was found in it is part of it, unless only what is `annotated` is wanted. It lies beside the file, or in
        another `found_file`.
        """
        identity = identity_of(path)
        if not is_validated(identity):
            validate_story_file(path)
            remember_validated(identity)
        return cls(address_of(path), path, None if annotated else found_file or found_file_of(path))

    def moment(self, text: str) -> Moment:
        """The moment a text names, in this story's own levels."""
        moment = Moment.parse(text, self.levels)
        last = self.last_moment()
        if last is not None and not moment.is_end and not last.within(moment) and moment > last:
            raise UnknownMoment(f"'{text}' is after the story's last line, {last.dotted}: say 'end' for all of it")
        return moment

    def first_moment(self) -> Moment | None:
        """Where the story's first scene begins; None where it has none."""
        row = self._db.row("SELECT moment FROM scenes ORDER BY id LIMIT 1")
        return None if row is None else self._moment(row[0])

    def opening_end(self) -> Moment:
        """Where the story's first scene has ended: its second one, or the end."""
        row = self._db.row("SELECT moment FROM scenes ORDER BY id LIMIT 1 OFFSET 1")
        return Moment.end(self.levels) if row is None else self._moment(row[0])

    def last_moment(self) -> Moment | None:
        """The story's last line; None for one that has a cast and ties but no scenes."""
        row = self._db.row("SELECT moment, last - first + 1 FROM scenes ORDER BY id DESC LIMIT 1")
        return None if row is None else self._moment(row[0], *([row[1]] if row[1] else []))

    def cast(self) -> tuple[CastMember, ...]:
        """Everybody, those who speak most first."""
        return self._people.cast

    def cast_before(self, at: Moment) -> tuple[CastMember, ...]:
        """Those who have spoken before a moment, with what they had said by then."""
        return self._people.heard_before(self._bound(at))

    def seen_before(self, at: Moment) -> frozenset[str]:
        """Those who were in a scene before a moment, or are there when the story begins."""
        return self._people.seen_before(self._bound(at))

    def spoken_names(self, at: Moment) -> dict[str, SpokenNames]:
        """By everybody's name: which of their names stand in the text before a moment, and which only later.

        Nobody's for a file of an older version.
        """
        return self._people.spoken_names(self._bound(at))

    def is_name(self, name: str) -> bool:
        """Is it somebody's name in full, as the story has it?"""
        return self._people.is_name(name)

    def character(self, name: str) -> Character:
        """Who goes by a name, an alias, or a part of one that only one person has."""
        return self._people.character(name)

    def scenes(self, since: Moment | None = None, before: Moment | None = None) -> Iterator[Scene]:
        """Scenes from `since` on that begin before `before`, in order, whole."""
        rows = self._db.stream(
            "SELECT id, moment, setting FROM scenes WHERE moment >= ? AND moment < ? ORDER BY id",
            (pack(since) if since else b"", pack(before or Moment.end())),
        )
        for number, moment, setting in rows:
            present = self._db.rows(
                """SELECT DISTINCT characters.name FROM presence JOIN characters ON characters.id = character
                   WHERE scene = ? ORDER BY characters.lines DESC, characters.id""",
                (number,),
            )
            yield Scene(self._moment(moment), setting, tuple(name for (name,) in present), self._lines(number))

    def lines_with(self, wanted: Callable[[str], bool], before: Moment) -> Iterator[Line]:
        """Lines before a moment whose text is as wanted, in story order."""
        rows = self._db.stream(f"{LINES} WHERE lines.id < ? ORDER BY lines.id", (self._bound(before),))
        return (line for line in map(self._line, rows) if wanted(line.text))

    def outline(self) -> Iterator[tuple[Moment, str, int]]:
        """Every scene's moment, setting and number of lines, without the lines."""
        rows = self._db.rows("SELECT moment, setting, first, last FROM scenes ORDER BY id")
        most = self.count()[1]  # whoever counts to the number of lines counts to no more than there are
        for moment, setting, first, last in rows:
            yield self._moment(moment), setting, max(0, min(last, most) - first + 1)

    def presence_intervals(self, scene: Moment) -> tuple[tuple[str, int, int], ...]:
        """Who was there for which lines of a scene: (name, first, last), counted within the scene."""
        rows = self._db.rows(
            """SELECT name, presence.first - scenes.first + 1, presence.last - scenes.first + 1
               FROM scenes JOIN presence ON presence.scene = scenes.id JOIN characters ON characters.id = character
               WHERE scenes.moment = ? ORDER BY presence.first, character""",
            (pack(scene),),
        )
        return tuple(rows)

    def headings(self) -> Iterator[tuple[Moment, str]]:
        """Parts, chapters, episodes that have a title, in order."""
        rows = self._db.rows("SELECT moment, title FROM headings WHERE moment IS NOT NULL AND title <> '' ORDER BY id")
        return ((self._moment(moment), title) for moment, title in rows)

    def heading_sources(self) -> Iterator[tuple[Moment, Source]]:
        """Where each of the `headings` stands in its source."""
        return self._sources("headings", "WHERE moment IS NOT NULL AND title <> ''")

    def scene_sources(self) -> Iterator[tuple[Moment, Source]]:
        """Where each scene begins in its source."""
        return self._sources("scenes")

    def _sources(self, table: str, which: str = "") -> Iterator[tuple[Moment, Source]]:
        rows = self._db.rows(
            f"SELECT moment, files.name, line FROM {table} JOIN files ON files.id = file {which} ORDER BY {table}.id"
        )
        return ((self._moment(moment), Source(file, line)) for moment, file, line in rows)

    def line(self, moment: Moment) -> Line | None:
        """The line at a moment; None where there is none."""
        if len(moment.numbers) < 2:
            return None
        *scene, number = moment.numbers
        row = self._db.row(
            f"""{LINES} WHERE lines.id = (SELECT first + ?2 - 1 FROM scenes WHERE moment = ?1)
               AND lines.number = ?2 AND scenes.moment = ?1""",
            (pack(Moment(tuple(scene))), number),
        )
        return None if row is None else self._line(row)

    def present_at(self, moment: Moment) -> frozenset[str]:
        """Who was there for a line, and heard it if it was said; nobody where there is none."""
        if len(moment.numbers) < 2:
            return frozenset()
        if (present := self._present.get(moment)) is not None:
            return present
        *scene, number = moment.numbers
        rows = self._db.rows(
            """SELECT DISTINCT name FROM scenes JOIN presence ON presence.scene = scenes.id
               JOIN characters ON characters.id = character
               WHERE scenes.moment = ?1 AND presence.first <= scenes.first + ?2 - 1
               AND presence.last >= scenes.first + ?2 - 1""",
            (pack(Moment(tuple(scene))), number),
        )
        names = frozenset(name for (name,) in rows)
        if names and (speech := self._speech_up_to(moment)) and speech[-1].speaker is not None:
            *_, delivery = deliveries(speech)
            names = frozenset(name for name in names if name == speech[-1].speaker or delivery.is_heard_by(name))
        if len(self._present) >= PRESENT:
            self._present.clear()
        return self._present.setdefault(moment, names)

    def _speech_up_to(self, moment: Moment) -> list[_SpokenText]:
        """A line with those before it that may say how it is spoken."""
        *scene, number = moment.numbers
        rows = self._db.rows(
            """SELECT characters.name, text FROM scenes
               JOIN lines ON lines.id BETWEEN max(scenes.first, scenes.first + ?2 - 1 - ?3) AND scenes.first + ?2 - 1
               LEFT JOIN characters ON characters.id = speaker WHERE scenes.moment = ?1 ORDER BY lines.id""",
            (pack(Moment(tuple(scene))), number, SPEECH),
        )
        return [_SpokenText(*row) for row in rows]

    def facts(self, who: str | None = None) -> tuple[Fact, ...]:
        """All dated facts, or one character's, in order of their dates; the future included, and what was found."""
        return _in_order(self.annotated_facts(who), self._of(who, self._found().facts))

    def annotated_facts(self, who: str | None = None) -> tuple[Fact, ...]:
        """The facts that an author wrote."""
        return self._of(who, self._annotated_facts)

    def relations(self, of: str | None = None, to: str | None = None) -> tuple[Relation, ...]:
        """All dated ties, or those of, or towards, one character, in order of their dates.

        The future is included, and what was found.
        """
        return _in_order(self.annotated_relations(of, to), self._between(of, to, self._found().relations))

    def annotated_relations(self, of: str | None = None, to: str | None = None) -> tuple[Relation, ...]:
        """The ties that an author wrote."""
        return self._between(of, to, self._annotated_relations)

    def _of(self, who: str | None, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
        if who is None:
            return facts
        name = self._people.character(who).name
        return tuple(fact for fact in facts if fact.who == name)

    def _between(self, of: str | None, to: str | None, ties: tuple[Relation, ...]) -> tuple[Relation, ...]:
        of_name, to_name = (None if name is None else self._people.character(name).name for name in (of, to))
        return tuple(tie for tie in ties if of_name in (None, tie.of) and to_name in (None, tie.to))

    @cached_property
    def _annotated_facts(self) -> tuple[Fact, ...]:
        names = self._people.names
        rows = self._db.rows("SELECT who, attribute, content, since, until, known_to FROM facts ORDER BY since, id")
        return tuple(
            Fact(
                names[owner], attribute, tuple(json.loads(content)), self._moment(since),
                None if until is None else self._moment(until),
                None if known_to is None else tuple(names[number] for number in json.loads(known_to)),
            )
            for owner, attribute, content, since, until, known_to in rows
        )  # fmt: skip

    @cached_property
    def _annotated_relations(self) -> tuple[Relation, ...]:
        names = self._people.names
        has_terms = "term" in (column for _, column, *_ in self._db.rows("PRAGMA table_info(relations)"))
        term = "term" if has_terms else "''"  # a file of an older version has none
        rows = self._db.rows(
            f"""SELECT of, towards, kind, level, since, until, files.name, line, {term} FROM relations
               JOIN files ON files.id = file ORDER BY since, relations.id"""
        )
        return tuple(
            Relation(
                names[of], names[to], kind, level, self._moment(since), None if until is None else self._moment(until),
                Source(file, line), term,
            )
            for of, to, kind, level, since, until, file, line, term in rows
        )  # fmt: skip

    @property
    def is_pending(self) -> bool:
        """Is the text still to be looked through for its people?"""
        return self._found().is_pending

    def card_texts(self, who: str) -> CardRecord:
        """What a character's card says, `{{user}}` not filled in; a blank one for somebody who has none."""
        return self._cards.texts(self._people.number(who))

    def lore(self, who: str) -> tuple[LoreEntry, ...]:
        """What a character's lorebook and those of the story hold, dated by nothing."""
        return self._cards.lore(self._people.number(who))

    def card(self, who: str) -> str | None:
        """The JSON of the card that a character was read from."""
        return self._cards.document(self._people.number(who))

    def picture(self, who: str) -> bytes | None:
        """The PNG that a character's card came in."""
        return self._cards.picture(self._people.number(who))

    def acquaintances(self, who: str, at: Moment) -> tuple[frozenset[str], frozenset[str]]:
        """Whom a character has met, and whom it has met or heard named, before a moment."""
        number, bound, names = self._people.number(who), self._bound(at), self._people.names
        rows = self._db.rows(
            "SELECT other, met FROM acquaintance WHERE character = ?1 AND (met < ?2 OR named < ?2)", (number, bound)
        )
        met = frozenset(names[other] for other, since in rows if since is not None and since < bound)
        return met, frozenset(names[other] for other, _ in rows)

    def current_scene(self, at: Moment) -> Scene | None:
        """The scene that is under way at a moment, up to it: one that began before it and has not ended."""
        row = self._db.row(
            "SELECT id, moment, setting FROM scenes WHERE moment < ? ORDER BY moment DESC LIMIT 1", (pack(at),)
        )
        if row is None or not at.within(self._moment(row[1])):
            return None
        number, moment, setting = row
        bound = self._bound(at)
        present = self._db.rows(
            """SELECT DISTINCT characters.name FROM presence JOIN characters ON characters.id = character
               WHERE scene = ?1 AND presence.first < ?2 AND presence.last >= ?2 - 1""",
            (number, bound),
        )
        lines = tuple(line for line in self._lines(number) if line.moment < at)
        return Scene(self._moment(moment), setting, tuple(name for (name,) in present), lines)

    def past(self, who: str, at: Moment, shown_as: dict[str, str]) -> StoryPast:
        """What a character has lived through before a moment; `shown_as` renames those it knows by another name."""
        number, bound = self._people.number(who), self._bound(at)
        rows = self._db.rows(
            """SELECT id, name FROM characters WHERE is_group OR id = ?1
               OR id IN (SELECT other FROM acquaintance WHERE character = ?1 AND met < ?2)""",
            (number, bound),
        )
        names: dict[int, str] = dict(rows)
        known = {other: shown_as.get(name, name) for other, name in names.items()}
        if self.path is not None and _stamp(self.path) != self._stamp:  # a new connection would see another story
            raise InputError("was replaced while it was open: open it again", self.path)
        return self._pasts(number, bound, tuple(known.items()))

    def files(self) -> tuple[FileCounts, ...]:
        rows = self._db.rows("SELECT name, format, units, lines, descriptions, headings, unread FROM files ORDER BY id")
        return tuple(FileCounts(*row) for row in rows)

    @property
    def is_of_cards(self) -> bool:
        """Does it consist of character cards alone? They tell no story: no moment of it comes after another."""
        formats = {file.format for file in self.files()}
        return "card" in formats and formats <= {"card", "lorebook"}

    def unread(self) -> Iterator[UnreadSourceLine]:
        rows = self._db.stream(
            "SELECT files.name, line, text, reason FROM unread JOIN files ON files.id = file ORDER BY unread.rowid"
        )
        for file, line, text, reason in rows:
            yield UnreadSourceLine(Source(file, line), text, reason)

    def spans(self) -> Iterator[LineSpans]:
        """The lines that have their spans in the source's text, in order; only those of novels do."""
        if not self._db.has_table("spans"):
            return
        rows = self._db.stream(
            """SELECT scenes.moment, number, characters.name, text, files.name, lines.line, confidence,
                      json_group_array(json_array(spans.start, spans.stop)) FILTER (WHERE spans.start IS NOT NULL)
               FROM lines JOIN scenes ON scenes.id = lines.scene JOIN files ON files.id = lines.file
               LEFT JOIN characters ON characters.id = speaker LEFT JOIN attributions ON attributions.line = lines.id
               LEFT JOIN spans ON spans.line = lines.id
               WHERE spans.line IS NOT NULL OR confidence IS NOT NULL GROUP BY lines.id ORDER BY lines.id"""
        )
        for *line, confidence, pairs in rows:
            yield LineSpans(self._line(line), tuple(sorted(map(tuple, json.loads(pairs)))), confidence)

    def attributed_lines(self) -> AttributedLines:
        if not self._db.has_table("spans"):
            return AttributedLines(0, None, 0)
        ((lines, confidence, doubtful),) = self._db.rows(
            "SELECT count(*), avg(confidence), count(*) FILTER (WHERE confidence < ?) FROM attributions", (DOUBTFUL,)
        )
        return AttributedLines(int(lines), confidence, int(doubtful))

    def named_lines(self) -> int:
        """How many lines have a speaker whom the source names."""
        ((spoken,),) = self._db.rows("SELECT coalesce(sum(lines), 0) FROM characters")
        return int(spoken) - self.attributed_lines().lines

    def count(self) -> tuple[int, int]:
        """How many scenes and how many lines, descriptions included."""
        ((scenes, lines),) = self._db.rows(
            "SELECT (SELECT count(*) FROM scenes), (SELECT coalesce(max(id), 0) FROM lines)"
        )
        return int(scenes), int(lines)

    def _bound(self, at: Moment) -> int:
        """The first line number that is not before a moment."""
        row = self._db.row(
            "SELECT moment, first, last FROM scenes WHERE moment <= ? ORDER BY moment DESC LIMIT 1", (pack(at),)
        )
        if row is None:
            return 1
        moment, first, last = self._moment(row[0]), int(row[1]), int(row[2])
        if at == moment:
            return first
        if at.within(moment):
            return min(first + max(at.numbers[len(moment.numbers)] - 1, 0), last + 1)
        return last + 1

    def _lines(self, scene: int) -> tuple[Line, ...]:
        rows = self._db.rows(
            f"""{LINES} WHERE lines.id BETWEEN (SELECT first FROM scenes WHERE id = ?1)
               AND (SELECT last FROM scenes WHERE id = ?1) ORDER BY lines.id""",
            (scene,),
        )
        return tuple(map(self._line, rows))

    def _line(self, row: Sequence[Any]) -> Line:
        moment, number, speaker, text, file, line = row
        return Line(self._moment(moment, number), speaker, text, Source(file, line))

    def _found(self) -> FoundClaims:
        return FoundClaims() if self._overlay is None else self._overlay.claims(self)

    def _moment(self, blob: bytes, *more: int) -> Moment:
        return unpack(blob, self.levels, *more)


D = TypeVar("D", bound=Dated)


def _in_order(annotated: tuple[D, ...], found: tuple[D, ...]) -> tuple[D, ...]:
    """What was found among what an author wrote, in order of their dates."""
    return tuple(sorted((*found, *annotated), key=lambda dated: dated.since.numbers)) if found else annotated


def _stamp(path: Path) -> tuple[int, int, int, int]:
    """Changes when another file takes the place of this one, or somebody writes to it."""
    try:
        stat = path.stat()
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", path) from error
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns
