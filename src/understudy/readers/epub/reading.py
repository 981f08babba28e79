"""Reads an EPUB: the documents of its spine, in order, as one text of paragraphs with known headings.

Headings are h1 to h6, and what the table of contents leads to. Cover, imprint, contents and notes are left out with a
reason. A unit is a line of the text that results, a paragraph left out, or the mark of a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from understudy.readers.archive import SourceArchive, leading_names
from understudy.readers.epub.package import FRONT_MATTER, BookPackage, ContentsEntry, read_package
from understudy.readers.epub.xhtml import TextBlock, document_text
from understudy.readers.events import Event, Reader, Unread
from understudy.readers.extracted import ExtractedText, join_paragraphs, left_out, story_events
from understudy.readers.prose.novel import read_together
from understudy.readers.source import SourceFile
from understudy.text import LANGUAGES

__all__ = ["READER", "epub_text"]

MIMETYPE = b"application/epub+zip"
IMPRINT = re.compile(r"all rights reserved|\bISBN\b|©\s*\d{4}|copyright ©|first published (?:in|by)", re.IGNORECASE)
MOST_IN_IMPRINT = 4_000  # characters
FEWEST_LINKS = 3  # in a row: a table of contents
NEAR = 3  # blocks in which a heading belongs to where the contents lead
LONGEST_HEADING = 120
LONGEST_TITLE = 300
LARGEST_MARKUP = 64 * 1024 * 1024  # bytes of all documents
NOT_LETTER = re.compile(r"\W+")


def recognises(head: bytes, _: Path) -> bool:
    """An archive that says it is an EPUB, or has the part that leads to a book's package."""
    if not head.startswith(b"PK\x03\x04"):
        return False
    return MIMETYPE in head[:200] or "META-INF/container.xml" in leading_names(head)


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
            document = document_text(part)
            marks += document.note_marks
            read, skipped = _sorted_out(document.blocks, reason)
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


READER = Reader("epub", recognises, events, together=together)
