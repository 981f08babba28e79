from __future__ import annotations

import csv
from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.language.model_folder import read_model
from understudy.people.addressees import AddresseeModel
from understudy.training import train
from understudy.training.addressee import novel_lines, novels_in

PEOPLE = ("Ada", "Bea", "Cas")


def write_novel(folder: Path, said: list[tuple[int, str, list[str], str]]) -> None:
    folder.mkdir(parents=True)
    with (folder / "quotation_info.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["subQuotationList", "quoteByteSpans", "speaker", "addressees"])
        for start, speaker, to, text in said:
            writer.writerow([repr([text]), repr([[start, start + len(text)]]), speaker, repr(to)])
    with (folder / "character_info.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Main Name", "Aliases"])
        writer.writerows([name, repr({name})] for name in PEOPLE)


def conversation(begin: int) -> list[tuple[int, str, list[str], str]]:
    """Ada and Bea talk in turn; Cas says something to both now and then."""
    said = []
    for number in range(30):
        speaker, to = (("Ada", ["Bea"]), ("Bea", ["Ada"]), ("Ada", ["Bea"]), ("Bea", ["Ada"]), ("Cas", ["Ada", "Bea"]))[
            number % 5
        ]
        said.append((begin + 60 * number, speaker, to, f"Is that number {number}, {to[0]}?"))
    return said


@pytest.fixture
def novels(tmp_path: Path) -> Path:
    for name in ("one", "two"):
        write_novel(tmp_path / "pdnc" / name, [*conversation(0), *conversation(9_000)])
    return tmp_path / "pdnc"


def test_a_gap_ends_a_passage_and_who_is_not_named_is_nobody(novels: Path, tmp_path: Path) -> None:
    lines = novel_lines(novels / "one")
    assert len({id(line.dialogue) for line in lines}) == 2
    write_novel(tmp_path / "x" / "three", [(0, "Ada", ["_unknowable"], "Who is there?")])
    assert novel_lines(tmp_path / "x" / "three") == []


def test_training_writes_a_model_that_is_read_back(novels: Path, tmp_path: Path) -> None:
    model = train("addressee", novels, tmp_path / "model")
    assert model.card["figures"]["accuracy"]["value"] > 0.9
    read = AddresseeModel.load(read_model(tmp_path / "model", "addressee"))
    line = novel_lines(novels / "two")[3]
    assert line.others[int(read.probabilities(line.evidence).argmax())] == "Ada"


def test_a_folder_without_novels(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no novels"):
        novels_in(tmp_path)
