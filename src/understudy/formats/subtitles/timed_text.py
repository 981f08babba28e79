"""A subtitle: when it is shown, its lines of text, and who is named in them.

Names are written in four ways: `<v Ann>text`, `ANN: text`, `- ANN: text` where two speak at once, and `>> ANN: text` in
broadcast captions. What stands in brackets or between notes is no speech.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from understudy.formats.transcript.labels import Label, looks_like_label, read_label
from understudy.sources.directions import BRACKETED, WHOLE, ends_open

__all__ = ["TIMES", "Segment", "TimedText", "segments", "times_of"]

TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.:](\d{1,3}))?"
TIMES = re.compile(rf"\s*{TIME}\s*--?>\s*{TIME}(?:\s.*)?")
VOICE = re.compile(r"<v(?:\.[^\s<>]{0,200})?\s{1,9}([^<>]{0,200})>")
MARKUP = re.compile(
    r"</?(?:[ibuvsc]|font|ruby|rt|lang|span|p|em|strong)(?:[.\s][^<>]*)?/?>|<(?:\d+:)?\d+:\d+\.\d+>"
    r"|\{\\[^{}]*\}|\{/?[biuy](?::[^{}]*)?\}",
    re.IGNORECASE,
)
DASH = re.compile(r"(?:[-‐‑–—]|>{2,3})\s*(?=\S)")
MUSIC = "♪♫♩♬"
CLOCK = re.compile(r"\d$")
LONGEST_LABEL = 4  # words
MOST_LINES = 60  # of one subtitle; a longer one comes in pieces


class Segment(NamedTuple):
    """A piece of a subtitle: who says it (None: not said), or a description, and the line it begins in."""

    number: int
    kind: Literal["speech", "description"]
    speaker: str | None
    text: str
    is_new: bool
    """Does somebody else begin to speak here, named or not?"""
    units: int


@dataclass(frozen=True, slots=True)
class TimedText:
    """One subtitle; `number` is its first line, `units` how many lines it has with its number and times."""

    number: int
    start_s: float
    end_s: float
    lines: tuple[tuple[int, str], ...]
    units: int

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= MOST_LINES

    def with_line(self, number: int, text: str) -> TimedText:
        """With one line of text more."""
        return replace(self, lines=(*self.lines, (number, text.strip())), units=self.units + 1)

    def rest(self, number: int) -> TimedText:
        """What goes on with this one in a further line."""
        return replace(self, number=number, lines=(), units=0)


def times_of(line: str) -> tuple[float, float] | None:
    """`00:00:01,000 --> 00:00:02,500` in seconds."""
    match = TIMES.fullmatch(line) if "->" in line else None
    if match is None:
        return None
    hours, minutes, seconds, part, *end = match.groups()
    return _seconds(hours, minutes, seconds, part), _seconds(*end)


def _seconds(hours: str | None, minutes: str, seconds: str, part: str | None) -> float:
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + float(f"0.{part or 0}")


def segments(subtitle: TimedText) -> list[Segment]:
    """What is said and described in a subtitle, in order; its lines are the units of the segments."""
    found: list[Segment] = []
    above = subtitle.units - len(subtitle.lines)
    for number, line, lines in _logical_lines(subtitle.lines):
        pieces = _pieces(number, line)
        for piece in pieces:
            units, above = above + (lines if piece is pieces[0] else 0), 0
            last = found[-1] if found else None
            if last is not None and _continues(last, piece):
                found[-1] = last._replace(text=f"{last.text} {piece.text}".strip(), units=last.units + units)
            else:
                found.append(piece._replace(units=units))
        if not pieces:  # nothing but markup in this line
            above += lines
    if above and found:
        found[-1] = found[-1]._replace(units=found[-1].units + above)
    return found


def _logical_lines(lines: tuple[tuple[int, str], ...]) -> Iterator[tuple[int, str, int]]:
    """(number, text, how many lines) with a bracket that runs over several lines in one piece."""
    index = 0
    while index < len(lines):
        number, text = lines[index]
        last = index
        if text.lstrip("-–— ")[:1] in ("(", "[") and ends_open(text):
            whole = text
            for ahead in range(index + 1, len(lines)):
                whole = f"{whole} {lines[ahead][1]}"
                if not ends_open(whole):
                    text, last = whole, ahead
                    break
        yield number, text, last - index + 1
        index = last + 1


def _continues(last: Segment, piece: Segment) -> bool:
    if last.kind != piece.kind or piece.is_new or piece.speaker is not None:
        return False
    return last.kind == "speech" or not WHOLE.fullmatch(last.text)


def _pieces(number: int, line: str) -> list[Segment]:
    """The segments of one line: one a voice, else one."""
    voices = list(VOICE.finditer(line))
    pieces = []
    if text := _plain(line[: voices[0].start()] if voices else line):
        pieces.append(_piece(number, text))
    for index, voice in enumerate(voices):
        end = voices[index + 1].start() if index + 1 < len(voices) else len(line)
        name, text = " ".join(html.unescape(voice[1]).split()), _plain(line[voice.end() : end])
        if not name and text:
            pieces.append(_piece(number, text))
        elif text and not _is_described(text):
            pieces.append(Segment(number, "speech", name, text, True, 0))
        elif text:
            pieces.append(Segment(number, "description", None, text, True, 0))
    return pieces


def _piece(number: int, text: str) -> Segment:
    dash = DASH.match(text)
    said = text[dash.end() :] if dash else text
    if _is_described(said):
        return Segment(number, "description", None, said, True, 0)
    label = read_label(said)
    if label is None or not _is_name(label):
        return Segment(number, "speech", None, said, dash is not None, 0)
    notes = " ".join(BRACKETED.findall(label.head))  # `ANN (on the phone): Yes?`
    return Segment(number, "speech", label.name, f"{notes} {label.text}".strip(), True, 0)


def _is_name(label: Label) -> bool:
    """`Ann: Yes.`, but neither `Meet me at 10:30` nor `she said: Yes.`"""
    if label.name[0].islower() or (CLOCK.search(label.name) and label.text[:1].isdigit()):
        return False
    return len(label.name.split()) <= LONGEST_LABEL and looks_like_label(label.name)


def _is_described(text: str) -> bool:
    """Is a line all music, or all in brackets?"""
    return text[0] in MUSIC or text[-1] in MUSIC or (text[0] in "([" and WHOLE.fullmatch(text) is not None)


def _plain(text: str) -> str:
    if "<" in text or "{" in text:
        text = MARKUP.sub("", text)
    return " ".join(html.unescape(text).replace("\u200b", "").split())
