"""The Fountain reader: how a script is told from a transcript and from prose, and its events.

Fountain has no signature. What tells it is cues: names in capitals on lines of their own with what is said below, where
a transcript has `Name: text` and prose has neither. Scene headings and a title page weigh with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from understudy.readers.events import Event, Reader
from understudy.readers.fountain.comments import UnclosedBoneyard
from understudy.readers.fountain.elements import HEADING, fountain_elements
from understudy.readers.screenplay import SPOKEN, ScreenplayElement, outline_of, screenplay_events
from understudy.readers.source import HEAD_BYTES, SourceFile

__all__ = ["READER", "events", "recognises"]

LABEL = re.compile(r"[^\W\d_][^:：\n]{0,40}[:：]\s*\S")
NO_CUE = re.compile(r".*[.:;,!?]")
OTHER_FORMATS = re.compile(r"\s*(?:WEBVTT\b|<|\{|\[\s*(?:\[\s*)?[{\"]|\d+\s*\n\d\d?:\d\d:)")
LINE_END = re.compile(r"\r\n|\r|\n")
SUFFIXES = (".fountain", ".spmd")
MOST_LINES = 1000
SHARE_SPOKEN = 0.3


def recognises(head: bytes, path: Path) -> bool:
    """Text with cues, or with scene headings or a title page and no labels. The name decides where there is little
    of either."""
    text = _decoded(head)
    if text is None or OTHER_FORMATS.match(text):
        return False
    lines = LINE_END.split(text)[:MOST_LINES]
    if len(head) == HEAD_BYTES and len(lines) > 1:
        lines.pop()
    return _is_screenplay(list(_elements_of(lines)), path.suffix.casefold() in SUFFIXES)


def _is_screenplay(elements: list[ScreenplayElement], named: bool) -> bool:
    """Marks that force an element count only beside a title page or the name: other languages have `@` and `.` too."""
    entries = sum(element.kind == "title entry" for element in elements)
    forced = named or entries > 0
    cues = headings = marked = labels = spoken = 0
    for element, after in zip(elements, [*elements[1:], None]):
        if element.kind == "heading":
            is_usual = HEADING.match(element.text) is not None
            headings += forced or is_usual
            marked += bool(element.number) or not is_usual
        elif element.kind in ("action", "dialogue"):
            labels += sum(LABEL.match(line) is not None for line in element.text.split("\n"))
        elif after is not None and after.kind in SPOKEN and _is_clear_cue(element, forced):
            cues += 1
            spoken += element.units + after.units
    if entries and marked:
        return True
    if named and labels <= cues + headings + entries:
        return any(element.kind not in ("action", "unread") for element in elements)
    if labels > cues + headings:
        return False
    if headings and (cues or (headings > 1 and not labels)):
        return True
    total = sum(element.units for element in elements if element.kind != "unread")
    return cues > 0 if entries else cues > 1 and spoken >= SHARE_SPOKEN * total


def _is_clear_cue(element: ScreenplayElement, forced: bool) -> bool:
    if element.kind == "forced cue":
        return forced
    return element.kind == "cue" and not NO_CUE.fullmatch(element.text)


def _elements_of(lines: list[str]) -> Iterator[ScreenplayElement]:
    """As far as they can be told from a head that may break off in a boneyard."""
    try:
        yield from fountain_elements(enumerate(lines, 1))
    except UnclosedBoneyard:
        return


def _decoded(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", errors="ignore").lstrip("\ufeff")
    if b"\0" in head:
        return None
    return head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace")


def events(source: SourceFile) -> Iterator[Event]:
    """The stream of events of one file, after a first pass over it."""
    outline = outline_of(_elements(source.reopened()))
    yield from screenplay_events(source, outline, _elements(source))


def _elements(source: SourceFile) -> Iterator[ScreenplayElement]:
    try:
        yield from fountain_elements(source.lines())
    except UnclosedBoneyard as error:
        raise source.error(*error.args) from error


READER = Reader("fountain", recognises, events)
