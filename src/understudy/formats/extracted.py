"""Text that was taken out of a container (EPUB, DOCX): as a source for the readers of plain text, and as prose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from understudy.formats.prose.reading import prose_events
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Prose, Span
from understudy.sources.events import Event, Reader, Unread
from understudy.sources.source import HEAD_BYTES, Progress, SourceFile

__all__ = ["ExtractedText", "TextSource", "join_paragraphs", "left_out", "script_events", "story_events"]

SHOWN = 200  # characters of what is left out


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """A text with the spans of its headings, where they are known."""

    text: str
    headings: tuple[Span, ...] | None = None
    title: str | None = None
    language: str | None = None
    left_out: tuple[Unread, ...] = ()

    def parsed(self) -> Prose:
        return parse_prose(self.text, self.language, self.headings, self.title)


@dataclass(slots=True)
class TextSource(SourceFile):
    """A source whose lines are those of a text, and whose name and errors are those of the file it came from."""

    text: str = ""

    def head(self) -> bytes:
        return self.text[:HEAD_BYTES].encode()[:HEAD_BYTES]

    def chunks(self, size: int = 1 << 20) -> Iterator[bytes]:
        content = self.text.encode()
        yield from (content[start : start + size] for start in range(0, len(content), size))

    def lines(
        self,
        longest: int = 0,  # noqa: ARG002
        lost: str | None = None,  # noqa: ARG002
        *,
        is_work: bool = True,  # noqa: ARG002
    ) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(self.text.split("\n"), 1):
            self.units += bool(line and not line.isspace())
            yield number, line

    def reopened(self, progress: Progress | None = None) -> SourceFile:  # noqa: ARG002
        return TextSource(self.path, text=self.text)

    @property
    def size(self) -> int:
        return len(self.text)


def join_paragraphs(paragraphs: Iterable[tuple[str, bool]]) -> tuple[str, tuple[Span, ...]]:
    """(paragraph, is it a heading) as one text with blank lines between them, and the spans of the headings."""
    pieces, headings, length = list[str](), list[Span](), 0
    for text, is_heading in paragraphs:
        if is_heading:
            headings.append(Span(length, length + len(text)))
        pieces.append(text)
        length += len(text) + 2
    return "\n\n".join(pieces), tuple(headings)


def left_out(source: SourceFile, text: str, reason: str, units: int = 1) -> Unread:
    """Text of a container that is no part of the story, why, and how many units of it there are."""
    return Unread(source.at(1), text[:SHOWN], reason, units)


def story_events(source: SourceFile, extracted: ExtractedText) -> Iterator[Event]:
    """The events of prose, and what was left out."""
    yield from prose_events(source, lambda _: extracted.parsed())
    yield from _counted(source, extracted.left_out)


def script_events(source: SourceFile, reader: Reader, text: str, left_out: Sequence[Unread]) -> Iterator[Event]:
    """The events that a reader of plain text gives for the text of a container."""
    view = TextSource(source.path, text=text)
    source.reach(1.0)
    yield from reader.events(view)
    source.units = view.units
    yield from _counted(source, left_out)


def _counted(source: SourceFile, events: Sequence[Unread]) -> Iterator[Event]:
    for event in events:
        source.units += event.units
        yield event
