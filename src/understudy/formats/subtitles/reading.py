"""From subtitles to events: speeches that run over several subtitles are joined, long pauses begin scenes.

A subtitle that names nobody goes on with the speech before it if that broke off in mid-sentence, or if most subtitles
of the file name somebody, so that one without a name means 'the same'. Any other is somebody's, but nobody can tell
whose: its words are a description. A file in which nobody is named at all is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from understudy.formats.evidence import EPISODE
from understudy.formats.subtitles.timed_text import Segment, TimedText, segments
from understudy.formats.transcript.labels import TranscriptStatistics
from understudy.sources.directions import comings_and_goings, without_brackets
from understudy.sources.events import Description, Event, Heading, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

__all__ = ["SubtitleParser", "subtitle_events"]

SCENE_PAUSE_S = 15.0
JOIN_PAUSE_S = 4.0
USUAL = 0.5  # share of what is said that names somebody, from which no name means 'the same'
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
    """A first pass over the file: is somebody named in most of what is said? An error if nobody ever is."""
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
