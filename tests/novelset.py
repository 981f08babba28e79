"""PDNC in small: two novels to learn from, one that is held back, and the one that is not free."""

from __future__ import annotations

import csv
from pathlib import Path

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
