"""Parses lines of text to events: which line begins an event, and which continues the one before it.

Glued lines are split into segments first: `(They dance.)ANN: Well?`, `CUT TO THE QUAY[Bob waits]`, `THE QUAYBOB: Here.`
Every segment of every line ends up in exactly one event, and the first segment of a line carries its unit count, so
the counts add up by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from understudy.formats.transcript.headings import (
    has_location_word,
    is_bare_location,
    is_boilerplate,
    is_credit,
    is_cut,
    is_page_text,
    is_scene_mark,
    may_contain_page_text,
    present,
    setting,
    split_page_text,
)
from understudy.formats.transcript.labels import (
    INNER_LABEL,
    KNOWN,
    Label,
    TextLine,
    TranscriptStatistics,
    speaker_label,
)
from understudy.sources import Cue, Description, Event, Heading, SceneStart, Speech, Unread
from understudy.sources.directions import CLOSERS, OPENERS, WHOLE, comings_and_goings, ends_open, without_brackets
from understudy.sources.source import SourceFile

HEADER_LINES = 60
LONGEST_HEADER = 220
LONGEST_SPEECH = 40_000  # characters; keeps memory constant in a file that stops being a transcript half-way
MANY_LOCATIONS = 4  # lines in capitals: so many are no titles, but a way to mark scenes
MAX_LINES_IN_BRACKETS = 14  # lines a bracket that is never closed may swallow

DIRECTION = re.compile(r"[(\[{<*♪-]")
BETWEEN = re.compile(
    r"\d{1,2}[.)]\s*[(\[{<]|(?:time (?:shift|lapse|cut|passes)|(?:moments |later |much |hours |days )*later|meanwhile"
    r"|(?:the )?(?:next|following|same) (?:day|morning|evening|night)|present day|back to the present)\W*$",
    re.IGNORECASE,
)
ENDS = re.compile(r"[.!?…:)\]}>*\"”'’♪~-]\s*$")
NARRATING = re.compile(
    r"(?:(?:he|she|they|it|the|a|an|everyone|everybody|both|all|we|meanwhile|suddenly|later|time|cut|camera|back|fantasy"
    r"|end of|flashback|general|phone|music|another|next|in|on|at|as|after|when|while|two|three|one|some|from|outside"
    r"|inside|following|same|present|the next|montage|voice|sound|various|shot|credits|there|commercial|opening"
    r"|previously|jumps?|zoom|pan|close-up|still|begin|more|his|her|their|throughout|during|continues|knock|applause|laughter|silence|pause)\b)",
    re.IGNORECASE,
)
TALKING = re.compile(r"\b(?:I|you|your|my|me|we|us|our|I['’]m|you['’]re|let['’]s)\b")
NEEDS_SEGMENTATION = re.compile(r"\[\s*S[cC]|CUT TO|\[/?(?:[biusBIUS]|[a-zA-Z]+=?[^\]\s]*)\]|[\])}]\s*[\[({]")
WORD = re.compile(r"\w+")
RULE = re.compile(r"[\W_]+")
BBCODE = re.compile(
    r"\[(?:/?(?:b|i|u|s|center|quote|spoiler|list|img|url|size|color|font)|(?:quote|url|size|color|font)=[^\]]*)\]",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _OpenEvent:
    """The event that following lines may still continue."""

    kind: Literal["speech", "description", "scene"]
    number: int
    units: int
    parts: list[str]
    speakers: tuple[str, ...] = ()
    lines: int = 1
    length: int = 0

    @property
    def last(self) -> str:
        return self.parts[-1] if self.parts else ""

    @property
    def unclosed(self) -> bool:
        """Is the last bracket an opening one, so that what follows is inside it?"""
        return self.lines <= MAX_LINES_IN_BRACKETS and ends_open(self.last)

    def add(self, text: str, units: int) -> None:
        self.parts.append(text)
        self.units += units
        self.lines += 1
        self.length += len(text)


@dataclass(slots=True)
class _LineParser:
    source: SourceFile
    stats: TranscriptStatistics
    open_event: _OpenEvent | None = None
    has_begun: bool = False
    lines_read: int = 0
    after_scene: bool = False
    after_credit: bool = False
    completed: list[Event] = field(default_factory=list)

    def parse_line(self, line: TextLine) -> None:
        self.lines_read += 1
        if self._parse_plain_line(line):
            return
        units = 1
        line_segments = [
            segment
            for text in split_page_text(BBCODE.sub("", line.text).strip())
            for segment in segments(text, self.stats)
        ]
        if not line_segments:
            self._complete(Unread(self.source.at(line.number), line.text, "nothing but formatting marks", 1))
        for text in line_segments:
            self._parse_segment(TextLine(line.number, text, line.gap and units == 1), units)
            units = 0

    def _parse_plain_line(self, line: TextLine) -> bool:
        """The fast path for most lines: a frequent name with its speech, or the continuation of a wrapped speech."""
        current = self.open_event
        if line.text[0].islower():
            if current is None or current.kind != "speech" or line.gap or current.length > LONGEST_SPEECH:
                return False
            if may_contain_page_text(line.text) or NEEDS_SEGMENTATION.search(line.text):
                return False
            current.add(line.text, 1)
            return True
        plain = self.stats.plain_speech(line.text)
        if plain is None or may_contain_page_text(plain.text) or NEEDS_SEGMENTATION.search(plain.text):
            return False
        self._begin_speech(plain, line.number, 1)
        return True

    def _parse_segment(self, line: TextLine, units: int) -> None:
        text, at, current = line.text, self.source.at(line.number), self.open_event
        wrapped = current is not None and not line.gap and self._is_full(current.last)
        broken = wrapped and current is not None and not ENDS.search(current.last)
        if current is not None and current.length > LONGEST_SPEECH:
            self.close_event()
            current = None
        if RULE.fullmatch(text):
            if current is not None and not line.gap and len(text) < 8 and current.kind == "speech":
                current.add(text, units)
            else:
                self._complete(Unread(at, text, "no words in it", units))
        elif is_page_text(text):  # stands in the middle of what is said, and does not end it
            self.completed.append(Heading(at, text, units=units))
        elif is_boilerplate(text) and not broken:
            self._complete(Heading(at, text, units=units))
            self.after_credit = not self.has_begun and is_credit(text)
        elif is_scene_mark(text) or self._is_cut(text):
            self._begin("scene", line, units)
        elif (label := self._label(text, current, wrapped, broken)) is not None:
            if self.after_credit and self.stats.count(label.name) < KNOWN:  # one more credit, of a kind not seen before
                self.completed.append(Heading(at, text, units=units))
            else:
                self._begin_speech(label, line.number, units)
        elif text.isupper() and not wrapped and text[-1] not in ".!?" and self.stats.count(text) >= KNOWN:
            # a name on a line of its own: what it says follows
            self._begin_speech(Label(text, text, ""), line.number, units)
        elif self._is_location(text, current, broken):
            self._begin("scene", line, units)
        elif BETWEEN.match(text) and not broken and not (current is not None and current.unclosed):
            self._begin("description", line, units)
        elif current is not None and self._continues(current, line, wrapped, broken):
            current.add(text, units)
        elif DIRECTION.match(text):
            self._begin("description", line, units)
        elif self._is_header(text):
            self._complete(Heading(at, text, units=units))
        elif self._is_narration(text):
            self._begin("description", line, units)
        elif current is not None and current.kind == "speech" and not line.gap:
            current.add(text, units)
        elif not self.stats.labelled:
            self._begin("description", line, units)
        else:
            reason = "names no speaker, and is neither a direction nor the rest of a speech"
            self._complete(Unread(at, text, reason, units))

    def _is_header(self, text: str) -> bool:
        """What stands above the first scene or speech of a labelled file."""
        is_above = not self.has_begun and self.stats.labelled
        return is_above and self.lines_read <= HEADER_LINES and len(text) <= LONGEST_HEADER

    def _label(self, text: str, current: _OpenEvent | None, wrapped: bool, broken: bool) -> Label | None:
        if text[0] in OPENERS:
            return None
        in_brackets = current is not None and current.unclosed
        after_brackets = current is not None and not in_brackets and current.last[-1:] in CLOSERS
        label = self.stats.label(text, wrapped and not after_brackets, broken)
        return None if label is not None and in_brackets and self.stats.count(label.name) < KNOWN else label

    def _is_full(self, text: str) -> bool:
        return self.stats.full_length is not None and len(text) >= self.stats.full_length

    def _is_cut(self, text: str) -> bool:
        if not is_cut(text):
            return False
        return self.stats.scene_marks < 2 or (text.isupper() and text[0] not in OPENERS)

    def _is_location(self, text: str, current: _OpenEvent | None, broken: bool) -> bool:
        """A bare location, unless it stands in mid-sentence, or all of this file's scenes are marked as such."""
        if not is_bare_location(text) or not self.stats.labelled:
            return False
        if current is not None and (current.unclosed or broken):
            return False
        if current is not None and current.kind == "speech" and not ENDS.search(current.last):
            return False
        marked = self.stats.scene_marks >= 2
        return not marked or (
            text[0] not in OPENERS and (has_location_word(text) or self.stats.location_lines >= MANY_LOCATIONS)
        )

    def _continues(self, current: _OpenEvent, line: TextLine, wrapped: bool, broken: bool) -> bool:
        text = line.text
        if current.unclosed or (current.kind == "speech" and not current.last):
            return True
        if text[0] in OPENERS:
            whole = WHOLE.match(text)
            alone = whole is None or not text[whole.end() :].strip(" .")
            return current.kind == "speech" and (broken or (not alone and not line.gap))
        if current.kind != "speech" and current.last.rstrip(" .,")[-1:] in CLOSERS:
            return False
        if text[0].islower():
            return True
        if line.gap:
            return False
        return wrapped or (current.kind == "speech" and not ENDS.search(current.last))

    def _is_narration(self, text: str) -> bool:
        if TALKING.search(text):
            return False
        words = text.split(maxsplit=4)
        for size in (1, 2, 3):
            name = " ".join(words[:size]).rstrip(",")
            if len(words) > size and self.stats.count(name.removesuffix("'s").removesuffix("’s")) >= KNOWN:
                return words[size][0].islower() or words[size][0] == "(" or name != " ".join(words[:size])
        return (len(words) > 1 or len(text) > 5) and text[-1] in ".)]:" and NARRATING.match(text) is not None

    def _begin_speech(self, label: Label, number: int, units: int) -> None:
        speakers = self.stats.speakers(label.name)
        self.close_event()
        if label.head != speakers[0] and _has_more_words(label.head, speakers):
            # what the label says besides the names is a direction of its own, before the words are spoken
            cues = comings_and_goings(label.head)
            self.completed.append(Description(self.source.at(number), label.head, cues, units=0))
        self._open(_OpenEvent("speech", number, units, [label.text] if label.text else [], speakers))

    def _begin(self, kind: Literal["description", "scene"], line: TextLine, units: int) -> None:
        self._open(_OpenEvent(kind, line.number, units, [line.text]))

    def _open(self, event: _OpenEvent) -> None:
        self.close_event()
        self.has_begun = self.has_begun or event.kind != "description"
        self.after_credit = False
        event.length = len(event.last)
        self.open_event = event

    def _complete(self, event: Event) -> None:
        """An event of one line, which ends the open one."""
        self.close_event()
        self.completed.append(event)

    def close_event(self) -> None:
        """Complete the open event."""
        current, self.open_event = self.open_event, None
        if current is None:
            return
        at = self.source.at(current.number)
        text = " ".join(current.parts)
        if current.kind == "speech":
            if text:
                self.completed.append(Speech(at, current.speakers, text, current.units))
            else:
                label = " and ".join(current.speakers) + ":"
                self.completed.append(Unread(at, label, "a speaker, and nothing said", current.units))
        elif current.kind == "scene":
            where = setting(text)
            self.completed.append(SceneStart(at, where, present(where), units=current.units))
        else:
            inner = without_brackets(text)
            cues = comings_and_goings(inner)
            if self.after_scene:  # the first direction of a scene says who is there
                cues = (*(Cue("enter", name) for name in present("," + inner)), *cues)
            self.completed.append(Description(at, inner, cues, current.units))
        self.after_scene = current.kind == "scene"


def _has_more_words(head: str, speakers: tuple[str, ...]) -> bool:
    """Does a label hold other words than the names of those who speak?"""
    names = {"and", *WORD.findall(" ".join(speakers).casefold())}
    return not names.issuperset(WORD.findall(head.casefold()))


def parse_lines(source: SourceFile, lines: Iterable[TextLine], stats: TranscriptStatistics) -> Iterator[Event]:
    """The events of a transcript's lines."""
    parser = _LineParser(source, stats)
    for line in lines:
        parser.parse_line(line)
        if parser.completed:
            yield from parser.completed
            parser.completed.clear()
    parser.close_event()
    yield from parser.completed


INNER_SCENE = re.compile(r"(?<=\S)\s*(?=\[\s*(?:Scene|SCENE)\b\s*:)|(?<=[\])}.!?])\s*(?=CUT TO [A-Z])")
INNER_BREAK = re.compile(r"(?<=[\])}])\s*(?=[\[({][^\[\](){}]{3,40}[\])}]$)")
AFTER_LOCATION = re.compile(r"(?<=[\w.])\s*(?=\[)")


def segments(text: str, stats: TranscriptStatistics) -> Iterator[str]:
    """The speeches and scene markers of one line."""
    position = 0
    cuts: list[int] = []
    if ":" in text:
        cuts += _label_after_location(text, stats) + _label_after_direction(text, stats)
        matches = INNER_LABEL.finditer(text)
        cuts += [match.start("name") for match in matches if stats.is_inner_label(match["name"])]
    if "Scene" in text or "SCENE" in text or "CUT TO" in text:
        cuts += [match.end() for match in INNER_SCENE.finditer(text)]
    if match := INNER_BREAK.search(text):
        remainder = text[match.end() :]
        cuts += [match.end()] if is_boilerplate(remainder) or is_scene_mark(remainder) else []
    if text[0] != "[" and (match := AFTER_LOCATION.search(text)):
        location, note = text[: match.start()], WHOLE.match(text, match.end())
        labels = note is not None and text[note.end() :].lstrip().startswith(":")
        if is_cut(text) or (location.isupper() and is_bare_location(location) and not labels):
            cuts.append(match.end())
    for cut in sorted(set(cuts)):
        if segment := text[position:cut].strip():
            yield segment
        position = cut
    if segment := text[position:].strip():
        yield segment


def _label_after_direction(text: str, stats: TranscriptStatistics) -> list[int]:
    """Where the name begins in `(Cyril's mother) Dora: Hello.`, unless the text wraps and may only go on so."""
    direction = WHOLE.match(text) if text[0] in OPENERS and stats.full_length is None else None
    if direction is None:
        return []
    return [direction.end()] if speaker_label(text[direction.end() :].lstrip()) else []


def _label_after_location(text: str, stats: TranscriptStatistics) -> list[int]:
    """Where the name begins in `HARBOUR HOUSE - KITCHENANNA: Hello.`"""
    head = text.partition(":")[0]
    if not head.isupper() or not has_location_word(head) or stats.count(head) >= KNOWN:
        return []
    for start in range(3, len(head) - 2):
        if head[start].isalpha() and stats.count(head[start:]) > KNOWN and is_bare_location(head[:start]):
            return [start]
    return []
