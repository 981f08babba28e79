"""PDNC in small: novels with texts, in which every kind of quotation is, and talks of three without."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

__all__ = ["write_novels", "write_talk", "write_talks"]

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
