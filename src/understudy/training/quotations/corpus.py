"""Novels of PDNC as prose, with their casts and who says each quotation to whom.

    data/NOVEL/novel_text.txt, quotation_info.csv, character_info.csv

Spans are in bytes there and in characters here; a label that is only an alias ('Lucy' of 'Miss Honeychurch') is its
owner's. Labels that name nobody ('_group', '_unknowable') have no owner, and neither learn nor are judged.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from understudy.errors import InputError
from understudy.novels.prose import NovelCharacter, Paragraph, Prose, Quotation, Span

__all__ = ["KINDS", "QUOTATIONS", "AnnotatedNovel", "annotated_novels", "read_novel"]

TEXT, QUOTATIONS, CHARACTERS = "novel_text.txt", "quotation_info.csv", "character_info.csv"
KINDS = ("explicit", "anaphoric", "implicit")
GENDERS = {"M": "m", "F": "f"}


@dataclass(frozen=True, slots=True)
class AnnotatedNovel:
    """`speakers` and `addressees` are indices into the cast (-1: nobody who can be named), `kinds` as PDNC has
    them."""

    name: str
    prose: Prose
    cast: tuple[NovelCharacter, ...]
    speakers: tuple[int, ...]
    addressees: tuple[frozenset[int], ...]
    kinds: tuple[str, ...]


def annotated_novels(folder: Path) -> list[AnnotatedNovel]:
    if not folder.is_dir():
        raise InputError("there is no such folder: give that of PDNC, with a folder for each novel", folder)
    paths = [path for path in sorted(folder.iterdir()) if (path / QUOTATIONS).is_file()]
    if not paths:
        raise InputError(f"holds no novels: folders with {TEXT}, {QUOTATIONS} and {CHARACTERS} belong here", folder)
    return [read_novel(path) for path in paths]


def read_novel(folder: Path) -> AnnotatedNovel:
    try:
        raw = (folder / TEXT).read_bytes()
        text = raw.decode("utf-8").replace("\r", " ").replace("\ufeff", " ")  # offsets stay as they are
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"is not a novel's text in UTF-8 ({error})", folder / TEXT) from error
    cast = _cast(folder / CHARACTERS)
    owners = _owners(cast)
    paragraphs = tuple(_paragraphs(text))
    starts = [paragraph.span.start for paragraph in paragraphs]
    quotations, speakers, addressees, kinds = [], [], [], []
    for row in _rows(folder / QUOTATIONS, _offsets(raw)):
        index = max(0, int(np.searchsorted(starts, row.parts[0].start, side="right")) - 1)
        quotations.append(Quotation(row.parts, index))
        speakers.append(owners.get(row.speaker, -1))
        addressees.append(frozenset(owners.get(name, -1) for name in row.addressees) - {-1})
        kinds.append(row.kind)
    if not quotations or not cast:
        raise InputError("has no quotations, or nobody in its cast: take the novel out of the folder", folder)
    prose = Prose(text, "en", (), (), paragraphs, tuple(quotations), folder.name)
    return AnnotatedNovel(folder.name, prose, cast, tuple(speakers), tuple(addressees), tuple(kinds))


def _paragraphs(text: str) -> Iterator[Paragraph]:
    line, counted = 1, 0
    for block in re.split(r"(\n[ \t]*\n\s*)", text):
        if block.strip():
            indent = len(block) - len(block.lstrip())
            yield Paragraph(
                Span(counted + indent, counted + len(block.rstrip())), line + block[:indent].count("\n"), -1
            )
        line += block.count("\n")
        counted += len(block)


def _offsets(raw: bytes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The character that each byte belongs to."""
    is_start = (np.frombuffer(raw, np.uint8) & 0xC0) != 0x80
    return np.concatenate([[0], np.cumsum(is_start)])


class _AnnotationRow(NamedTuple):
    parts: tuple[Span, ...]
    speaker: str
    addressees: tuple[str, ...]
    kind: str


def _rows(path: Path, offsets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[_AnnotationRow]:
    """The rows in the order of the text; labels without case."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [
                _AnnotationRow(
                    tuple(
                        Span(int(offsets[start]), int(offsets[end]))
                        for start, end in sorted(ast.literal_eval(row["quoteByteSpans"]))
                    ),
                    row["speaker"].strip().lower(),
                    tuple(str(name).strip().lower() for name in ast.literal_eval(row["addressees"] or "[]")),
                    row["quoteType"].lower(),
                )
                for row in csv.DictReader(file)
            ]
        return sorted((row for row in rows if row.parts), key=lambda row: row.parts)
    except (OSError, KeyError, ValueError, SyntaxError, TypeError, IndexError, AttributeError) as error:
        raise InputError(f"is not a list of quotations as PDNC has them ({error})", path) from error


def _cast(path: Path) -> tuple[NovelCharacter, ...]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if not _names_nobody(row["Main Name"])]
        cast = tuple(
            NovelCharacter(
                row["Main Name"],
                tuple(
                    sorted(alias for alias in map(str, ast.literal_eval(row["Aliases"])) if not alias.startswith("_"))
                ),
                GENDERS.get(row["Gender"], ""),
            )
            for row in rows
        )
    except (OSError, KeyError, ValueError, SyntaxError, TypeError) as error:
        raise InputError(f"is not a list of characters as PDNC has them ({error})", path) from error
    return cast


def _names_nobody(label: str) -> bool:
    return label.startswith("_") or label.lower() in ("unknowable", "unknown")


def _owners(cast: Sequence[NovelCharacter]) -> dict[str, int]:
    owners: dict[str, int] = {}
    for index, character in enumerate(cast):
        for alias in character.aliases:
            owners.setdefault(alias.strip().lower(), index)
    owners.update({character.name.strip().lower(): index for index, character in enumerate(cast)})
    return owners
