"""TEI drama, as DraCor has it: acts, scenes, speeches with `who`, stage directions, a list of persons.

Time is (act, scene, line); a play without acts counts by scenes. A prologue before the first act or scene is number 0,
an epilogue the one after the last. A speech's text is its words, joined over verse lines; a direction within it parts
it in two, so that who comes in the middle hears the second half only.

A unit is an element that holds words of its own and is one of <l>, <p>, <ab>, <speaker>, <stage>, <head>, <label>,
<castItem>, <note>, <person> and their like (`UNITS`), or else a run of words outside all of these; it is
counted when its first word is met. The header's sections and each person in it are a unit each: the edition's credits
come out as headings, persons as the cast. Of an editor's <choice> the corrected form is read.

Every word goes to the sink that the elements around it have opened: a speech, a direction, a title. A sink counts the
units its words come from, so that whatever it becomes accounts for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from understudy.formats.tei.metadata import DIVISION, PERSONS, PlayMetadata, identifiers, read_metadata
from understudy.formats.tei.people import facts_and_ties
from understudy.sources import CastEntry, Cue, Description, Event, Heading, Opening, Reader, SceneStart, Speech, Unread
from understudy.sources.containers import End, Start, xml_tokens
from understudy.sources.directions import comings_and_goings, falls_asleep
from understudy.sources.names import is_group, words
from understudy.sources.source import SourceFile
from understudy.story.types import Character, Moment, Source
from understudy.text import roman_number

UNITS = words(
    """
    ab byline castItem closer docImprint docTitle epigraph fw head item l label note opener p person personGrp signed
    speaker stage titlePart trailer
    """
)
SECTIONS = words("teiHeader standOff")
REGIONS = words("front body back")
TITLES = words("castItem docImprint docTitle label set titlePage trailer")
BESIDES = {"note": "an editor's note", "fw": "a running title of the page"}
OUTSIDE = {"front": "stands before the play", "back": "stands after the play"}
DROPPED = words("abbr orig sic")
BREAKS = words("ab castItem cb head item l lb lg p pb role roleDesc speaker stage")

BARE_EXIT = re.compile(r"\W*(?:(?:he|she)\s+)?(?:exits?|leaves)\W*", re.IGNORECASE)
SPACE = re.compile(r"\s+")
AFTER_OPENING = re.compile(r"([“‘])\s+")
BEFORE_CLOSING = re.compile(r"\s+([,.;:!?)\]}”])")
LONGEST = 1_000_000
LONGEST_CREDIT = 200


@dataclass(slots=True)
class _Sink:
    """Where words go: what they will be, and how many units they come from."""

    kind: str
    line: int
    reason: str = ""
    pieces: list[str] = field(default_factory=list)
    units: int = 0
    size: int = 0
    label: str = ""
    speakers: tuple[str, ...] = ()
    cues: list[Cue] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)
    """People whom a direction says to be doing something."""


@dataclass(slots=True)
class _TextUnit:
    counted: bool = False


@dataclass(slots=True)
class _OpenElement:
    """An open element: where its words go, and which unit they belong to."""

    name: str
    attributes: Mapping[str, str]
    sink: _Sink | None = None
    unit: _TextUnit | None = None
    opened: bool = False
    division: Division | None = None


class Play:
    """What is open at the current position; `out` holds the finished events."""

    def __init__(self, source: SourceFile, metadata: PlayMetadata) -> None:
        self.out: list[Event] = []
        self.divisions = Divisions(source, metadata.acts, self.out)
        self._source, self._metadata = source, metadata
        self._elements: list[_OpenElement] = []
        self._line = 1
        self._last_speakers: tuple[str, ...] = ()
        for identifier in metadata.unlisted:
            self._declare(metadata.cast[identifier], source.at(1), 0)

    def start(self, token: Start) -> None:
        self._line = token.line
        outer = self._elements[-1] if self._elements else _OpenElement("", {})
        element = _OpenElement(token.name, token.attributes, outer.sink, outer.unit)
        self._elements.append(element)
        if outer.sink is not None and token.name in BREAKS and token.attributes.get("break") != "no":
            outer.sink.pieces.append(" ")
        self._route(element, outer)
        credit = element.sink is not None and element.sink.kind == "credits"
        if element.opened or (token.name in UNITS and not credit):
            element.unit = _TextUnit()

    def words(self, text: str) -> None:
        element = self._elements[-1]
        blank = not text.strip()
        if blank and (element.sink is None or (self._metadata.spaced and element.name != "c")):
            return
        sink = element.sink or self._stray()
        if sink.kind == "dropped":
            return
        if not blank:
            sink.line = sink.line or self._line
            if element.unit is None or element.sink is None:
                element.unit = _TextUnit()
            if not element.unit.counted:
                element.unit.counted = True
                self._source.units += 1
                sink.units += 1
        sink.size += len(text)
        if sink.size > LONGEST:
            raise self._source.error(f"more than {LONGEST:,} characters in one piece: this is no play", self._line)
        sink.pieces.append(text)
        if element.sink is None:
            self._close(sink)

    def end(self, token: End) -> None:
        self._line = token.line
        element = self._elements.pop()
        if element.opened and element.sink is not None:
            self._close(element.sink)
        elif element.sink is not None and element.name in BREAKS and element.attributes.get("break") != "no":
            element.sink.pieces.append(" ")
        if element.division is not None:
            self.divisions.end(element.division, token.line)

    def _route(self, element: _OpenElement, outer: _OpenElement) -> None:
        """Open what the element begins. Within most things an element is only a part of them."""
        name, within = element.name, None if outer.sink is None else outer.sink.kind
        if within in ("aside", "dropped"):
            return
        if outer.name == "choice" and name in DROPPED:
            self._open(element, "dropped")
        elif name in PERSONS and element.attributes.get("xml:id") in self._metadata.cast:
            self._open(element, "person").label = element.attributes["xml:id"]
        elif outer.name in SECTIONS:
            self._open(element, "credits")
        elif name in BESIDES and within != "credits":
            self._open(element, "aside").reason = BESIDES[name]
        elif name == "stage" and within == "direction" and outer.sink is not None:
            self._note_moves(outer.sink, element.attributes)
        elif within in (None, "words", "narration") and self._region() is not None:
            self._route_text(element, outer)

    def _route_text(self, element: _OpenElement, outer: _OpenElement) -> None:
        name, attributes = element.name, element.attributes
        if name in DIVISION and outer.sink is None:
            element.division = self.divisions.begin(attributes.get("type", ""), attributes.get("n", ""), self._line)
        elif name == "head" and outer.division is not None:
            self._open(element, "head")
        elif name == "head" or name in TITLES:
            self._part_speech()
            self._open(element, "title")
        elif name == "sp":
            self._part_speech()
            self._last_speakers = self._named(attributes)
            self._open(element, "words").speakers = self._last_speakers
        elif name == "speaker" and outer.sink is not None and outer.sink.kind == "words":
            self._open(element, "speaker")
        elif name == "stage":
            self._part_speech()
            self._note_moves(self._open(element, "direction"), attributes)
        elif name in UNITS and outer.sink is None:
            element.sink, element.opened = self._stray(), True

    def _open(self, element: _OpenElement, kind: str) -> _Sink:
        element.sink, element.opened = _Sink(kind, self._line), True
        return element.sink

    def _stray(self) -> _Sink:
        """For words that are in no speech, direction or title."""
        region = self._region()
        reason = OUTSIDE.get(region, "") if region else "stands outside the text"
        return _Sink("aside" if reason else "narration", self._line, reason)

    def _region(self) -> str | None:
        return next((element.name for element in reversed(self._elements) if element.name in REGIONS), None)

    def _named(self, attributes: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(self._metadata.name(identifier) or identifier for identifier in identifiers(attributes.get("who")))

    def _note_moves(self, sink: _Sink, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "").lower()
        if kind in ("entrance", "exit"):
            sink.cues.extend(Cue("enter" if kind == "entrance" else "leave", name) for name in self._named(attributes))
        elif kind == "business":
            sink.busy.extend(self._named(attributes))

    def _part_speech(self) -> None:
        """What has been said so far goes out before what comes in between."""
        sink = next((element.sink for element in reversed(self._elements[:-1]) if element.opened), None)
        if sink is None or sink.kind not in ("words", "narration"):
            return
        if self._tidy(sink):
            self._close(sink)
            sink.pieces.clear()
            sink.units = sink.size = 0
        sink.line = 0

    def _close(self, sink: _Sink) -> None:
        text, at = self._tidy(sink), self._source.at(sink.line or self._line)
        if sink.kind == "person":
            self._declare(self._metadata.cast[sink.label], at, sink.units)
        elif not text and not sink.units:
            return
        elif sink.kind == "speaker":
            speech = self._elements[-1].sink
            if speech is not None:
                speech.label, speech.units = text, speech.units + sink.units
        elif sink.kind == "words":
            self._speak(sink, text)
        elif sink.kind == "direction":
            self.divisions.add_direction(self._direction(sink, text))
        elif sink.kind == "head":
            self.divisions.head(text, sink.units, at)
        elif sink.kind in ("title", "credits"):
            self.out.append(Heading(at, text if sink.kind == "title" else text[:LONGEST_CREDIT], units=sink.units))
        elif sink.kind == "narration":
            self.divisions.add_direction(Description(at, text, units=sink.units))
        elif sink.kind == "aside":
            self.out.append(Unread(at, text, sink.reason, sink.units))

    def _declare(self, character: Character, at: Source, units: int) -> None:
        if not is_group(character.name):
            self.out.append(CastEntry(at, character, units))
        elif units:
            self.out.append(Heading(at, character.name, units=units))

    def _speak(self, sink: _Sink, text: str) -> None:
        at = self._source.at(sink.line or self._line)
        speakers = sink.speakers or ((sink.label,) if sink.label else ())
        if not text:
            self.out.append(Unread(at, sink.label, "a speech without words", sink.units))
        elif speakers:
            self.divisions.add_spoken(Speech(at, speakers, text, sink.units))
        else:  # cries from behind the scene have no speaker
            self.divisions.add_spoken(Description(at, text, units=sink.units))

    def _direction(self, sink: _Sink, text: str) -> Description:
        if falls_asleep(text):
            sink.cues.extend(Cue("leave", name) for name in sink.busy)
        cues = tuple(sink.cues) or comings_and_goings(text)
        if not cues and BARE_EXIT.fullmatch(text):
            cues = tuple(Cue("leave", name) for name in self._last_speakers)
        at = self._source.at(sink.line or self._line)
        return Description(at, text, cues, sink.units)

    def _tidy(self, sink: _Sink) -> str:
        text = AFTER_OPENING.sub(r"\1", SPACE.sub(" ", "".join(sink.pieces)).strip())
        if self._metadata.tokenised or sink.kind in ("direction", "head", "title"):
            text = BEFORE_CLOSING.sub(r"\1", text)
        return text.lstrip(",; ") if sink.kind == "direction" else text


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file, after a first pass over it."""
    metadata = read_metadata(SourceFile(source.path))
    if not metadata.speeches:
        raise source.error("holds no speech (<sp>): of TEI texts only plays can be read")
    levels = ("act", "scene", "line") if metadata.acts else ("scene", "line")
    yield Opening(levels, metadata.title, metadata.language)
    in_words = metadata.language not in ("ja", "zh")
    yield from facts_and_ties(metadata.people, source.path.name, Moment((0,), levels), in_words)
    play = Play(source, metadata)
    for token in xml_tokens(source):
        if isinstance(token, Start):
            play.start(token)
        elif isinstance(token, End):
            play.end(token)
        else:
            play.words(token.text)
        yield from play.out
        play.out.clear()
    play.divisions.finish()
    yield from play.out


READER = Reader("TEI drama", events)


# Acts and scenes of a TEI play: which division is which, and what number it has.
#
# A division is opened only when something is said or happens in it, for a dedication is divided like an act but nothing
# happens there. What happens in an act before its first scene waits for that scene.


BEFORE_ALL = words("chorus induction prelude proem prolog prologue vorspiel")
SCENE_HEAD = re.compile(r"(?:act\s+(?:\d+|[ivxlc]+)\b[\s.,:;–—-]*)?(?:scene\s+(?:\d+|[ivxlc]+)\b[\s.,:;–—-]*)?", re.I)
MAX_WAITING = 1000
LARGEST_ROMAN = 39  # a division "c" is the third, not the hundredth


@dataclass(slots=True)
class Division:
    """One <div>: an act, a scene, or a part of one."""

    role: str
    kind: str
    n: str
    source: Source
    title: str = ""
    units: int = 0
    opened: bool = False


class Divisions:
    """Where in the play we are. Events go to `out`, with the headings they need before them."""

    def __init__(self, source: SourceFile, acts: bool, out: list[Event]) -> None:
        self._source, self._acts, self._out = source, acts, out
        self._open: list[Division] = []
        self._waiting: list[Description] = []
        self._act: int | None = None
        self._scene: int | None = None
        self._in_act = self._in_scene = False

    def begin(self, kind: str, n: str, line: int) -> Division:
        kind = kind.strip().lower()
        role = "act" if self._acts and not self._inside("act") else "part" if self._inside("scene") else "scene"
        for outer in self._open:
            # a wrapper around the acts was taken for an act itself
            if kind in ("act", "scene") and outer.role == kind and outer.kind != kind and not outer.opened:
                outer.role, role = "part", kind
        self._open.append(Division(role, kind, n, self._source.at(line)))
        return self._open[-1]

    def head(self, title: str, units: int, at: Source) -> None:
        """The title of the innermost division."""
        division = self._open[-1] if self._open else None
        if division is not None and not division.opened:
            division.title = f"{division.title} {title}".strip()
            division.units += units
        elif units:
            self._out.append(Heading(at, title, units=units))

    def end(self, division: Division, line: int) -> None:
        if division.role == "act" and self._waiting:
            self._enter_all(self._source.at(line))
        if not division.opened and division.units:
            self._out.append(Heading(division.source, division.title, units=division.units))
        self._open.remove(division)
        if division.role == "act" and division.opened:
            self._in_act = self._in_scene = False
        elif division.role == "scene" and division.opened:
            self._in_scene = False

    def add_spoken(self, event: Speech | Description) -> None:
        """Something is said, or happens in a speech: it must be in a scene."""
        self._enter_all(event.source)
        self._out.append(event)

    def add_direction(self, event: Description) -> None:
        """Something happens: in the scene, or before the first one of its act."""
        if self._in_scene or self._inside("scene") or len(self._waiting) > MAX_WAITING:
            self.add_spoken(event)
        else:
            self._waiting.append(event)

    def finish(self) -> None:
        if self._waiting:
            self._enter_all(self._waiting[0].source)

    def _inside(self, role: str) -> bool:
        return any(division.role == role for division in self._open)

    def _enter_all(self, at: Source) -> None:
        for division in self._open:
            if not division.opened:
                division.opened = True
                self._enter(division)
        if not self._in_scene:
            self._enter(Division("scene", "", "", at))
        self._out.extend(self._waiting)
        self._waiting.clear()

    def _enter(self, division: Division) -> None:
        at, title, units = division.source, division.title, division.units
        if division.role == "act":
            self._act, self._scene = _number(division, self._act), None
            self._in_act, self._in_scene = True, False
            self._out.append(Heading(at, title or f"Act {self._act}", (self._act,), units))
        elif division.role == "scene":
            if self._acts and not self._in_act:
                self._enter(Division("act", "", "", at))
            self._scene, self._in_scene = _number(division, self._scene), True
            self._out.append(SceneStart(at, _setting(title), number=self._scene, units=units))
        elif units:
            self._out.append(Heading(at, title, units=units))


def _number(division: Division, last: int | None) -> int:
    """What the division says its number is, if that goes on from the last one; else the next."""
    stated = _numeral(division.n.strip())
    if stated is not None and (last is None or stated > last):
        return stated
    if last is None:
        return 0 if division.kind in BEFORE_ALL else 1
    return last + 1


def _numeral(n: str) -> int | None:
    if n.isascii() and n.isdigit() and len(n) <= 4:
        return int(n)
    number = roman_number(n)
    return None if number is None or number > LARGEST_ROMAN else number


def _setting(title: str) -> str:
    """'Scene 2. A street.' is set in a street; 'Scene 2' says nothing of where it is set."""
    match = SCENE_HEAD.match(title)
    return title[match.end() :].strip() if match else title
