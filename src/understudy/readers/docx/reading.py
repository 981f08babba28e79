"""Reads a DOCX: as a script where its paragraphs are one, else as prose with its headings known.

A unit is a line of the document's text, a note, or something else that is left out and counted: the mark of a note, a
deleted or hidden passage, a line of the table of contents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from understudy.quotations.prose import Prose
from understudy.readers import fountain, script, transcript
from understudy.readers.archive import SourceArchive, leading_names
from understudy.readers.docx.document import WordDocument, note_texts, read_document
from understudy.readers.docx.styles import BODY_LEVEL, paragraph_styles
from understudy.readers.events import Event, Reader, Unread
from understudy.readers.extracted import (
    ExtractedText,
    TextSource,
    join_paragraphs,
    left_out,
    script_events,
    story_events,
)
from understudy.readers.prose import reading as prose
from understudy.readers.prose.novel import read_together
from understudy.readers.source import SourceFile
from understudy.readers.tei.xmlstream import End, Start, Text, xml_tokens

__all__ = ["READER", "docx_text"]

DOCUMENT, STYLES, CORE = "word/document.xml", "word/styles.xml", "docProps/core.xml"
NOTES = (("word/footnotes.xml", "a footnote"), ("word/endnotes.xml", "an endnote"))
SCRIPTS: tuple[Reader, ...] = (fountain.READER, script.READER, prose.READER, transcript.READER)
"""The readers of plain text that are asked, in this order, whether a document is a script of theirs, or prose."""


def recognises(head: bytes, _: Path) -> bool:
    return head.startswith(b"PK\x03\x04") and any(name.startswith("word/") for name in leading_names(head))


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
    return next((reader for reader in SCRIPTS if reader.recognises(head, source.path)), prose.READER)


def docx_text(source: SourceFile) -> ExtractedText:
    """The text of a document as prose, into which its lines' spans are offsets."""
    return _prose(*_read(source))


def _read(source: SourceFile) -> tuple[WordDocument, tuple[Unread, ...], str | None]:
    with SourceArchive(source, "a Word document") as archive:
        styles = paragraph_styles(archive.read(STYLES) if STYLES in archive else None)
        document = read_document(archive.read(DOCUMENT), styles)
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
    title, is_title = list[str](), False
    for token in xml_tokens(archive.read(CORE)):
        if isinstance(token, Start):
            is_title = token.name == "title"
        elif isinstance(token, Text) and is_title:
            title.append(token.text)
        elif isinstance(token, End):
            is_title = False
    return " ".join("".join(title).split())[:300] or None


READER = Reader("docx", recognises, events, together=together)
