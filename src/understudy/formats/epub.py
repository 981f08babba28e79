"""Reads an EPUB: the documents of its spine, in order, as one text of paragraphs with known headings.

Headings are h1 to h6, and what the table of contents leads to. Cover, imprint, contents and notes are left out with a
reason. A unit is a line of the text that results, a paragraph left out, or the mark of a note.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html.entities import html5
from html.parser import HTMLParser
from itertools import groupby
from typing import NamedTuple

from understudy.errors import InputError
from understudy.formats.epub_package import FRONT_MATTER, BookPackage, ContentsEntry, element_types, read_package
from understudy.formats.prose import ExtractedText, join_paragraphs, left_out, read_together, story_events
from understudy.sources import Event, Reader, Unread
from understudy.sources.containers import DEEPEST, ArchivePart, End, SourceArchive, Start, Text, Token, xml_tokens
from understudy.sources.names import words
from understudy.sources.source import SourceFile
from understudy.text import LANGUAGES

IMPRINT = re.compile(r"all rights reserved|\bISBN\b|©\s*\d{4}|copyright ©|first published (?:in|by)", re.IGNORECASE)
MOST_IN_IMPRINT = 4_000  # characters
FEWEST_LINKS = 3  # in a row: a table of contents
NEAR = 3  # blocks in which a heading belongs to where the contents lead
LONGEST_HEADING = 120
LONGEST_TITLE = 300
LARGEST_MARKUP = 64 * 1024 * 1024  # bytes of all documents
NOT_LETTER = re.compile(r"\W+")


def events(source: SourceFile) -> Iterator[Event]:
    yield from story_events(source, epub_text(source))


def epub_text(source: SourceFile) -> ExtractedText:
    """The text of a book, into which its lines' spans are offsets."""
    with SourceArchive(source, "an EPUB") as archive:
        package = read_package(archive)
        blocks, unread = list[TextBlock](), list[Unread]()
        size = marks = 0
        for path, reason in dict(package.spine).items():  # a document that is named twice is read once
            if path not in archive:
                unread.append(left_out(source, path, "is in the reading order, but not in the archive"))
                continue
            part = archive.read(path)
            size += len(part.content)
            if size > LARGEST_MARKUP:
                raise source.error(f"has documents of over {LARGEST_MARKUP // 2**20} MiB: this is no book")
            of_document, note_marks = document_text(part)
            marks += note_marks
            read, skipped = _sorted_out(of_document, reason)
            unread += _grouped(source, path, skipped)
            blocks += _with_contents(read, [entry for entry in package.contents if entry.path == path])
    if not blocks:
        raise source.error("holds no text to read: its pages are pictures, or only cover and contents")
    if marks:
        unread.append(left_out(source, f"{marks:,} marks of notes in the text", "the mark of a note", marks))
    text, headings = join_paragraphs((block.text, block.level > 0) for block in blocks)
    title = package.title[:LONGEST_TITLE] if package.title else None
    return ExtractedText(text, headings, title, _language(package), tuple(unread))


def _language(package: BookPackage) -> str | None:
    """The language that the book declares, if stories know it: 'ja' for 'ja-JP'."""
    language = (package.language or "").partition("-")[0].casefold()
    return language if language in LANGUAGES else None


def _sorted_out(blocks: list[TextBlock], unread: str) -> tuple[list[TextBlock], list[TextBlock]]:
    """(what is read, what is left out) of one document, which as a whole may be `unread`."""
    text = "\n".join(block.text for block in blocks)
    if not unread and len(text) <= MOST_IN_IMPRINT and IMPRINT.search(text):
        unread = FRONT_MATTER["imprint"]
    marked = [block._replace(unread=block.unread or unread) for block in blocks]
    listed: list[TextBlock] = []
    for (is_link, _), group in groupby(marked, key=lambda block: (block.is_link, bool(block.unread))):
        run = list(group)
        if is_link and len(run) >= FEWEST_LINKS:
            run = [block._replace(unread=block.unread or FRONT_MATTER["toc"]) for block in run]
        listed += run
    return [block for block in listed if not block.unread], [block for block in listed if block.unread]


def _grouped(source: SourceFile, path: str, skipped: Iterable[TextBlock]) -> Iterator[Unread]:
    for reason, group in groupby(skipped, key=lambda block: block.unread):
        run = list(group)
        yield left_out(source, f"{path}: {run[0].text}", reason, len(run))


def _with_contents(blocks: list[TextBlock], entries: list[ContentsEntry]) -> Iterator[TextBlock]:
    """The blocks, with a heading wherever the table of contents leads and there is none."""
    wanted: dict[int, list[str]] = {}
    for entry in entries:
        index = next((i for i, block in enumerate(blocks) if entry.fragment in block.anchors), None)
        if index is None and not entry.fragment:
            index = 0
        if index is not None and entry.title:
            wanted.setdefault(index, []).append(entry.title)
    marked = set[int]()
    inserted = dict[int, list[str]]()
    for index, titles in wanted.items():
        near = blocks[index : index + NEAR]
        if any(block.level for block in near):
            continue
        for title in titles:
            same = next((i for i, block in enumerate(near, index) if _is_title(block.text, title)), None)
            if same is None:
                inserted.setdefault(index, []).append(title[:LONGEST_HEADING])
            else:
                marked.add(same)
    for index, block in enumerate(blocks):
        yield from (TextBlock(title, 2) for title in inserted.get(index, ()))
        yield block._replace(level=2, text=" ".join(block.text.split())) if index in marked else block


def _is_title(text: str, title: str) -> bool:
    written, listed = (NOT_LETTER.sub("", part).casefold() for part in (text, title))
    return bool(written) and len(text) <= LONGEST_HEADING and (written in listed or listed in written)


def together(sources: Sequence[SourceFile]) -> None:
    """Have several books read as one novel."""
    read_together(sources, lambda source: epub_text(source).parsed())


READER = Reader("epub", events, together=together)


# An XHTML document of a book as paragraphs of text, headings marked.
#
# Documents that are not well-formed, as many in older books, are read as HTML, with the same bounds. Notes, tables of
# contents and the like inside a document are paragraphs that say why they are no part of the story.

BLOCKS = words(
    """
    address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul
    """
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
HIDDEN = words("head script style template svg math audio video object iframe rt rp noscript")
VOID = words("area base br col embed hr img input link meta param source track wbr")
CLOSED_BY_BLOCKS, CLOSED_BY_THEMSELVES = "p", words("li dd dt td th tr option")
BREAK = "* * *"
NOTE_MARK = re.compile(r"[\[(]?(?:\d{1,4}|[*†‡§]{1,3}|[ivxlc]{1,6}|[a-z])[\])]?", re.IGNORECASE)
BRACKETED_MARK = re.compile(r"[\[(](?:\d{1,4}|[*†‡§]{1,3}|[A-Za-z])[\])]")
BLANK_LINES = re.compile(r"\n{2,}")
ENTITIES: Mapping[str, str] = {name.removesuffix(";"): text for name, text in html5.items()}
LARGEST_HTML = 4 * 1024 * 1024
PIECE = 1 << 14  # characters of HTML that are parsed at once
LONGEST_BLOCK = 1024 * 1024
BOILERPLATE = "pg-boilerplate"


class TextBlock(NamedTuple):
    """A paragraph: its heading's level (0: none), the anchors it answers to, why it is no part of the story ('')."""

    text: str
    level: int = 0
    anchors: frozenset[str] = frozenset()
    unread: str = ""
    is_link: bool = False


def document_text(part: ArchivePart) -> tuple[list[TextBlock], int]:
    """The text of a document of a book, and how many marks of notes were in it."""
    try:
        tokens = list(xml_tokens(part, ENTITIES))
    except InputError:  # not well-formed, or harmful, which the other way checks as well
        tokens = list(_html_tokens(part))
    builder = _TextBuilder(part)
    for token in tokens:
        builder.add(token)
    builder.end_block()
    return builder.blocks, builder.note_marks


class _Element(NamedTuple):
    name: str = ""
    unread: str = ""
    is_hidden: bool = False
    level: int = 0
    is_mark: bool = False


class _TextBuilder:
    """Takes tokens; a block ends where an element begins or ends that stands on lines of its own."""

    def __init__(self, part: ArchivePart) -> None:
        self.part = part
        self.blocks: list[TextBlock] = []
        self.note_marks = 0
        self._open: list[_Element] = []
        self._lines: list[list[str]] = [[]]
        self._anchors: set[str] = set()
        self._mark: list[str] | None = None  # text of a link that may be the mark of a note
        self._is_note = self._is_raised = False
        self._alternative = ""
        self._linked = self._length = 0

    def add(self, token: Token) -> None:
        if isinstance(token, Start):
            self._start(token.name.lower(), token.attributes, token.line)
        elif isinstance(token, End):
            self._end(token.name.lower())
        elif not self._open or not self._open[-1].is_hidden:
            self._text(token.text)

    def end_block(self) -> None:
        """Close the paragraph that is being written."""
        current = self._open[-1] if self._open else _Element()
        lines = [" ".join("".join(pieces).split()) for pieces in self._lines]
        text = " ".join(filter(None, lines)) if current.level else "\n".join(lines)
        if current.level and not text:
            text = " ".join(self._alternative.split())
        if len(text) > LONGEST_BLOCK:
            raise self.part.error(f"a paragraph of over {LONGEST_BLOCK:,} characters: this is no prose")
        is_link = self._length > 0 and self._linked * 10 >= self._length * 8
        for paragraph in BLANK_LINES.split(text.strip()):
            if paragraph.strip():
                anchors = frozenset(self._anchors)
                self.blocks.append(TextBlock(paragraph.strip(), current.level, anchors, current.unread, is_link))
                self._anchors.clear()
        self._lines, self._alternative = [[]], ""
        self._linked = self._length = 0

    def _start(self, name: str, attributes: Mapping[str, str], line: int) -> None:
        if len(self._open) >= DEEPEST:
            raise self.part.error(f"is nested more than {DEEPEST} deep: this is no text that somebody wrote", line)
        if name in BLOCKS:
            self._end_mark()
            self.end_block()
        self._anchors.update(filter(None, (attributes.get("id"), attributes.get("name") if name == "a" else None)))
        outer = self._open[-1] if self._open else _Element()
        types = element_types(attributes)
        reason = next((FRONT_MATTER[kind] for kind in sorted(types) if kind in FRONT_MATTER), "")
        if BOILERPLATE in attributes.get("class", "").split():
            reason = "the licence of Project Gutenberg"
        is_hidden = outer.is_hidden or name in HIDDEN or "pagebreak" in types or "hidden" in attributes
        is_mark = name == "a" and not is_hidden and ("noteref" in types or "#" in attributes.get("href", ""))
        level = HEADINGS.get(name, outer.level)
        self._open.append(_Element(name, outer.unread or reason, is_hidden, level, is_mark))
        if is_hidden:
            return
        if is_mark:
            self._end_mark()
            self._mark, self._is_note = [], "noteref" in types
            self._is_raised = any(element.name == "sup" for element in self._open)
        if name == "sup":
            self._is_raised = True
        elif name == "br":
            self._lines.append([])
        elif name == "hr":
            self._lines[-1].append(BREAK)
        elif name == "img":
            self._alternative += " " + attributes.get("alt", "")

    def _end(self, name: str) -> None:
        if not any(element.name == name for element in self._open):
            return  # in HTML: closed already, or never opened
        while self._open:
            element = self._open[-1]
            if element.name in BLOCKS:
                self.end_block()
            self._open.pop()
            if element.is_mark:
                self._end_mark()
            if element.name == name:
                break

    def _end_mark(self) -> None:
        """What was linked is the mark of a note, which is counted and left out, or text."""
        if self._mark is None:
            return
        text, self._mark = "".join(self._mark), None
        mark = NOTE_MARK if self._is_raised else BRACKETED_MARK
        if self._is_note or mark.fullmatch(text.strip()):
            self.note_marks += 1
            return
        self._lines[-1].append(text)
        size = len("".join(text.split()))
        self._linked += size
        self._length += size

    def _text(self, text: str) -> None:
        if self._mark is not None:
            self._mark.append(text)
            return
        if any(element.name == "pre" for element in self._open) and "\n" in text:
            first, *others = text.split("\n")
            self._lines[-1].append(first)
            self._lines += [[line] for line in others]
        else:
            self._lines[-1].append(text)
        size = len("".join(text.split()))
        self._length += size
        self._linked += size if any(element.name == "a" for element in self._open) else 0


class _HtmlTokens(HTMLParser):
    """HTML as the tokens that XML gives; elements that HTML lets one leave open are closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tokens: list[Token] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS and CLOSED_BY_BLOCKS in self._open:
            self.handle_endtag(CLOSED_BY_BLOCKS)
        if tag in CLOSED_BY_THEMSELVES and self._open and self._open[-1] == tag:
            self.handle_endtag(tag)
        line = self.getpos()[0]
        self.tokens.append(Start(line, tag, {name: value or "" for name, value in attrs}))
        if tag in VOID:
            self.tokens.append(End(line, tag))
        else:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
            self.tokens.append(End(self.getpos()[0], tag))

    def handle_data(self, data: str) -> None:
        self.tokens.append(Text(self.getpos()[0], data))


def _html_tokens(part: ArchivePart) -> Iterable[Token]:
    if len(part.content) > LARGEST_HTML:
        raise part.error(f"is not well-formed, and over {LARGEST_HTML // 2**20} MiB: convert the book to EPUB anew")
    text = _decoded(part)
    if "<!entity" in text.lower():
        raise part.error("declares entities: write the text out, entities are not read")
    if "\0" in text:
        raise part.error("holds NUL bytes: the file is damaged")
    parser = _HtmlTokens()
    try:
        for start in range(0, len(text), PIECE):
            parser.feed(text[start : start + PIECE])
            if len(parser.rawdata) > LONGEST_BLOCK // 4:  # it would be looked through again with every piece
                raise part.error("a tag that never ends: the file is damaged")
        parser.close()
    except AssertionError as error:  # the parser's word for a declaration that is none
        raise part.error(f"is not well-formed ({error}): the file is damaged", parser.getpos()[0]) from error
    return parser.tokens


def _decoded(part: ArchivePart) -> str:
    content = part.content
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")
