"""Novels of the Project Dialogism Novel Corpus (PDNC): who says each quotation, and to whom.

    data/NOVEL/novel_text.txt, quotation_info.csv, character_info.csv

Two readings of them: as prose with its cast (`annotated_novels`), with spans in characters where PDNC has bytes; and as
speeches in order, without the narration (`novel_speeches`). Labels that begin with `_` ('_group', '_unknowable') name
nobody: in prose they have no owner, and neither learn nor are judged.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from understudy.errors import InputError
from understudy.novels.prose import NovelCharacter, Paragraph, Prose, Quotation, Span

T = TypeVar("T")

TEXT, QUOTATIONS, CHARACTERS = "novel_text.txt", "quotation_info.csv", "character_info.csv"
KINDS = ("explicit", "anaphoric", "implicit")
GENDERS = {"M": "m", "F": "f"}
NOBODY = "_"  # begins the labels of speakers whom nobody can name
NOT_FREE = "AHandfulOfDust"  # the one novel of PDNC that is not in the public domain
HELD_BACK = ("TheManWhoWasThursday", "TheAwakening")  # never trained on: perplexity is measured on them


def novels_in(folder: Path) -> list[Path]:
    """The folders of the novels in a folder."""
    if not folder.is_dir():
        raise InputError("there is no such folder: give that of PDNC, with a folder for each novel", folder)
    novels = [path for path in sorted(folder.iterdir()) if (path / QUOTATIONS).is_file()]
    if not novels:
        files = f"{TEXT}, {QUOTATIONS} and {CHARACTERS}"
        raise InputError(f"holds no novels: folders with {files}, as PDNC has them, belong here", folder)
    return novels


class _QuotationRow(NamedTuple):
    """A row of quotation_info.csv; spans are in bytes, as they stand there."""

    spans: list[tuple[int, int]]
    texts: list[str]
    speaker: str
    addressees: tuple[str, ...]
    kind: str


def _rows_of(path: Path, what: str, parse: Callable[[dict[str, str]], T]) -> list[T]:
    """The rows of a table with names of columns."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [parse(row) for row in csv.DictReader(file)]
    except (OSError, KeyError, ValueError, SyntaxError, TypeError, AttributeError) as error:
        raise InputError(f"is not a list of {what} as PDNC has them ({error})", path) from error


def _quotation_rows(folder: Path) -> list[_QuotationRow]:
    return _rows_of(
        folder / QUOTATIONS,
        "quotations",
        lambda row: _QuotationRow(
            [(int(start), int(end)) for start, end in ast.literal_eval(row["quoteByteSpans"])],
            list(map(str, ast.literal_eval(row["subQuotationList"]))),
            row["speaker"].strip(),
            tuple(str(name).strip() for name in ast.literal_eval(row["addressees"] or "[]")),
            (row.get("quoteType") or "").lower(),
        ),
    )


def _characters(folder: Path) -> list[NovelCharacter]:
    return _rows_of(
        folder / CHARACTERS,
        "characters",
        lambda row: NovelCharacter(
            row["Main Name"],
            tuple(sorted(map(str, ast.literal_eval(row["Aliases"])))),
            GENDERS.get(row.get("Gender") or "", ""),
        ),
    )


def character_aliases(folder: Path) -> dict[str, tuple[str, ...]]:
    """The names of everybody in a novel's list of characters, by the main one."""
    return {character.name: character.aliases for character in _characters(folder)}


def quotation_spans(folder: Path) -> list[tuple[int, int]]:
    """Where a novel's speeches stand in its text, part by part, in bytes."""
    return sorted(span for row in _quotation_rows(folder) for span in row.spans)


# Speeches in order.


@dataclass(frozen=True, slots=True)
class NovelSpeech:
    """Something said in a novel: by whom, to whom, and the bytes at which it starts and ends."""

    speaker: str
    addressees: tuple[str, ...]
    text: str
    start: int
    end: int


def speeches_of(folder: Path) -> list[NovelSpeech]:
    """All speeches of a novel, in the order of the text."""
    rows = sorted((row for row in _quotation_rows(folder) if row.spans), key=lambda row: row.spans)
    return [
        NovelSpeech(row.speaker, row.addressees, join_parts(row.texts), row.spans[0][0], row.spans[-1][1])
        for row in rows
    ]


def novel_speeches(folder: Path, held_back: bool) -> dict[str, list[NovelSpeech]]:
    """The speeches of the novels that may be learned from, or of those that are held back."""
    return {
        path.name: [speech for speech in speeches_of(path) if speech.text]
        for path in novels_in(folder)
        if path.name != NOT_FREE and (path.name in HELD_BACK) == held_back
    }


def join_parts(parts: Sequence[str]) -> str:
    """Join the parts of a speech that a narrator interrupts ('Well,' he said, 'go.'); mends marks and capitals."""
    joined = ""
    for whole in parts:
        part = re.sub(r"\s+", " ", whole.replace("_", "")).strip().strip('"\u201c\u201d').strip()
        if not part:
            continue
        if joined.endswith(",") and part[:1].isupper() and not re.match(r"I\b", part):
            joined = f"{joined[:-1]}. {part}"  # 'Well, Harthouse,' said he. 'You think ...'
        else:
            joined = f"{joined} {part}".strip()
    for mark, plain in (("--", " - "), ("\u2014", " - "), ("\u2019", "'"), ("\u2018", "'")):
        joined = joined.replace(mark, plain)
    text = re.sub(r" ([,.;!?])", r"\1", re.sub(r"\s+", " ", joined).strip(" -"))
    if text and text[-1] in ",;:-":
        text = text.rstrip(",;:- ") + "."
    if text and text[-1].isalnum():
        text += "."
    return text[:1].upper() + text[1:]


# Prose with its cast.


@dataclass(frozen=True, slots=True)
class AnnotatedNovel:
    """`speakers` and `addressees` are indices into the cast (-1: nobody who can be named), `kinds` are PDNC's."""

    name: str
    prose: Prose
    cast: tuple[NovelCharacter, ...]
    speakers: tuple[int, ...]
    addressees: tuple[frozenset[int], ...]
    kinds: tuple[str, ...]


def annotated_novels(folder: Path) -> list[AnnotatedNovel]:
    return [read_novel(path) for path in novels_in(folder)]


def read_novel(folder: Path) -> AnnotatedNovel:
    """A novel; a label that is only an alias ('Lucy' of 'Miss Honeychurch') is its owner's."""
    try:
        raw = (folder / TEXT).read_bytes()
        text = raw.decode("utf-8").replace("\r", " ").replace("\ufeff", " ")  # offsets stay as they are
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"is not a novel's text in UTF-8 ({error})", folder / TEXT) from error
    offsets = _offsets(raw)
    try:
        rows = sorted(
            (
                (tuple(Span(int(offsets[start]), int(offsets[end])) for start, end in sorted(row.spans)), row)
                for row in _quotation_rows(folder)
                if row.spans
            ),
            key=lambda pair: pair[0],
        )
    except IndexError as error:
        raise InputError(f"has a quotation beyond the end of {TEXT}: fetch both again", folder / QUOTATIONS) from error
    cast = _cast(folder)
    if not rows or not cast:
        raise InputError("has no quotations, or nobody in its cast: take the novel out of the folder", folder)
    if not all(row.kind for _, row in rows):
        raise InputError("is not a list of quotations as PDNC has them ('quoteType')", folder / QUOTATIONS)
    owners = _owners(cast)
    paragraphs = tuple(_paragraphs(text))
    starts = [paragraph.span.start for paragraph in paragraphs]
    quotations = tuple(
        Quotation(parts, max(0, int(np.searchsorted(starts, parts[0].start, side="right")) - 1)) for parts, _ in rows
    )
    return AnnotatedNovel(
        folder.name,
        Prose(text, "en", (), (), paragraphs, quotations, folder.name),
        cast,
        tuple(owners.get(row.speaker.lower(), -1) for _, row in rows),
        tuple(frozenset(owners.get(name.lower(), -1) for name in row.addressees) - {-1} for _, row in rows),
        tuple(row.kind for _, row in rows),
    )


def _paragraphs(text: str) -> Iterator[Paragraph]:
    line, counted = 1, 0
    for block in re.split(r"(\n[ \t]*\n\s*)", text):
        if block.strip():
            indent = len(block) - len(block.lstrip())
            span = Span(counted + indent, counted + len(block.rstrip()))
            yield Paragraph(span, line + block[:indent].count("\n"), -1)
        line += block.count("\n")
        counted += len(block)


def _offsets(raw: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The character that each byte belongs to."""
    is_start = (np.frombuffer(raw, np.uint8) & 0xC0) != 0x80
    return np.concatenate([[0], np.cumsum(is_start)])


def _cast(folder: Path) -> tuple[NovelCharacter, ...]:
    return tuple(
        replace(character, aliases=tuple(alias for alias in character.aliases if not alias.startswith(NOBODY)))
        for character in _characters(folder)
        if not character.name.startswith(NOBODY) and character.name.lower() not in ("unknowable", "unknown")
    )


def _owners(cast: Sequence[NovelCharacter]) -> dict[str, int]:
    owners: dict[str, int] = {}
    for index, character in enumerate(cast):
        for alias in character.aliases:
            owners.setdefault(alias.strip().lower(), index)
    return owners | {character.name.strip().lower(): index for index, character in enumerate(cast)}
