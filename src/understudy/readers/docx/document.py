"""The paragraphs of a DOCX document: what would be printed, with what was inserted and without what was deleted.

Marks of notes, deleted passages and hidden text are counted, not read. A table's cells are paragraphs. Text boxes come
after the paragraph they are anchored in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from understudy.readers.archive import ArchivePart
from understudy.readers.docx.styles import BODY_LEVEL, ParagraphStyle
from understudy.readers.tei.xmlstream import End, Start, Text, xml_tokens
from understudy.readers.vocabulary import words

__all__ = ["WordDocument", "WordParagraph", "note_texts", "read_document"]

LEFT_OUT = {"del": "deleted text", "moveFrom": "deleted text", "Fallback": "", "delText": "", "instrText": ""}
"""Elements whose text is not read, and what is counted for it."""
NOTE_MARKS = words("footnoteReference endnoteReference")
CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
PAGE_BREAKS = ("page", "column")
OFF = ("0", "false", "off")
LONGEST_PARAGRAPH = 1024 * 1024
MOST_PARAGRAPHS = 500_000


class WordParagraph(NamedTuple):
    text: str
    style: ParagraphStyle


@dataclass(slots=True)
class WordDocument:
    """`left_out` counts what was not read, by reason."""

    paragraphs: list[WordParagraph] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _OpenParagraph:
    pieces: list[str] = field(default_factory=list)
    style: ParagraphStyle = field(default_factory=ParagraphStyle)
    level: int | None = None
    length: int = 0


def read_document(part: ArchivePart, styles: Mapping[str, ParagraphStyle]) -> WordDocument:
    return _DocumentParser(part, styles).run()


class _DocumentParser:
    def __init__(self, part: ArchivePart, styles: Mapping[str, ParagraphStyle]) -> None:
        self.part, self.styles = part, styles
        self.document = WordDocument()
        self.open: list[_OpenParagraph] = []
        self.skipped: list[str] = []
        self.is_text = self.is_hidden = self.in_properties = False

    def run(self) -> WordDocument:
        for token in xml_tokens(self.part):
            if isinstance(token, Start):
                self._start(token)
            elif isinstance(token, End):
                self._end(token.name)
            elif self.is_text:
                self._write(token.text)
        return self.document

    def _start(self, token: Start) -> None:
        name, value = token.name, token.attributes.get("w:val", "")
        if self.skipped or name in LEFT_OUT:
            # a deleted paragraph mark stands in properties, and has no text of its own
            if not self.skipped and (reason := LEFT_OUT[name]) and "w:id" in token.attributes:
                self.document.left_out[reason] += bool(self.open) and not self.in_properties
            self.skipped.append(name)
        elif name == "p":
            self.open.append(_OpenParagraph())
        elif not self.open:
            return
        elif name == "pStyle":
            self.open[-1].style = self.styles.get(value, ParagraphStyle())
        elif name == "outlineLvl" and value.isascii() and value.isdigit():
            self.open[-1].level = min(int(value[:3]), BODY_LEVEL)
        elif name == "r":
            self.is_hidden = False
        elif name == "rPr":
            self.in_properties = True
        elif name == "vanish" and self.in_properties:
            self.is_hidden = value not in OFF
        elif name in NOTE_MARKS:
            self.document.left_out["the mark of a note"] += 1
        elif name == "t":
            self.is_text = True
        elif name in CHARACTERS and not (name == "br" and token.attributes.get("w:type") in PAGE_BREAKS):
            self._write(CHARACTERS[name])

    def _end(self, name: str) -> None:
        if self.skipped:
            self.skipped.pop()
        elif name == "t":
            self.is_text = False
        elif name == "rPr":
            self.in_properties = False
        elif name == "r":
            self.is_hidden = False
        elif name == "p" and self.open:
            self._close(self.open.pop())

    def _write(self, text: str) -> None:
        if not self.open:
            return
        paragraph = self.open[-1]
        if self.is_hidden or paragraph.style.is_hidden:
            self.document.left_out["hidden text"] += bool(text.strip())
            return
        paragraph.length += len(text)
        if paragraph.length > LONGEST_PARAGRAPH:
            raise self.part.error(f"a paragraph of over {LONGEST_PARAGRAPH:,} characters: this is no text of a story")
        paragraph.pieces.append(text)

    def _close(self, paragraph: _OpenParagraph) -> None:
        if len(self.document.paragraphs) >= MOST_PARAGRAPHS:
            raise self.part.error(f"has over {MOST_PARAGRAPHS:,} paragraphs: this is no text of a story")
        style = paragraph.style
        if paragraph.level is not None:
            style = ParagraphStyle(paragraph.level, style.is_title, style.is_contents)
        self.document.paragraphs.append(WordParagraph("".join(paragraph.pieces), style))


def note_texts(part: ArchivePart) -> Iterator[str]:
    """The texts of the foot- or endnotes of a document; the lines that part them from the page are none."""
    pieces: list[str] | None = None
    is_text = False
    for token in xml_tokens(part):
        if isinstance(token, Start):
            if token.name in ("footnote", "endnote"):
                pieces = [] if "w:type" not in token.attributes else None
            elif token.name == "p" and pieces:
                pieces.append(" ")
            is_text = token.name == "t"
        elif isinstance(token, Text) and is_text and pieces is not None:
            pieces.append(token.text)
        elif isinstance(token, End):
            is_text = False
            if token.name in ("footnote", "endnote") and pieces is not None:
                yield " ".join("".join(pieces).split())
                pieces = None
