"""From events to a story: what every format shares.

Lines are numbered, names merged, comings and goings noted, counts kept and the file written, once for all readers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from understudy.errors import CastError, InputError
from understudy.formats.story_folder import CastFile
from understudy.sources import (
    BoundedEvents,
    CardSource,
    CastEntry,
    Description,
    Event,
    FactEntry,
    Heading,
    Lore,
    Movement,
    Opening,
    RelationEntry,
    SceneStart,
    Speech,
    Unread,
)
from understudy.sources.directions import EVERYBODY
from understudy.sources.names import CastList, fold, words
from understudy.sources.source import SourceFile
from understudy.story.storyfile import StoryWriter
from understudy.story.types import Character, Fact, LoreEntry, Moment, Relation, Schema, Source
from understudy.text import guess_language, one_line

COUNTED_AS = {Speech: "lines", Description: "descriptions", Movement: "descriptions", Unread: "unread"}
"""By the type of an event; all others count as headings."""
SAMPLE = 20_000  # characters by which the language is guessed
FILE_LEVELS = ("part", "book", "volume")  # what files are, where each counts from the same number


class FilesCountAlike(Exception):
    """Files of one story each count from the same number, and tell different things: they have to be its parts."""


class Assembly:
    """Takes the events of one file after another and writes one story."""

    def __init__(self, writer: StoryWriter, has_several: bool = False, are_parts: bool = False) -> None:
        """Of several files each is a part where they give no position of their own, or where it is said of all."""
        self.writer = writer
        self._has_several, self._are_parts = has_several, are_parts
        self.levels: tuple[str, ...] | None = None
        self.title: str | None = None
        self.language: str | None = None
        self.schema = Schema()
        self._files = 0
        self._part: tuple[int, ...] = ()
        self._position: tuple[int, ...] = ()
        self._speeches = SpeechIndex()
        self._starts: list[tuple[int, ...]] = []
        self._files_by_position: dict[tuple[int, ...], str] = {}
        self._scene: tuple[int, ...] | None = None
        self._last_scene: tuple[int, ...] = ()
        self._cast_list = CastList()
        self._facts: list[tuple[Source, Fact]] = []
        self._relations: list[tuple[Source, Relation]] = []
        self._cards: list[CardSource] = []
        self._lore: list[tuple[str | None, LoreEntry]] = []
        self._sample: list[str] = []
        self._sampled = 0
        self._cast: CastFile | None = None
        self._scene_positions: set[tuple[int, ...]] = {(0,)}

    def add_file(self, source: SourceFile, form: str, events: Iterable[Event]) -> None:
        """Add the events of one file. A second version of a chapter that was read before is listed as unread.

        Raises `FilesCountAlike` where the files have to be read as parts.
        """
        self._files += 1
        self._source, self._form, self._file = source, form, self.writer.file(source.path.name, form)
        self._counts = {"lines": 0, "descriptions": 0, "headings": 0, "unread": 0}
        self._skipped: str | None = None
        self._scene = None
        bounds = BoundedEvents(source.path.name, source.error)
        remaining: Iterator[Event] = map(bounds.bounded, events)
        while (event := next(remaining, None)) is not None:
            if isinstance(event, Opening):
                self._open(event)
                continue
            if self._skipped is None and isinstance(event, Heading) and self._is_taken(event):
                ahead = list(islice(remaining, LOOK_AHEAD))
                self._skipped = self._reason_to_skip(event, ahead)
                remaining = chain(ahead, remaining)
            if self._skipped is not None:
                self._skip(event, self._skipped)
            else:
                self._take(event)
                self._counts[COUNTED_AS.get(type(event), "headings")] += event.units
        for cut in bounds.cuts:
            self._take(cut)
        accounted = sum(self._counts.values())
        if accounted != source.units:
            raise InputError(
                f"the {form} reader accounts for {accounted} of {source.units} lines: please report this file",
                source.path,
            )
        self.writer.tally(self._file, source.units, self._counts)

    def levels_of(self, events: Iterable[Event]) -> tuple[str, ...]:
        """How a file counts time, by its first event."""
        for event in events:
            if isinstance(event, Opening):
                return self._promoted(event.levels)
        return ("scene", "line")

    def cast(self, cast: CastFile) -> None:
        """What a cast.toml declares."""
        self._cast = cast
        bounds = BoundedEvents(cast.path.name, lambda message, line: CastError(message, cast.path, line))
        self.title, self.language, self.schema = cast.title and bounds.title(cast.title), cast.language, cast.schema
        for source, character in cast.characters:
            self._cast_list.declare(bounds.character(character, source))
        self._facts.extend((source, bounds.fact(fact, source)) for source, fact in cast.facts)
        self._relations.extend((source, bounds.relation(tie, source)) for source, tie in cast.relations)
        file = self.writer.file(cast.path.name, "cast")
        for cut in bounds.cuts:
            self.writer.unread(file, cut.source.line, cut.text, cut.reason)
        self.writer.tally(file, cast.units, {"lines": 0, "descriptions": 0, "headings": cast.units, "unread": 0})

    def add_lore(self, entries: Iterable[LoreEntry]) -> None:
        """A lorebook that is everybody's."""
        self._lore.extend((None, entry) for entry in entries)

    def check_speakers(self) -> None:
        """Refuse a story with scenes in which nobody speaks, or only headings seem to.

        Whom a source declares is no heading, whatever the name.
        """
        if self._last_scene and not any(map(self._cast_list.is_declared, self._cast_list.speakers)):
            check_speakers(self._cast_list.speakers, self._form, self._source)

    def finish(self, default_title: str) -> None:
        """Resolve labels to characters, and write."""
        self._end_scene()
        self._check_dates()
        for _, fact in self._facts:
            self._cast_list.declare(Character(fact.who))
        for _, tie in self._relations:
            self._cast_list.declare(Character(tie.of))
            self._cast_list.declare(Character(tie.to))
        resolved = self._cast_list.resolve()
        self.schema = self.schema.extended(
            tuple(fact.attribute for _, fact in self._facts),
            tuple(tie.kind for _, tie in self._relations if tie.level is None),
        )
        default = Schema()
        about = {
            "title": self.title or default_title,
            "language": self.language or guess_language(" ".join(self._sample)),
            "levels": json.dumps(self.levels or ("scene", "line")),
            "attributes": json.dumps([name for name in self.schema.attributes if name not in default.attributes]),
            "kinds": json.dumps([name for name in self.schema.kinds if name not in default.kinds]),
        }
        self.writer.finish(
            about,
            resolved.cast,
            resolved.groups,
            resolved.indexes,
            [(source, replace(fact, who=resolved.name_of(fact.who))) for source, fact in self._facts],
            [
                (source, replace(tie, of=resolved.name_of(tie.of), to=resolved.name_of(tie.to)))
                for source, tie in self._relations
            ],
            {resolved.name_of(event.who): event.card for event in self._cards},
            [(None if who is None else resolved.name_of(who), entry) for who, entry in self._lore],
        )

    def _check_dates(self) -> None:
        """A date in a cast.toml must be a moment that the scripts have."""
        if self._cast is None:
            return
        dates = [(source, (fact.since, fact.until)) for source, fact in self._cast.facts]
        dates += [(source, (tie.since, tie.until)) for source, tie in self._cast.relations]
        for source, span in dates:
            for moment in span:
                if moment is None or moment.is_end:
                    continue
                if moment.numbers[: len(self._last_scene)] not in self._scene_positions:
                    raise CastError(f"there is no {moment} in the scripts", self._cast.path, source.line)
        if self._cast.levels is not None and self.levels is not None and self._cast.levels != self.levels:
            raise CastError(f"levels are {self._cast.levels}, but the scripts have {self.levels}", self._cast.path, 1)

    def _open(self, event: Opening) -> None:
        levels = self._promoted(event.levels)
        self._part = (self._files,) if levels != event.levels else ()
        if self._part:
            self._position = self._part
            heading = Moment(self._position, levels)
            self.writer.heading(heading, self._source.path.stem, self._file, 1)
        elif len(levels) == 2:
            self._position = ()
        if self.levels is None:
            self.levels = levels
        elif self.levels != levels:
            raise InputError(
                f"counts time by {', '.join(levels)}, but what was read before it by {', '.join(self.levels)}: "
                "read them as separate stories",
                self._source.path,
            )
        self.title = self.title or event.title
        self.language = self.language or event.language

    def _promoted(self, levels: tuple[str, ...]) -> tuple[str, ...]:
        """Where several files do not give their own position, they are counted by a level of their own."""
        if self._are_parts or (self._has_several and levels == ("scene", "line")):
            return (next(level for level in FILE_LEVELS if level not in levels), *levels)
        return levels

    def _take(self, event: Event) -> None:
        match event:
            case Speech():
                self._add_speech(event)
            case Description():
                self._ensure_scene(event.source)
                self.writer.line(None, one_line(event.text), self._file, event.source.line, event.spans)
                for kind, name in event.cues:
                    self.writer.cue(kind, None if name == EVERYBODY else self._cast_list.label_id(name))
            case Movement():
                self._ensure_scene(event.source)
                for name in event.enter:
                    self.writer.cue("enter", self._cast_list.label_id(name), ahead=True)
                for name in event.leave:
                    self.writer.cue("leave", self._cast_list.label_id(name))
            case SceneStart():
                self._begin_scene(event.setting, event.source, event.number)
                for name in event.present:
                    self.writer.cue("listed", self._cast_list.label_id(name))
            case Heading():
                self._add_heading(event)
            case Unread():
                self.writer.unread(self._file, event.source.line, event.text, event.reason)
            case CastEntry():
                self._cast_list.declare(event.character)
            case FactEntry():
                self._facts.append((event.source, event.fact))
            case RelationEntry():
                self._relations.append((event.source, event.relation))
            case CardSource():
                self._cards.append(event)
            case Lore():
                self._lore.extend((event.who, entry) for entry in event.entries)

    def _is_taken(self, heading: Heading) -> bool:
        """Has another file said the same at a chapter's position?"""
        if heading.numbers is None:
            return False
        numbers = (*self._part, *heading.numbers)
        if len(self._starts) < self._files:
            self._starts.append(numbers)
        is_whole = len(numbers) == len(self.levels or ()) - 2
        return is_whole and self._files_by_position.get(numbers, self._source.path.name) != self._source.path.name

    def _reason_to_skip(self, heading: Heading, ahead: Sequence[Event]) -> str | None:
        """Why the rest of a file is not read, whose chapter has the position of another file's; None: it goes on there.

        Episodes are numbered by the show, not by the file: two files of one number are its halves.
        """
        assert heading.numbers is not None
        earlier = self._files_by_position[heading.numbers]
        if self._speeches.has_told(heading.numbers, ahead):
            return f"a second version of what {earlier} tells"
        levels = self.levels or ()
        if len({*self._starts}) == 1 and "episode" not in levels:
            raise FilesCountAlike
        if heading.numbers == self._position:
            return None
        return f"stands at {Moment(heading.numbers, levels)}, as {earlier} does, but tells something else: rename one"

    def _add_heading(self, event: Heading) -> None:
        numbers = None if event.numbers is None else (*self._part, *event.numbers)
        if numbers is not None:
            self._end_scene()
            goes_on = numbers == self._position and numbers in self._files_by_position
            if not goes_on and numbers <= self._last_scene[: len(numbers)] and self._last_scene:
                levels = self.levels or ()
                raise self._source.error(
                    f"{Moment(numbers, levels)} comes after {Moment(self._last_scene, levels)}: "
                    "give the files in the order of the story",
                    event.source.line,
                )
            self._files_by_position[numbers] = self._source.path.name
            self._position = numbers
            numbers = None if goes_on else numbers
        moment = Moment(numbers, self.levels or ()) if numbers else None
        self.writer.heading(moment, one_line(event.title), self._file, event.source.line)

    def _ensure_scene(self, source: Source) -> None:
        if self._scene is None:
            self._begin_scene("", source)

    def _begin_scene(self, setting: str, source: Source, number: int | None = None) -> None:
        self._end_scene()
        same_chapter = self._last_scene[:-1] == self._position and bool(self._last_scene)
        self._scene = (*self._position, (self._last_scene[-1] + 1 if same_chapter else 1) if number is None else number)
        if self._scene <= self._last_scene:
            levels = self.levels or ()
            raise self._source.error(
                f"{Moment(self._scene, levels)} comes after {Moment(self._last_scene, levels)}", source.line
            )
        self._last_scene = self._scene
        self._scene_positions.update(self._scene[:depth] for depth in range(1, len(self._scene) + 1))
        self.writer.scene(Moment(self._scene, self.levels or ()), one_line(setting), self._file, source.line)

    def _end_scene(self) -> None:
        self._cast_list.end_scene()
        self._scene = None

    def _add_speech(self, event: Speech) -> None:
        self._ensure_scene(event.source)
        for speaker in event.speakers:
            label = self._cast_list.add_speech(speaker, self._source, event.source.line)
            self.writer.line(label, one_line(event.text), self._file, event.source.line, event.spans, event.confidence)
        if self._has_several:
            self._speeches.add(self._position, event.text)
        if self._sampled < SAMPLE:
            self._sample.append(event.text)
            self._sampled += len(event.text)

    def _skip(self, event: Event, reason: str) -> None:
        if not isinstance(event, Opening) and event.units:
            text = getattr(event, "text", None) or getattr(event, "title", None) or getattr(event, "setting", "")
            self.writer.unread(self._file, event.source.line, str(text), reason)
            self._counts["unread"] += event.units


# Does a file repeat another one? Two files may give the same position to one episode that was written
# down twice (an uncut version), or to two that only count from the same number: what people say in them decides.

LOOK_AHEAD = 400  # events of a file that are compared
MOST = 300  # speeches of a chapter that are remembered
FEWEST_BYTES = 16  # of a speech's letters, for it to be no 'Yes.'
ALIKE = 0.2  # share of a second version's speeches that the first has; of other texts next to none


class SpeechIndex:
    """The first speeches at each position of a story, by a hash of their letters."""

    def __init__(self) -> None:
        self._hashes: dict[tuple[int, ...], set[int]] = {}

    def add(self, position: tuple[int, ...], text: str) -> None:
        hashes = self._hashes.setdefault(position, set())
        if len(hashes) < MOST and (key := _key(text)) is not None:
            hashes.add(key)

    def has_told(self, position: tuple[int, ...], events: Iterable[Event]) -> bool:
        """Are the speeches among some events those that were said at a position?"""
        keys = [key for event in events if isinstance(event, Speech) and (key := _key(event.text)) is not None]
        hashes = self._hashes.get(position, set())
        return bool(keys) and sum(key in hashes for key in keys) >= ALIKE * len(keys)


def _key(text: str) -> int | None:
    letters = "".join(filter(str.isalnum, text)).casefold()
    return hash(letters) if len(letters.encode()) >= FEWEST_BYTES else None


# Readings that are useless: without a speaker, or with only the heads of a page ('Author', 'Draft date').

HEADING_LABELS = words(
    """
    title author authors credit source contact copyright date draft revision notes note subject from to cc bcc re
    version by written story language genre publisher url http https tags tag summary description website email
    phone address
    """
)
"""What stands before a colon at the head of a page: it speaks in no scene."""

TRANSCRIPT = "transcript"
EXAMPLE = "'INES: It was on the hook at noon.'"
"""Of a speech that every script may have, in messages."""


def check_speakers(labels: Iterable[str], form: str, source: SourceFile) -> None:
    """Refuse a reading in which nobody speaks, or only headings seem to."""
    speakers = list(labels)
    if not speakers:
        raise InputError(
            f"nobody speaks in it, read as {form}: a script has speeches that begin with a name and a colon "
            f"({EXAMPLE}), a novel quotation marks; --format FORMAT reads it as something else",
            source.path,
        )
    # Other formats mark a speech by more than a colon.
    if form == TRANSCRIPT and all(_is_heading(label) for label in speakers):
        raise InputError(
            f"only headings seem to speak in it, read as {form} ({', '.join(speakers[:5])}): this is no script of that "
            "form; --format FORMAT reads it as something else",
            source.path,
        )


def _is_heading(label: str) -> bool:
    return bool(set(fold(label).split()) & HEADING_LABELS)
