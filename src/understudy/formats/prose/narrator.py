"""The events of a text in its order: headings, scenes, lines and descriptions, and what is no part of the story."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from understudy.novels.lexicon import WORD, lexicon_of
from understudy.novels.marks import is_thought
from understudy.novels.prose import Attribution, NovelCharacter, Prose, Quotation, Span, is_scene_break, joined, trimmed
from understudy.sources import Description, Event, Heading, SceneStart, Speech, Unread
from understudy.sources.names import is_group
from understudy.sources.source import SourceFile
from understudy.story.types import Source

SHOWN = 200  # characters of what is not read


class Narrator:
    """Gives the events of a text whose quotations have been attributed, one attribution for each."""

    def __init__(
        self,
        source: SourceFile,
        prose: Prose,
        cast: Sequence[NovelCharacter],
        attributions: Sequence[Attribution],
    ) -> None:
        self.source, self.prose, self.attributions = source, prose, attributions
        self.verbs = lexicon_of(prose.text, prose.language).speech_verbs
        self.narrators = tuple(person.name for person in cast if person.is_narrator)
        starts = [0]
        while (end := prose.text.find("\n", starts[-1])) >= 0:
            starts.append(end + 1)
        self._line_starts = starts
        self._paratexts = {paratext.span.start for paratext in prose.paratexts}

    def events(self) -> Iterator[Event]:
        streams: list[tuple[int, int, Iterator[Event]]] = []
        for paratext in self.prose.paratexts:
            text = " ".join(self.prose.text[paratext.span.start : paratext.span.end][:SHOWN].split())
            unread = Unread(self._at(paratext.span.start), text, paratext.reason, self._units(paratext.span))
            streams.append((paratext.span.start, 0, iter((unread,))))
        for depth, chapter in enumerate(self.prose.chapters, 1):
            at = self._at(chapter.span.start)
            heading = Heading(at, chapter.title, chapter.numbers, self._units(chapter.span))
            streams.append((chapter.span.start, depth, iter((heading,))))
        for paragraph in self.prose.paragraphs:
            if is_scene_break(self.prose.text, paragraph.span):
                mark = Heading(self._at(paragraph.span.start), "", None, self._units(paragraph.span))
                streams.append((paragraph.span.start, len(self.prose.chapters) + 1, iter((mark,))))
        for conversation, quotations in self._quotations_by_conversation():
            start = self.prose.paragraphs[conversation.first].span.start
            streams.append((start, len(self.prose.chapters) + 1, self._scene(conversation, quotations)))
        for _, _, stream in sorted(streams, key=lambda item: item[:2]):
            yield from stream

    def _quotations_by_conversation(self) -> Iterator[tuple[SceneParagraphs, range]]:
        index = 0
        for conversation in conversations(self.prose, self.attributions):
            first = index
            while index < len(self.prose.quotations) and self.prose.quotations[index].paragraph < conversation.last:
                index += 1
            yield conversation, range(first, index)

    def _scene(self, conversation: SceneParagraphs, quotations: range) -> Iterator[Event]:
        present = dict.fromkeys(self.narrators)
        for index in quotations:
            attribution = self.attributions[index]
            present.update(dict.fromkeys(filter(None, (attribution.speaker, *attribution.addressees))))
        start = self.prose.paragraphs[conversation.first].span.start
        yield SceneStart(self._at(start), "", tuple(name for name in present if not is_group(name)), units=0)
        first, heard = conversation.first, quotations.start
        while first < conversation.last:
            last, begin = first + 1, heard
            while heard < quotations.stop and self.prose.quotations[heard].paragraph < last:
                end = self.prose.quotations[heard].span.end
                while last < conversation.last and self.prose.paragraphs[last].span.start < end:
                    last += 1
                heard += 1
            yield from self._paragraphs(first, last, range(begin, heard))
            first = last

    def _paragraphs(self, first: int, last: int, quotations: range) -> Iterator[Event]:
        """One paragraph, or several that a quotation goes on through. The first event counts all their lines.

        A thought is narration and no speech: the others do not hear it.
        """
        whole = Span(self.prose.paragraphs[first].span.start, self.prose.paragraphs[last - 1].span.end)
        heard = [index for index in quotations if not is_thought(self.prose.text, self.prose.quotations[index])]
        said = [self.prose.quotations[index] for index in heard]
        units = sum(self._units(paragraph.span) for paragraph in self.prose.paragraphs[first:last])
        if not said:
            yield self._description([whole], units)
            return
        events: list[Event] = []
        begin = said[0].span.start
        if before := self._narration(Span(whole.start, begin), [Span(begin, begin)]):
            events.append(self._description(before, units))
        ends = [*(quotation.span.start for quotation in said[1:]), whole.end]
        for index, quotation, end in zip(heard, said, ends):
            events.append(self._line(quotation, self.attributions[index], 0 if events else units))
            parts = [*quotation.parts, Span(end, end)] if end < whole.end else list(quotation.parts)
            if after := self._narration(Span(begin, end), parts):
                events.append(self._description(after, 0))
            begin = end
        yield from events

    def _narration(self, whole: Span, parts: Sequence[Span]) -> list[Span]:
        """The narration around these parts of speech, without a picture between two paragraphs of one quotation."""
        spans = narrated(self.prose.text, whole, parts, self.verbs)
        return [span for span in spans if span.start not in self._paratexts]

    def _line(self, quotation: Quotation, attribution: Attribution, units: int) -> Event:
        """A line of its speaker. Without a proposed one it is narration, in quotation marks: it makes no character."""
        text, parts, at = self.prose.text, quotation.parts, self._at(quotation.span.start)
        if attribution.speaker is None:
            return Description(at, unattributed_text(text, parts), units=units, spans=parts)
        return Speech(at, (attribution.speaker,), spoken_text(text, parts), units, parts, attribution.confidence)

    def _description(self, spans: Sequence[Span], units: int) -> Description:
        text = narration_text(self.prose.text, spans)
        return Description(self._at(spans[0].start), text, units=units, spans=tuple(spans))

    def _at(self, position: int) -> Source:
        return self.source.at(bisect_right(self._line_starts, position))

    def _units(self, span: Span) -> int:
        return sum(1 for line in self.prose.text[span.start : span.end].split("\n") if line and not line.isspace())


# What a paragraph tells around what is said in it, without the marks and without a bare `she said`.

OPENING = "\"'“‘«»„‚「『‹›_"
CLOSING = "\"'”’“‘»«」』›‹_,;—–-"
MORE_VERBS = frozenset(
    "put dijo preguntó respondió contestó disse chiese rispose сказал сказала спросил спросила".split()
)
"""Of languages without a lexicon."""
UNSPACED_VERB = re.compile(r"[说說問问道言答聞]")
TAG_WORDS = 5
TAG_LETTERS = 12  # of a script without blanks between words


def narrated(text: str, whole: Span, parts: Sequence[Span], verbs: frozenset[str]) -> list[Span]:
    """The narration in a stretch of text around these parts of speech; `verbs` are those of speaking.

    A part may be empty, at an edge of the stretch.
    """
    edges = [whole.start, *(edge for part in parts for edge in part), whole.end]
    pieces: list[Span] = []
    for index, (start, end) in enumerate(zip(edges[::2], edges[1::2])):
        piece = trimmed(text, (start, end), CLOSING if index > 0 else "", OPENING if index < len(parts) else "")
        if piece.start < piece.end and not (parts and _is_bare(text, piece, verbs)):
            pieces.append(piece)
    return pieces


def _is_bare(text: str, piece: Span, verbs: frozenset[str]) -> bool:
    """Only who speaks, or no word at all. After a comma narration goes on."""
    words = text[piece.start : piece.end]
    if len(words) > 200:
        return False
    if not any(letter.isalnum() for letter in words):
        return True
    if any(mark in words.rstrip(",;:") for mark in ",;"):
        return False
    if not words.isascii() and " " not in words:
        return len(words) <= TAG_LETTERS and UNSPACED_VERB.search(words) is not None
    listed = WORD.findall(words.casefold())
    return len(listed) <= TAG_WORDS and any(word in verbs or word in MORE_VERBS for word in listed)


# Conversations: which paragraphs are one scene.
#
# A scene is a run of quotations without a long stretch of narration between them, at most a chapter; a shorter
# stretch is enough where other people speak after it than before. Narration belongs to the scene that it leads into.
# A line of asterisks ends a scene.

LONG, SHORT = 2_000, 400
"""Characters of narration that end a conversation, and that do if the company changes.

In the novels of PDNC the same two people go on talking over a gap of 2,000 characters in 54 of 100 cases, over one of
250 to 500 in 88.
"""
COMPANY = 2  # quotations on either side whose people are compared


@dataclass(frozen=True, slots=True)
class SceneParagraphs:
    """Paragraphs `first` up to, not including, `last` of one chapter."""

    chapter: int
    first: int
    last: int


def conversations(prose: Prose, attributions: Sequence[Attribution]) -> Iterator[SceneParagraphs]:
    """Every paragraph is in one, but for the lines of marks between them."""
    breaks = {index for index, paragraph in enumerate(prose.paragraphs) if is_scene_break(prose.text, paragraph.span)}
    starts = _starts(prose, attributions, breaks)
    first = 0
    for index, paragraph in enumerate(prose.paragraphs):
        if index > first and (
            index in breaks or index in starts or paragraph.chapter != prose.paragraphs[first].chapter
        ):
            yield SceneParagraphs(prose.paragraphs[first].chapter, first, index)
            first = index
        if index in breaks:
            first = index + 1
    if first < len(prose.paragraphs):
        yield SceneParagraphs(prose.paragraphs[first].chapter, first, len(prose.paragraphs))


def _starts(prose: Prose, attributions: Sequence[Attribution], breaks: set[int]) -> set[int]:
    """The paragraphs from which on people have been silent for long, or other people speak.

    Narration after the last words before a chapter or a line of marks belongs to the scene that ends there.
    """
    people = [{attribution.speaker, *attribution.addressees} - {None} for attribution in attributions]
    starts: set[int] = set()
    last = -1  # the paragraph in which the quotation before ends
    for index, quotation in enumerate(prose.quotations):
        silence = quotation.span.start - prose.quotations[index - 1].span.end if index else 0
        if silence > LONG or (silence > SHORT and _company_changes(people, index)):
            between = range(last + 1, quotation.paragraph)
            same_chapter = prose.paragraphs[last].chapter == prose.paragraphs[quotation.paragraph].chapter
            if same_chapter and breaks.isdisjoint(between):
                starts.add(last + 1)
        last = quotation.paragraph
        while prose.paragraphs[last].span.end < quotation.span.end:
            last += 1
    return starts


def _company_changes(people: Sequence[set[str | None]], index: int) -> bool:
    """Fewer than two of those who talked before this quotation talk from it on."""
    before = set[str | None]().union(*people[max(index - COMPANY, 0) : index])
    after = set[str | None]().union(*people[index : index + COMPANY])
    return bool(before and after) and len(before & after) < 2


# The text of a line of running text, from the spans at which it stands: on one line, without the marks of italics.


EMPHASIS = re.compile(r"(?<!\w)_([^_]{1,300})_(?!\w)")


def spoken_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The words of a speaker."""
    return _plain(joined(text, spans))


def unattributed_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Words without a known speaker, in quotation marks."""
    return f"“{spoken_text(text, spans)}”"


def narration_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    return _plain(" ".join(" ".join(text[start:end].split()) for start, end in spans))


def _plain(text: str) -> str:
    return EMPHASIS.sub(r"\1", text)
