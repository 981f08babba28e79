"""What a file of no known format looks like, how near it comes to one, and what its owner can do."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from understudy.errors import UnknownFormat
from understudy.formats.assembly import EXAMPLE
from understudy.formats.evidence import FileEvidence

MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF", "a PDF", "save its text as a .txt file (pdftotext does it), or read the book as EPUB"),
    (b"{\\rtf", "a rich text file (RTF)", "save it as DOCX or as plain text"),
    (b"\xd0\xcf\x11\xe0", "an old Office file (.doc, .xls)", "save it as DOCX or as plain text"),
    (b"\x1f\x8b", "a gzip archive", "unpack it first"),
    (b"7z\xbc\xaf", "a 7-Zip archive", "unpack it first"),
    (b"Rar!", "a RAR archive", "unpack it first"),
    (b"\xff\xd8\xff", "a JPEG picture", "a character card is a PNG with text in it: export it as PNG or JSON"),
    (b"\x89PNG", "a PNG picture without a character card in it", "export the card again, as PNG or JSON"),
    (b"RIFF", "a picture or sound file", "only text can be read"),
    (b"ID3", "a sound file", "only text can be read: make subtitles (.srt) of it first"),
    (b"\x1aE\xdf\xa3", "a video", "only text can be read: its subtitles (.srt, .vtt) can"),
    (b"\x7fELF", "a program", "name a text file"),
    (b"SQLite format 3\0", "a database, but no story file", "make a story file with `understudy read`"),
)
ZIPPED: tuple[tuple[bytes, str, str], ...] = (
    (b"word/", "a Word file", "it may be damaged: save it again"),
    (b"application/epub+zip", "an EPUB", "it may be damaged: open and save it with an e-book editor"),
    (b"xl/", "an Excel file", "save the sheet as CSV"),
    (b"opendocument", "an OpenDocument file", "save it as DOCX or as plain text"),
    (b"", "a zip archive", "unpack it, and read the files in it or the folder"),
)
MOBI, MOBI_AT = b"BOOKMOBI", 60
SHOWN = 60  # characters of a line
LINES = 400
FEW_WORDS, MANY_WORDS = 12, 25  # of a line of dialogue or verse; of a paragraph of prose
QUOTED = re.compile(r"[\"“«„「『‘]\w")


LOREBOOK = re.compile(r'"spec"\s*:\s*"lorebook_v3"|\A\{\s*"entries"\s*:\s*(?:\{\s*\}|\[\s*\])\s*[,}]')
LORE_ENTRIES = re.compile(r'"entries"\s*:\s*[\[{]')
LORE_KEYS = re.compile(r'"keys?"\s*:\s*\[')
LORE_CONTENT = re.compile(r'"content"\s*:\s*"')


class Look(NamedTuple):
    """What a file looks like; the nearest format, the first line that is not of it and why; what to do."""

    what: str
    advice: str
    nearest: str | None = None
    line: int | None = None
    why: str = ""


def unknown_format(evidence: FileEvidence, formats: Iterable[str]) -> UnknownFormat:
    if is_lorebook(evidence):
        return _lorebook_refused(evidence.path)
    look = look_at(evidence)
    near = "" if look.nearest is None else f" Nearest is '{look.nearest}', but {look.why}."
    known = ", ".join(formats)
    return UnknownFormat(
        f"is in no form that can be read: it looks like {look.what}.{near} {_sentence(look.advice)} "
        f"If you know what it is, say so with --format FORMAT ({known}).",
        evidence.path,
        look.line,
    )


def look_at(evidence: FileEvidence) -> Look:
    """The plainest thing that can be said of the first bytes of a file."""
    head = evidence.head
    for magic, what, advice in MAGIC:
        if head.startswith(magic):
            return Look(what, advice)
    if head.startswith(b"PK"):
        return next(Look(what, advice) for mark, what, advice in ZIPPED if mark in head)
    if head[MOBI_AT : MOBI_AT + len(MOBI)] == MOBI:
        return Look("a Kindle book (MOBI, AZW)", "convert it to EPUB first (Calibre does it)")
    if not evidence.text:
        return Look("no text (it is full of NUL bytes)", "name a text file")
    lines = [(number, line.strip()) for number, line in enumerate(evidence.text.split("\n"), 1) if line.strip()][:LINES]
    if not lines:
        return Look("a file of blank lines", "there is nothing to read in it")
    return (
        _json(evidence.text, lines)
        or _xml(evidence.text, lines)
        or _table(lines)
        or _prose(lines)
        or _plain(evidence, lines)
    )


def _json(text: str, lines: list[tuple[int, str]]) -> Look | None:
    if lines[0][1][0] not in "{[":
        return None
    rows = "name the columns: --columns speaker=KEY,text=KEY"
    try:
        document = json.loads(lines[0][1])
    except (ValueError, RecursionError):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            return Look(
                "JSON", "if it has a line of JSON for each speech, " + rows, "speeches", lines[0][0],
                f"it cannot be read as JSON ({str(error).split(':')[0].lower()})",
            )  # fmt: skip
    first = document[0] if isinstance(document, list) and document else document
    keys = ", ".join(f"'{str(key)[:20]}'" for key in list(first)[:8]) if isinstance(first, dict) else ""
    if not keys:
        return Look("JSON without named fields", "write a line of JSON for each speech, with a speaker and a text")
    return Look(
        f"JSON with the keys {keys}",
        f"if each row is a speech, {rows}",
        "speeches",
        lines[0][0],
        "no key of its first row is a speaker's (speaker, character, name) with one for words (text, line, utterance)",
    )


def _xml(text: str, lines: list[tuple[int, str]]) -> Look | None:
    root = re.search(r"<([A-Za-z][\w:.-]*)[\s/>]", text)
    if not lines[0][1].startswith("<") or root is None:
        return None
    return Look(
        f"XML or HTML whose first element is <{root[1][:30]}>",
        "a play can be read as TEI, a screenplay as Final Draft's FDX, a page as HTML",
        "TEI",
        lines[0][0],
        "it has no <TEI> element",
    )


def _table(lines: list[tuple[int, str]]) -> Look | None:
    sample = [line for _, line in lines[:20]]
    for delimiter in ("\t", ";", "|", ","):
        counts = {len(row) for row in csv.reader(sample, delimiter=delimiter)}
        if len(counts) == 1 and (columns := counts.pop()) > 1 and len(sample) > 1:
            names = next(csv.reader(sample, delimiter=delimiter))
            listed = ", ".join(f"'{name.strip()[:20]}'" for name in names[:8])
            return Look(
                f"a table of {columns} columns ({listed})",
                "say which column is whose: --columns speaker=NAME,text=NAME",
                "csv",
                lines[0][0],
                "its first row names no speaker and no text",
            )
    return None


def _prose(lines: list[tuple[int, str]]) -> Look | None:
    counts = sorted(len(line.split()) for _, line in lines)
    wrapped = sum(line[-1].isalpha() or line[-1] in ",-" for _, line in lines) > 0.4 * len(lines)
    if counts[len(counts) // 2] < MANY_WORDS and not (wrapped and counts[len(counts) // 2] >= FEW_WORDS / 2):
        return None
    quoted = [number for number, line in lines if QUOTED.search(line)]
    if not quoted:
        return Look("prose in which nobody is quoted", "only stories in which people speak can be read")
    return Look("prose: this looks like a novel", "read it as one: --format prose", "prose", lines[0][0], "it is short")


def _plain(evidence: FileEvidence, lines: list[tuple[int, str]]) -> Look:
    labelled = {number for number, line in lines if evidence.label(line)}
    number, line = next((item for item in lines if item[0] not in labelled), lines[0])
    return Look(
        f"plain text of {len(lines)} lines, {len(labelled)} of which begin with a name and a colon",
        f"in a script every speech begins with a name and a colon ({EXAMPLE}), in a novel it stands in quotation marks",
        "transcript",
        number,
        f"line {number} does not: '{line[:SHOWN]}'",
    )


def is_lorebook(evidence: FileEvidence) -> bool:
    """JSON with a lorebook's entries, with keys and contents. Cards have them too, and are asked for first."""
    text = evidence.json_text
    if not text.startswith("{"):
        return False
    return LOREBOOK.search(text) is not None or all(
        mark.search(text) for mark in (LORE_ENTRIES, LORE_KEYS, LORE_CONTENT)
    )


def _lorebook_refused(path: Path) -> UnknownFormat:
    return UnknownFormat(
        "is a lorebook, which tells no story by itself: read it together with one "
        f"(`understudy read STORY --lore {path.name}`), or talk with it "
        f"(`understudy chat STORY NAME --lore {path.name}`)",
        path,
    )


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."
