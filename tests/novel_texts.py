"""Texts of novels for tests, with their quotations as PDNC or a person marked them."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from understudy.formats import prose as prose_reading
from understudy.novels import attribution
from understudy.novels.prose import Attribution, Chapter, NovelCharacter, Paragraph, Prose, Quotation, Span

__all__ = ["guessed", "prose_of", "stand_in_attribution", "write_novels", "write_talk", "write_talks"]


# PDNC in small: novels with texts, in which every kind of quotation is, and talks of three without.


CAST = (
    ("Ines Duarte", {"Ines", "Ines Duarte"}, "F", "major"),
    ("Tomas Reyes", {"Tomas", "Tomas Reyes"}, "M", "major"),
    ("_unknowable", {"_unknowable"}, "X", "minor"),
)
ROUND = (
    ('"{}" said Ines.', "Où est le café, Tomas?", "Ines", "Explicit"),
    ('"{}"', "It is by the quay.", "Tomas", "Implicit"),
    ('"{}" she asked.', "And who is there?", "Ines", "Anaphoric"),
    ('"{}" said Tomas.', "Nobody yet, Ines.", "Tomas", "Explicit"),
    ('A voice called from the boats. "{}"', "Who goes?", "_unknowable", "Implicit"),
)


def write_novels(folder: Path, names: Sequence[str] = ("Quay", "Harbour", "Orchard"), rounds: int = 8) -> Path:
    for name in names:
        text, rows = "", []
        for number in range(rounds):
            text += f"Ines met Tomas on day {number}. They walked together for a while and watched the gulls.\n\n"
            for frame, said, speaker, kind in ROUND:
                before = frame.split("{}")[0]
                start = len((text + before).encode())
                text += frame.format(said) + "\n\n"
                to = {"Ines": "Tomas", "Tomas": "Ines"}.get(speaker, "Ines")
                rows.append(([[start, start + len(said.encode())]], [said], speaker, [to], kind))
        (folder / name).mkdir(parents=True)
        (folder / name / "novel_text.txt").write_bytes(text.encode())
        with (folder / name / "quotation_info.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["quoteByteSpans", "subQuotationList", "speaker", "addressees", "quoteType"])
            writer.writerows([repr(spans), repr(said), who, repr(to), kind] for spans, said, who, to, kind in rows)
        with (folder / name / "character_info.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["Main Name", "Aliases", "Gender", "Category"])
            writer.writerows([who, repr(aliases), gender, kind] for who, aliases, gender, kind in CAST)
    return folder


TALKERS = ("Ada", "Bea", "Cas")


def write_talk(folder: Path, said: list[tuple[int, str, list[str], str]]) -> None:
    folder.mkdir(parents=True)
    with (folder / "quotation_info.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["subQuotationList", "quoteByteSpans", "speaker", "addressees"])
        for start, speaker, to, text in said:
            writer.writerow([repr([text]), repr([[start, start + len(text)]]), speaker, repr(to)])
    with (folder / "character_info.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Main Name", "Aliases"])
        writer.writerows([name, repr({name})] for name in TALKERS)


def conversation(begin: int) -> list[tuple[int, str, list[str], str]]:
    """Ada and Bea talk in turn; Cas says something to both now and then."""
    said = []
    for number in range(30):
        speaker, to = (("Ada", ["Bea"]), ("Bea", ["Ada"]), ("Ada", ["Bea"]), ("Bea", ["Ada"]), ("Cas", ["Ada", "Bea"]))[
            number % 5
        ]
        said.append((begin + 60 * number, speaker, to, f"Is that number {number}, {to[0]}?"))
    return said


def write_talks(folder: Path) -> Path:
    """Two novels of two conversations each."""
    for name in ("one", "two"):
        write_talk(folder / name, [*conversation(0), *conversation(9_000)])
    return folder


# PDNC in small: two novels to learn from, one that is held back, and the one that is not free.


NOVELS = {"Harbour": "", "Orchard": "Orchard", "TheAwakening": "Awakening", "AHandfulOfDust": "Dust"}
SPEECHES = 40


def folder(where: Path) -> Path:
    for name, word in NOVELS.items():
        (where / name).mkdir(parents=True)
        text, rows = "", []
        for number in range(SPEECHES):
            who, to = ("Ines", "Tomas") if number % 2 == 0 else ("Tomas", "Ines")
            said = f"Where is boat {number} {word}?" if who == "Ines" else f"It is at boat number {number - 1} {word}."
            said = said.replace(" ?", "?").replace(" .", ".")
            text += f'The gulls were loud over the quay. "{said}" said {who}. '
            start = text.index(f'"{said}"') + 1
            rows.append((str([[start, start + len(said)]]), str([said]), str([to]), who))
        (where / name / "novel_text.txt").write_text(text, encoding="utf-8")
        with (where / name / "quotation_info.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["quoteByteSpans", "subQuotationList", "addressees", "speaker"])
            writer.writerows(rows)
    return where


# Prose from a text with plain quotation marks, for tests of what is done with quotations once they are found.


PARAGRAPH = re.compile(r"[^\n]+(?:\n[^\n]+)*")
QUOTED = re.compile(r'"([^"]+)"')


def prose_of(text: str) -> Prose:
    """Every paragraph's quoted parts are one quotation; there is one chapter."""
    paragraphs, quotations = list[Paragraph](), list[Quotation]()
    for match in PARAGRAPH.finditer(text):
        parts = tuple(Span(match.start() + part.start(1), match.start() + part.end(1)) for part in
                      QUOTED.finditer(match[0]))  # fmt: skip
        if parts:
            quotations.append(Quotation(parts, len(paragraphs)))
        line = text.count("\n", 0, match.start()) + 1
        paragraphs.append(Paragraph(Span(*match.span()), line, 0))
    chapters = (Chapter(Span(0, 0), (1,), ""),)
    return Prose(text, "en", ("chapter",), chapters, tuple(paragraphs), tuple(quotations))


def guessed(prose: Prose, speakers: Sequence[str], confidence: float = 0.4) -> list[Attribution]:
    """Attributions in turn to each of the speakers, the others being candidates."""
    result = []
    for index, _ in enumerate(prose.quotations):
        speaker = speakers[index % len(speakers)]
        rest = tuple((name, 0.1) for name in speakers if name != speaker)
        result.append(Attribution(speaker, confidence, (), ((speaker, confidence), *rest)))
    return result


def stand_in_attribution(monkeypatch: pytest.MonkeyPatch, names: Sequence[str]) -> None:
    """Whoever is named with 'said' in a quotation's paragraph says it; nobody else is known."""

    def find_cast(_: Prose) -> tuple[NovelCharacter, ...]:
        return tuple(NovelCharacter(name) for name in names)

    def attribute(prose: Prose, _: Sequence[NovelCharacter], **_options: object) -> list[Attribution]:
        attributions = []
        for quotation in prose.quotations:
            span = prose.paragraphs[quotation.paragraph].span
            words = prose.text[span.start : span.end]
            speaker = next((name for name in names if f"said {name}" in words), None)
            attributions.append(Attribution(speaker, 0.9 if speaker else 0.0))
        return attributions

    monkeypatch.setattr(prose_reading, "find_cast", find_cast)
    monkeypatch.setattr(attribution, "attribute", attribute)


# Prose for tests: a text whose quotations are what stands between double marks.


MARKED = re.compile(r'"([^"]*)"|「([^」]*)」')


def quoted_prose(text: str, language: str = "en") -> Prose:
    parts = (Span(*match.span(match.lastindex or 0)) for match in MARKED.finditer(text))
    return Prose(text, language, (), (), (), tuple(Quotation((part,), 0) for part in parts))


def names_of(character: NovelCharacter) -> set[str]:
    return {character.name, *character.aliases}


def called(cast: tuple[NovelCharacter, ...], name: str) -> NovelCharacter:
    (character,) = (each for each in cast if name in names_of(each))
    return character
