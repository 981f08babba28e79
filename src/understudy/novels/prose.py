"""The types of prose: a text, and what stands where in it. All spans are character offsets into the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Attribution", "Chapter", "NovelCharacter", "Paragraph", "Paratext", "Prose", "Quotation", "Span", "joined"]

FULL_STOP = {",": ".", "，": "。"}
MARKS = " \n\t\"'“‘«»„‚「『‹›"


class Span(NamedTuple):
    """From a character of the text up to, not including, another."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """A heading and its position, for example (2, 3) for volume 2, chapter 3; `span` is that of the heading."""

    span: Span
    numbers: tuple[int, ...]
    title: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`line` is the source line on which it begins, counted from 1; `chapter` an index, -1 before the first."""

    span: Span
    line: int
    chapter: int


@dataclass(frozen=True, slots=True)
class Quotation:
    """Something that one person says in one go: its parts without their marks, in order.

    It has several parts where narration interrupts it ("Yes," he said, "come.") and where it goes on in the next
    paragraph. `paragraph` is the index of the one it begins in.
    """

    parts: tuple[Span, ...]
    paragraph: int

    @property
    def span(self) -> Span:
        return Span(self.parts[0].start, self.parts[-1].end)


@dataclass(frozen=True, slots=True)
class Paratext:
    """What stands in the file but is no part of the story, and why: a licence, a table of contents, a title page."""

    span: Span
    reason: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A text with its structure. `levels` are the names of a chapter's numbers: ('volume', 'chapter').

    Every line that is not blank is in one heading, one paragraph or one paratext. A text without headings has no
    levels and no chapters. A chapter that no heading announces has an empty span.
    """

    text: str
    language: str
    levels: tuple[str, ...]
    chapters: tuple[Chapter, ...]
    paragraphs: tuple[Paragraph, ...]
    quotations: tuple[Quotation, ...]
    title: str | None = None
    paratexts: tuple[Paratext, ...] = ()

    def said(self, quotation: Quotation) -> str:
        """The words of a quotation, its parts joined."""
        return joined(self.text, quotation.parts)


def joined(text: str, parts: Sequence[tuple[int, int]]) -> str:
    """The words of the parts of a quotation, on one line.

    A comma before `she said` stands for a full stop, where the narrator's sentence or all that is said ends there.
    """
    words = ""
    last = parts[0][0]
    for start, end in parts:
        if words.endswith(",") and text[max(last, start - 6) : start].rstrip(MARKS).endswith("."):
            words = words[:-1] + "."
        words = f"{words} {' '.join(text[start:end].split())}"
        last = end
    words = words.lstrip()
    return words[:-1] + FULL_STOP[words[-1]] if words[-1:] in FULL_STOP else words


@dataclass(frozen=True, slots=True)
class NovelCharacter:
    """Somebody in a novel. `gender` is 'm', 'f' or '' where usage does not tell."""

    name: str
    aliases: tuple[str, ...] = ()
    gender: str = ""
    is_narrator: bool = False


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who says a quotation, how surely (0 to 1), and to whom; `candidates` are speakers by probability, best first.

    No speaker: nobody could be proposed.
    """

    speaker: str | None
    confidence: float
    addressees: tuple[str, ...] = ()
    candidates: tuple[tuple[str, float], ...] = ()
