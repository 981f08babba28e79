"""Telling apart what a TEI play is made of: speeches, directions, titles, the cast, and what is beside the play.

Every word goes to the sink that the elements around it have opened: a speech, a direction, a title. A sink counts the
units its words come from, so that whatever it becomes accounts for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from understudy.readers.directions import comings_and_goings
from understudy.readers.events import CastEntry, Cue, Description, Event, Heading, Speech, Unread
from understudy.readers.names import is_group
from understudy.readers.source import SourceFile
from understudy.readers.tei.divisions import Division, Divisions
from understudy.readers.tei.survey import DIVISION, PERSONS, Survey, identifiers
from understudy.readers.tei.xmlstream import End, Start
from understudy.story import Character, Source

__all__ = ["UNITS", "Play"]

UNITS = frozenset(
    (
        *(
            "ab",
            "byline",
            "castItem",
            "closer",
            "docImprint",
            "docTitle",
            "epigraph",
            "fw",
            "head",
            "item",
            "l",
            "label",
        ),
        *("note", "opener", "p", "person", "personGrp", "signed", "speaker", "stage", "titlePart", "trailer"),
    )
)
SECTIONS = frozenset(("teiHeader", "standOff"))
REGIONS = frozenset(("front", "body", "back"))
TITLES = frozenset(("castItem", "docImprint", "docTitle", "label", "set", "titlePage", "trailer"))
BESIDES = {"note": "an editor's note", "fw": "a running title of the page"}
OUTSIDE = {"front": "stands before the play", "back": "stands after the play"}
DROPPED = frozenset(("abbr", "orig", "sic"))
BREAKS = frozenset(
    ("ab", "castItem", "cb", "head", "item", "l", "lb", "lg", "p", "pb", "role", "roleDesc", "speaker", "stage")
)

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
    takes: int = 0
    size: int = 0
    label: str = ""
    speakers: tuple[str, ...] = ()
    cues: list[Cue] = field(default_factory=list)


@dataclass(slots=True)
class _Unit:
    counted: bool = False


@dataclass(slots=True)
class _Frame:
    """An open element: where its words go, and which unit they belong to."""

    name: str
    attributes: Mapping[str, str]
    sink: _Sink | None = None
    unit: _Unit | None = None
    opened: bool = False
    division: Division | None = None


class Play:
    """What is open at the place that has been read up to; `out` is what is ready to go out."""

    def __init__(self, source: SourceFile, found: Survey) -> None:
        self.out: list[Event] = []
        self.divisions = Divisions(source, found.acts, self.out)
        self._source, self._survey = source, found
        self._frames: list[_Frame] = []
        self._line = 1
        self._last_speakers: tuple[str, ...] = ()
        for one in found.unlisted:
            self._declare(found.cast[one], source.at(1), 0)

    def start(self, token: Start) -> None:
        self._line = token.line
        outer = self._frames[-1] if self._frames else _Frame("", {})
        frame = _Frame(token.name, token.attributes, outer.sink, outer.unit)
        self._frames.append(frame)
        if outer.sink is not None and token.name in BREAKS and token.attributes.get("break") != "no":
            outer.sink.pieces.append(" ")
        self._route(frame, outer)
        credit = frame.sink is not None and frame.sink.kind == "credits"
        if frame.opened or (token.name in UNITS and not credit):
            frame.unit = _Unit()

    def words(self, text: str) -> None:
        frame = self._frames[-1]
        blank = not text.strip()
        if blank and (frame.sink is None or (self._survey.spaced and frame.name != "c")):
            return
        sink = frame.sink or self._stray()
        if sink.kind == "dropped":
            return
        if not blank:
            sink.line = sink.line or self._line
            if frame.unit is None or frame.sink is None:
                frame.unit = _Unit()
            if not frame.unit.counted:
                frame.unit.counted = True
                self._source.units += 1
                sink.takes += 1
        sink.size += len(text)
        if sink.size > LONGEST:
            raise self._source.error(f"more than {LONGEST:,} characters in one piece: this is no play", self._line)
        sink.pieces.append(text)
        if frame.sink is None:
            self._close(sink)

    def end(self, token: End) -> None:
        self._line = token.line
        frame = self._frames.pop()
        if frame.opened and frame.sink is not None:
            self._close(frame.sink)
        elif frame.sink is not None and frame.name in BREAKS and frame.attributes.get("break") != "no":
            frame.sink.pieces.append(" ")
        if frame.division is not None:
            self.divisions.end(frame.division, token.line)

    def _route(self, frame: _Frame, outer: _Frame) -> None:
        """Open what the element begins. Within most things an element is only a part of them."""
        name, within = frame.name, None if outer.sink is None else outer.sink.kind
        if within in ("aside", "dropped"):
            return
        if outer.name == "choice" and name in DROPPED:
            self._open(frame, "dropped")
        elif name in PERSONS and frame.attributes.get("xml:id") in self._survey.cast:
            self._open(frame, "person").label = frame.attributes["xml:id"]
        elif outer.name in SECTIONS:
            self._open(frame, "credits")
        elif name in BESIDES and within != "credits":
            self._open(frame, "aside").reason = BESIDES[name]
        elif name == "stage" and within == "direction" and outer.sink is not None:
            self._note_moves(outer.sink, frame.attributes)
        elif within in (None, "words", "narration") and self._region() is not None:
            self._route_text(frame, outer)

    def _route_text(self, frame: _Frame, outer: _Frame) -> None:
        name, attributes = frame.name, frame.attributes
        if name in DIVISION and outer.sink is None:
            frame.division = self.divisions.begin(attributes.get("type", ""), attributes.get("n", ""), self._line)
        elif name == "head" and outer.division is not None:
            self._open(frame, "head")
        elif name == "head" or name in TITLES:
            self._part_speech()
            self._open(frame, "title")
        elif name == "sp":
            self._part_speech()
            self._last_speakers = self._named(attributes)
            self._open(frame, "words").speakers = self._last_speakers
        elif name == "speaker" and outer.sink is not None and outer.sink.kind == "words":
            self._open(frame, "speaker")
        elif name == "stage":
            self._part_speech()
            self._note_moves(self._open(frame, "direction"), attributes)
        elif name in UNITS and outer.sink is None:
            frame.sink, frame.opened = self._stray(), True

    def _open(self, frame: _Frame, kind: str) -> _Sink:
        frame.sink, frame.opened = _Sink(kind, self._line), True
        return frame.sink

    def _stray(self) -> _Sink:
        """For words that are in no speech, direction or title."""
        region = self._region()
        reason = OUTSIDE.get(region, "") if region else "stands outside the text"
        return _Sink("aside" if reason else "narration", self._line, reason)

    def _region(self) -> str | None:
        return next((frame.name for frame in reversed(self._frames) if frame.name in REGIONS), None)

    def _named(self, attributes: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(self._survey.name(one) or one for one in identifiers(attributes.get("who")))

    def _note_moves(self, sink: _Sink, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "").lower()
        if kind in ("entrance", "exit"):
            sink.cues.extend(Cue("enter" if kind == "entrance" else "leave", name) for name in self._named(attributes))

    def _part_speech(self) -> None:
        """What has been said so far goes out before what comes in between."""
        sink = next((one.sink for one in reversed(self._frames[:-1]) if one.opened), None)
        if sink is None or sink.kind not in ("words", "narration"):
            return
        if self._tidy(sink):
            self._close(sink)
            sink.pieces.clear()
            sink.takes = sink.size = 0
        sink.line = 0

    def _close(self, sink: _Sink) -> None:
        text, at = self._tidy(sink), self._source.at(sink.line or self._line)
        if sink.kind == "person":
            self._declare(self._survey.cast[sink.label], at, sink.takes)
        elif not text and not sink.takes:
            return
        elif sink.kind == "speaker":
            speech = self._frames[-1].sink
            if speech is not None:
                speech.label, speech.takes = text, speech.takes + sink.takes
        elif sink.kind == "words":
            self._speak(sink, text)
        elif sink.kind == "direction":
            self.divisions.tell(self._direction(sink, text))
        elif sink.kind == "head":
            self.divisions.head(text, sink.takes, at)
        elif sink.kind in ("title", "credits"):
            self.out.append(Heading(at, text if sink.kind == "title" else text[:LONGEST_CREDIT], takes=sink.takes))
        elif sink.kind == "narration":
            self.divisions.tell(Description(at, text, takes=sink.takes))
        elif sink.kind == "aside":
            self.out.append(Unread(at, text, sink.reason, sink.takes))

    def _declare(self, character: Character, at: Source, takes: int) -> None:
        if not is_group(character.name):
            self.out.append(CastEntry(at, character, takes))
        elif takes:
            self.out.append(Heading(at, character.name, takes=takes))

    def _speak(self, sink: _Sink, text: str) -> None:
        at = self._source.at(sink.line or self._line)
        speakers = sink.speakers or ((sink.label,) if sink.label else ())
        if not text:
            self.out.append(Unread(at, sink.label, "a speech without words", sink.takes))
        elif speakers:
            self.divisions.speak(Speech(at, speakers, text, sink.takes))
        else:  # cries from behind the scene are nobody's
            self.divisions.speak(Description(at, text, takes=sink.takes))

    def _direction(self, sink: _Sink, text: str) -> Description:
        cues = tuple(sink.cues) or comings_and_goings(text)
        if not cues and BARE_EXIT.fullmatch(text):
            cues = tuple(Cue("leave", name) for name in self._last_speakers)
        at = self._source.at(sink.line or self._line)
        return Description(at, text, cues, sink.takes)

    def _tidy(self, sink: _Sink) -> str:
        text = AFTER_OPENING.sub(r"\1", SPACE.sub(" ", "".join(sink.pieces)).strip())
        if self._survey.tokenised or sink.kind in ("direction", "head", "title"):
            text = BEFORE_CLOSING.sub(r"\1", text)
        return text.lstrip(",; ") if sink.kind == "direction" else text
