"""Reads a DOCX: as a script where its paragraphs are one, else as prose with its headings known.

A unit is a line of the document's text, a note, or something else that is left out and counted: the mark of a note, a
deleted or hidden passage, a line of the table of contents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from understudy.formats import prose
from understudy.formats.evidence import measure
from understudy.formats.prose import (
    ExtractedText,
    TextSource,
    join_paragraphs,
    left_out,
    read_together,
    script_events,
    story_events,
)
from understudy.formats.recognition import FORMATS, recognised
from understudy.novels.prose import Prose
from understudy.sources import Event, Reader, Unread
from understudy.sources.containers import ArchivePart, End, SourceArchive, Start, Text, xml_tokens
from understudy.sources.names import words
from understudy.sources.source import SourceFile
from understudy.text import one_line

DOCUMENT, STYLES, CORE = "word/document.xml", "word/styles.xml", "docProps/core.xml"
NOTES = (("word/footnotes.xml", "a footnote"), ("word/endnotes.xml", "an endnote"))
SCRIPTS = tuple(known for known in FORMATS if known.name in ("fountain", "script", "prose", "transcript"))
"""The formats of plain text that a document may be of."""


def events(source: SourceFile) -> Iterator[Event]:
    document, unread, title = _read(source)
    reader = _reader_of(source, document)
    if reader is prose.READER:
        yield from story_events(source, _prose(document, unread, title))
    else:
        yield from script_events(source, reader, _script_text(document), unread)


def together(sources: Sequence[SourceFile]) -> None:
    """Have those of several documents that are prose read as one novel."""
    read_together(sources, _parsed)


def _parsed(source: SourceFile) -> Prose | None:
    document, unread, title = _read(source)
    is_prose = _reader_of(source, document) is prose.READER
    return _prose(document, unread, title).parsed() if is_prose else None


def _reader_of(source: SourceFile, document: WordDocument) -> Reader:
    head = TextSource(source.path, text=_script_text(document)).head()
    chosen = recognised(measure(head, source.path), SCRIPTS)
    return prose.READER if chosen is None else chosen.reader


def docx_text(source: SourceFile) -> ExtractedText:
    """The text of a document as prose, into which its lines' spans are offsets."""
    return _prose(*_read(source))


def _read(source: SourceFile) -> tuple[WordDocument, tuple[Unread, ...], str | None]:
    with SourceArchive(source, "a Word document") as archive:
        styles = paragraph_styles(archive.read(STYLES) if STYLES in archive else None)
        document = _DocumentParser(archive.read(DOCUMENT), styles).run()
        title = _title(archive)
        notes = [(text, reason) for part, reason in NOTES if part in archive for text in note_texts(archive.read(part))]
    contents = [item.text.strip() for item in document.paragraphs if item.style.is_contents and item.text.strip()]
    document.paragraphs = [paragraph for paragraph in document.paragraphs if not paragraph.style.is_contents]
    if not any(paragraph.text.strip() for paragraph in document.paragraphs):
        raise source.error("holds no text: there is nothing to read")
    counted = Counter({reason: number for reason, number in document.left_out.items() if number})
    unread = [left_out(source, f"{number:,} in all", reason, number) for reason, number in counted.items()]
    unread += [left_out(source, text, reason) for text, reason in notes if text]
    if contents:
        unread.append(left_out(source, contents[0], "a table of contents", len(contents)))
    return document, tuple(unread), title


def _script_text(document: WordDocument) -> str:
    lines = (line for paragraph in document.paragraphs for line in paragraph.text.split("\n"))
    return "\n".join(" ".join(line.split()) for line in lines)


def _prose(document: WordDocument, unread: tuple[Unread, ...], title: str | None) -> ExtractedText:
    paragraphs = []
    for paragraph in document.paragraphs:
        is_heading = paragraph.style.level < BODY_LEVEL or paragraph.style.is_title
        lines = [" ".join(line.split()) for line in paragraph.text.split("\n")]
        text = " ".join(filter(None, lines)) if is_heading else "\n".join(lines).strip("\n")
        if text.strip():
            paragraphs.append((text, is_heading))
        if paragraph.style.is_title and text:
            title = title or text
    text, headings = join_paragraphs(paragraphs)
    return ExtractedText(text, headings, title, left_out=unread)


def _title(archive: SourceArchive) -> str | None:
    if CORE not in archive:
        return None
    element, title = "", ""
    for token in xml_tokens(archive.read(CORE)):
        if isinstance(token, Text):
            title += token.text if element == "title" else ""
        else:
            element = token.name if isinstance(token, Start) else ""
    return one_line(title)[:300] or None


READER = Reader("docx", events, together=together)


# Which paragraph styles are headings: by outline level, or by name, in the language of the file.
#
# Word keeps the English name of a style it comes with ('heading 1') whatever language it speaks; other programs write
# their own. A style has what the style it is based on has.

BODY_LEVEL = 9
"""The outline level of text; headings have lower ones, the highest has 0."""

HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|encabezado|kop|rubrik|overskrift|otsikko|nagłówek|nadpis|"
    r"заголовок|cabeçalho|başlık|見出し|标题|標題|제목)\s*(\d)",
    re.IGNORECASE,
)
CONTENTS = re.compile(r"(?:toc|verzeichnis|tm|tdc|sommario|inhopg|目次|目录)\s*(?:\d|heading)", re.IGNORECASE)
DEEPEST_BASE = 20


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """`level` is 0 to 8 for a heading; `is_title`: the title of the whole, `is_contents`: its table of contents."""

    level: int = BODY_LEVEL
    is_title: bool = False
    is_contents: bool = False
    is_hidden: bool = False


@dataclass(slots=True)
class _DeclaredStyle:
    name: str = ""
    base: str = ""
    level: int | None = None
    is_hidden: bool = False


def paragraph_styles(part: ArchivePart | None) -> Mapping[str, ParagraphStyle]:
    """Style id -> what it means for a paragraph."""
    if part is None:
        return MappingProxyType({})
    declared, current = dict[str, _DeclaredStyle](), _DeclaredStyle()
    for token in xml_tokens(part):
        if not isinstance(token, Start):
            continue
        value = token.attributes.get("w:val", "")
        if token.name == "style":
            current = declared.setdefault(token.attributes.get("w:styleId", ""), _DeclaredStyle())
        elif token.name == "name":
            current.name = value
        elif token.name == "basedOn":
            current.base = value
        elif token.name == "outlineLvl" and value.isascii() and value.isdigit():
            current.level = min(int(value[:3]), BODY_LEVEL)
        elif token.name == "vanish":
            current.is_hidden = value not in ("0", "false")
    return {style_id: _resolved(style_id, declared) for style_id in declared}


def _resolved(style_id: str, declared: Mapping[str, _DeclaredStyle]) -> ParagraphStyle:
    level: int | None = None
    is_title = is_contents = is_hidden = False
    for _ in range(DEEPEST_BASE):
        style = declared.get(style_id)
        if style is None:
            break
        heading = HEADING.fullmatch(style.name.strip())
        named = int(heading[1]) - 1 if heading and int(heading[1]) else None
        level = next((known for known in (level, style.level, named) if known is not None), None)
        is_title |= style.name.strip().casefold() == "title"
        is_contents |= CONTENTS.match(style.name.strip()) is not None
        is_hidden |= style.is_hidden
        style_id = style.base
    return ParagraphStyle(BODY_LEVEL if level is None else level, is_title, is_contents, is_hidden)


# The paragraphs of a DOCX document: what would be printed, with what was inserted and without what was deleted.
#
# Marks of notes, deleted passages and hidden text are counted, not read. A table's cells are paragraphs. Text boxes
# come after the paragraph they are anchored in.

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
