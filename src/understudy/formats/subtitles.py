"""Subtitles in which speakers are named: SubRip (`.srt`) and WebVTT (`.vtt`).

Names are written in four ways: `<v Ann>text`, `ANN: text`, `- ANN: text` where two speak at once, and `>> ANN: text` in
broadcast captions. What stands in brackets or between notes is no speech.

Speeches that run over several subtitles are joined, long pauses begin scenes. A subtitle that names nobody goes on with
the speech before it if that broke off in mid-sentence, or if most subtitles of the file name somebody, so that one
without a name means 'the same'. Any other is somebody's, but nobody can tell whose: its words are a description. A file
in which nobody is named at all is refused. Times are not kept; a line's source is its line in the file.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from understudy.formats.evidence import EPISODE, TIMES
from understudy.formats.transcript.labels import Label, TranscriptStatistics, speaker_label
from understudy.sources import Description, Event, Heading, Opening, Reader, SceneStart, Speech, Unread
from understudy.sources.directions import WHOLE, comings_and_goings, ends_open, without_brackets
from understudy.sources.source import SourceFile
from understudy.text import LANGUAGES

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
    """Does another speaker begin here, named or not?"""
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
    joined: list[Segment] = []
    above = subtitle.units - len(subtitle.lines)
    for number, line, lines in _logical_lines(subtitle.lines):
        pieces = _pieces(number, line)
        for piece in pieces:
            units, above = above + (lines if piece is pieces[0] else 0), 0
            last = joined[-1] if joined else None
            if last is not None and _continues(last, piece):
                joined[-1] = last._replace(text=f"{last.text} {piece.text}".strip(), units=last.units + units)
            else:
                joined.append(piece._replace(units=units))
        if not pieces:  # nothing but markup in this line
            above += lines
    if above and joined:
        joined[-1] = joined[-1]._replace(units=joined[-1].units + above)
    return joined


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
    label = speaker_label(said)
    if label is None or not _is_name(label):
        return Segment(number, "speech", None, said, dash is not None, 0)
    return Segment(number, "speech", label.name, label.said, True, 0)


def _is_name(label: Label) -> bool:
    """`Ann: Yes.`, but neither `Meet me at 10:30` nor `she said: Yes.`"""
    if label.name[0].islower() or (CLOCK.search(label.name) and label.text[:1].isdigit()):
        return False
    return len(label.name.split()) <= LONGEST_LABEL


def _is_described(text: str) -> bool:
    """Is a line all music, or all in brackets?"""
    return text[0] in MUSIC or text[-1] in MUSIC or (text[0] in "([" and WHOLE.fullmatch(text) is not None)


def _plain(text: str) -> str:
    if "<" in text or "{" in text:
        text = MARKUP.sub("", text)
    return " ".join(html.unescape(text).replace("\u200b", "").split())


SCENE_PAUSE_S = 15.0
JOIN_PAUSE_S = 4.0
USUAL = 0.5  # share of speech with a name, from which no name means 'the same speaker'
LONGEST_TURN = 600  # characters up to which finished sentences of one speaker are joined
LONGEST_SPEECH = 20_000
ENDED = re.compile(r"[.!?…。！？♪][\"”'’)\]]*$")
TRAILING = re.compile(r"(?:\.\.\.|…|[-–—])[\"”'’)\]]*$")
GOING_ON = re.compile(r"\.\.|…|[a-z]")

SubtitleParser = Callable[[SourceFile], Iterator["TimedText | Event"]]
"""The subtitles of a file in order, and events for what is none."""


def subtitle_events(source: SourceFile, parse: SubtitleParser, language: str | None = None) -> Iterator[Event]:
    """The stream of events of one file of subtitles."""
    usual = _names_are_usual(source, parse)
    match = EPISODE.search(source.path.stem)
    yield Opening(("season", "episode", "scene", "line") if match else ("scene", "line"), language=language)
    if match:
        season, episode = (int(group) for group in match.groups() if group)
        yield Heading(source.at(1), source.path.stem, (season, episode), units=0)
    joining = _CueJoiner(source, usual)
    for item in parse(source):
        if isinstance(item, TimedText):
            yield from joining.add(item)
        else:
            yield item
    yield from joining.close()


def _names_are_usual(source: SourceFile, parse: SubtitleParser) -> bool:
    """A first pass over the file: does most of what is said name its speaker? An error if none does."""
    said = named = 0
    for item in parse(SourceFile(source.path)):
        for segment in segments(item) if isinstance(item, TimedText) else ():
            said += segment.kind == "speech"
            named += segment.speaker is not None
    if not named:
        raise source.error(
            "no speaker is named in these subtitles: write names before the words ('ANN: Good evening.', or "
            "'<v Ann>Good evening.' in WebVTT), or read a script or a transcript of the same scenes"
        )
    return named >= said * USUAL


@dataclass(slots=True)
class _OpenSpeech:
    number: int
    speaker: str
    text: str
    units: int
    end_s: float

    def goes_on(self, segment: Segment, start_s: float, usual: bool) -> bool:
        """Does a segment belong to this speech?"""
        pause = start_s - self.end_s
        if pause >= SCENE_PAUSE_S or len(self.text) > LONGEST_SPEECH:
            return False
        if segment.speaker is None and segment.is_new:
            return False
        if segment.speaker not in (None, self.speaker):
            return False
        broken_off = not ENDED.search(self.text) or (TRAILING.search(self.text) and GOING_ON.match(segment.text))
        if broken_off:
            return True
        return (segment.speaker is not None or usual) and pause < JOIN_PAUSE_S and len(self.text) < LONGEST_TURN


class _CueJoiner:
    """Makes speeches of the subtitles they are spread over."""

    def __init__(self, source: SourceFile, usual: bool) -> None:
        self.source, self.usual = source, usual
        self.speech: _OpenSpeech | None = None
        self.end_s: float | None = None
        self.statistics = TranscriptStatistics()

    def add(self, subtitle: TimedText) -> Iterator[Event]:
        if self.end_s is not None and subtitle.start_s - self.end_s >= SCENE_PAUSE_S:
            yield from self.close()
            yield SceneStart(self.source.at(subtitle.number), "", units=0)
        pieces = segments(subtitle)
        if not pieces:
            text = " ".join(line for _, line in subtitle.lines)
            yield Unread(self.source.at(subtitle.number), text, "a subtitle without words", subtitle.units)
            return
        self.end_s = max(subtitle.end_s, subtitle.start_s)
        for piece in pieces:
            yield from self._add(piece, subtitle)

    def _add(self, piece: Segment, subtitle: TimedText) -> Iterator[Event]:
        current = self.speech
        if piece.kind == "speech" and current and current.goes_on(piece, subtitle.start_s, self.usual):
            current.text, current.units = f"{current.text} {piece.text}".strip(), current.units + piece.units
            current.end_s = subtitle.end_s
            return
        yield from self.close()
        if piece.kind == "speech" and piece.speaker is not None:
            self.speech = _OpenSpeech(piece.number, piece.speaker, piece.text, piece.units, subtitle.end_s)
            return
        text = without_brackets(piece.text) if piece.kind == "description" else piece.text
        cues = comings_and_goings(text) if piece.kind == "description" else ()
        yield Description(self.source.at(piece.number), text, cues, piece.units)

    def close(self) -> Iterator[Event]:
        """Complete the open speech."""
        speech, self.speech = self.speech, None
        if speech is None:
            return
        at = self.source.at(speech.number)
        if speech.text:
            yield Speech(at, self.statistics.speakers(speech.speaker), speech.text, speech.units)
        else:
            yield Unread(at, f"{speech.speaker}:", "a speaker, and nothing said", speech.units)


# SubRip: a number, the times, lines of text, a blank line.
#
# Files leave out numbers or blank lines, or put blank lines into a text: what counts is the line of times.

LONGEST_NUMBER = 9


def _subtitles(source: SourceFile) -> Iterator[TimedText | Event]:
    subtitle: TimedText | None = None
    pending: list[tuple[int, str]] = []  # a number: of the next subtitle if times follow, else text
    for number, line in source.lines():
        if not line or line.isspace():
            continue
        if (times := times_of(line)) is not None:
            if subtitle is not None:
                yield subtitle
            subtitle = TimedText(pending[0][0] if pending else number, *times, (), 1 + len(pending))
            pending = []
            continue
        texts, pending = (pending, [(number, line)]) if _is_number(line.strip()) else ([*pending, (number, line)], [])
        for text in texts:
            if subtitle is None:
                yield _outside(source, *text)
                continue
            if subtitle.is_full:
                yield subtitle
                subtitle = subtitle.rest(number)
            subtitle = subtitle.with_line(*text)
    for text in pending:
        if subtitle is None:
            yield _outside(source, *text)
        else:
            subtitle = subtitle.with_line(*text)
    if subtitle is not None:
        yield subtitle


def _outside(source: SourceFile, number: int, line: str) -> Unread:
    return Unread(source.at(number), line.strip()[:200], "stands before the first subtitle")


def _is_number(line: str) -> bool:
    return line.isdecimal() and len(line) <= LONGEST_NUMBER


SUBRIP = Reader("subrip", lambda source: subtitle_events(source, _subtitles))


# WebVTT: blocks between blank lines, after a first line that begins with `WEBVTT`.
#
# A block is a cue (perhaps with a name of its own above its times), a NOTE, or a STYLE or REGION for the screen. The
# first block may say the title and the language.

LANGUAGE = re.compile(rb"^Language:[ \t]*([a-zA-Z]{2})\b", re.MULTILINE)
NO_CUES = (
    (re.compile(r"NOTE(?:\s.*)?"), "a comment"),
    (re.compile(r"STYLE\s*"), "how it looks on the screen"),
    (re.compile(r"REGION\s*"), "where it stands on the screen"),
)
MOST_BLOCK_LINES = 500  # a longer block comes in pieces

Block = list[tuple[int, str]]


def webvtt_events(source: SourceFile) -> Iterator[Event]:
    match = LANGUAGE.search(source.head()[:2000])
    language = match[1].decode().lower() if match else None
    yield from subtitle_events(source, _cues, language if language in LANGUAGES else None)


def _cues(source: SourceFile) -> Iterator[TimedText | Event]:
    for index, block in enumerate(_blocks(source)):
        reason = next((reason for mark, reason in NO_CUES if mark.fullmatch(block[0][1].strip())), None)
        if index == 0:
            timed = next((at for at, (_, line) in enumerate(block) if times_of(line)), len(block))
            for number, line in block[:timed]:
                yield Heading(source.at(number), line.strip())
            yield from _timed(source, block[timed:])
        elif reason is not None:
            text = " ".join(line.strip() for _, line in block)
            yield Unread(source.at(block[0][0]), text[:200], reason, len(block))
        else:
            yield from _timed(source, block)


def _blocks(source: SourceFile) -> Iterator[Block]:
    block: Block = []
    for number, line in source.lines():
        if line and not line.isspace():
            block.append((number, line))
        if block and (not line or line.isspace() or len(block) >= MOST_BLOCK_LINES):
            yield block
            block = []
    if block:
        yield block


def _timed(source: SourceFile, block: Block) -> Iterator[TimedText | Event]:
    """The cue of a block; several, where the blank lines between them are missing."""
    starts = [index for index, (_, line) in enumerate(block) if times_of(line)]
    first = starts[0] if starts else len(block)
    named = bool(starts) and first == 1
    if not named:
        for number, line in block[:first]:
            yield Unread(source.at(number), line.strip()[:200], "stands outside any cue")
    for index, end in zip(starts, [*starts[1:], len(block)]):
        times = times_of(block[index][1])
        if times is None:
            continue
        above = 1 if named and index == first else 0
        cue = TimedText(block[index - above][0], *times, (), 1 + above)
        for number, line in block[index + 1 : end]:
            if cue.is_full:
                yield cue
                cue = cue.rest(number)
            cue = cue.with_line(number, line)
        yield cue


WEBVTT = Reader("webvtt", webvtt_events)
