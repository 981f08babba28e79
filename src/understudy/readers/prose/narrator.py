"""The events of a text in its order: headings, scenes, lines and descriptions, and what is no part of the story."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from understudy.quotations.lexicon import lexicon_of
from understudy.quotations.paragraphs import is_scene_break
from understudy.quotations.prose import Attribution, NovelCharacter, Prose, Quotation, Span
from understudy.quotations.speech import is_thought
from understudy.readers.events import Description, Event, Heading, SceneStart, Speech, Unread
from understudy.readers.names import is_group
from understudy.readers.prose.line_text import narration_text, spoken_text, unattributed_text
from understudy.readers.prose.narration import narrated
from understudy.readers.prose.scenes import SceneParagraphs, conversations
from understudy.readers.source import SourceFile
from understudy.story import Source

__all__ = ["Narrator"]

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

        What somebody thinks is told, not said: the others do not hear it.
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
        """What is told around these parts of speech, without a picture between two paragraphs of one quotation."""
        spans = narrated(self.prose.text, whole, parts, self.verbs)
        return [span for span in spans if span.start not in self._paratexts]

    def _line(self, quotation: Quotation, attribution: Attribution, units: int) -> Event:
        """A line of whoever says it. What nobody could be proposed for is told, in marks: it makes no character."""
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
