"""From the elements of a screenplay to events, the same for every format.

A cue with the dialogue, parentheticals and lyrics under it is a speech, its parentheticals kept in the text like a
script's asides. A scene heading begins a scene. Transitions and the title page are headings that do not move time, and
so are sections that are no levels of time. What stands before the first section of a level is number 0 of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from understudy.formats.screenplay.outline import (
    SPOKEN,
    ScreenplayElement,
    ScreenplayOutline,
    numbered_section,
    setting_and_number,
)
from understudy.formats.transcript.labels import TranscriptStatistics
from understudy.sources.directions import comings_and_goings
from understudy.sources.events import CastEntry, Description, Event, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.names import is_group
from understudy.sources.source import SourceFile
from understudy.story.types import Character

__all__ = ["LONGEST", "screenplay_events"]

LONGEST = 1_000_000  # characters of a speech or paragraph


def screenplay_events(
    source: SourceFile, outline: ScreenplayOutline, elements: Iterable[ScreenplayElement]
) -> Iterator[Event]:
    """The second pass: the stream of events."""
    yield Opening(outline.levels, outline.title)
    builder = _EventBuilder(source, outline)
    for element in elements:
        yield from builder.add(element)
    yield from builder.close_speech()


class _EventBuilder:
    """What is open at the place that has been read up to: the section, the scene, the speech."""

    def __init__(self, source: SourceFile, outline: ScreenplayOutline) -> None:
        self._source, self._outline = source, outline
        self._position: tuple[int, ...] = ()
        self._in_scene = False
        self._cue: ScreenplayElement | None = None
        self._speech: list[ScreenplayElement] = []
        self._size = 0
        self._declared: set[str] = set()
        self._labels = TranscriptStatistics()

    def add(self, element: ScreenplayElement) -> Iterator[Event]:
        at = self._source.at(element.line)
        if element.kind == "unread":  # a note in the midst of a speech does not end it
            yield Unread(at, element.text, element.key, element.units)
            return
        element = element._replace(text=" ".join(element.text.split()))
        if self._cue is not None and element.kind in SPOKEN:
            self._check_size(element)
            self._speech.append(element)
            return
        yield from self.close_speech()
        self._size = 0
        self._check_size(element)
        match element.kind:
            case "title entry":
                titled = element.key.casefold() == "title"
                yield Heading(at, element.text if titled else f"{element.key}: {element.text}", units=element.units)
            case "transition":
                yield Heading(at, element.text, units=element.units)
            case "section":
                yield from self._section(element)
            case "heading":
                setting, number = setting_and_number(element)
                yield from self._enter_section(element)
                self._in_scene = True
                yield SceneStart(at, setting, number=number if self._outline.numbered else None, units=element.units)
            case "cue" | "forced cue":
                self._cue = element
            case _:
                yield from self._enter_scene(element)
                yield Description(at, element.text, comings_and_goings(element.text), element.units)

    def close_speech(self) -> Iterator[Event]:
        """The speech that is open, if any, with what was written under its cue."""
        cue, self._cue = self._cue, None
        if cue is None:
            return
        at = self._source.at(cue.line)
        units = cue.units + sum(element.units for element in self._speech)
        text = " ".join(element.text for element in self._speech if element.text)
        self._speech = []
        if not text:
            yield Unread(at, cue.text, "a cue without words", units)
            return
        yield from self._enter_scene(cue)
        if cue.kind == "cue":
            yield Speech(at, self._labels.speakers(cue.text), text, units)
            return
        if cue.text not in self._declared and not is_group(cue.text):
            self._declared.add(cue.text)
            yield CastEntry(at, Character(cue.text))  # a forced cue is spelt as it is meant
        yield Speech(at, (cue.text,), text, units)

    def _section(self, element: ScreenplayElement) -> Iterator[Event]:
        at = self._source.at(element.line)
        numbered = numbered_section(element.text)
        if element.depth > self._outline.depth or numbered is None:
            yield Heading(at, element.text, units=element.units)
            return
        outer = element.depth - 1
        self._position = (*self._position[:outer], *(0,) * (outer - len(self._position)), numbered[1])
        self._in_scene = False
        yield Heading(at, numbered[2], self._position, element.units)

    def _enter_section(self, element: ScreenplayElement) -> Iterator[Event]:
        """What stands before the first section of a level is in number 0 of it."""
        missing = self._outline.depth - len(self._position)
        if missing:
            self._position = (*self._position, *(0,) * missing)
            yield Heading(self._source.at(element.line), "", self._position, units=0)

    def _enter_scene(self, element: ScreenplayElement) -> Iterator[Event]:
        if not self._in_scene:
            yield from self._enter_section(element)
            self._in_scene = True
            yield SceneStart(self._source.at(element.line), "", number=0 if self._outline.numbered else None, units=0)

    def _check_size(self, element: ScreenplayElement) -> None:
        self._size += len(element.text)
        if self._size > LONGEST:
            message = f"more than {LONGEST:,} characters in one piece: this is no screenplay"
            raise self._source.error(message, element.line)
