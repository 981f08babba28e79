"""Answers as files, which other programs read."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from studies.samples import items, study
from understudy.errors import InputError
from understudy.studies.item import Option, Question, StudyItem
from understudy.studies.kind import GivenAnswer
from understudy.studies.results import format_for, write_results
from understudy.studies.store import StoredStudy

STORED = StoredStudy(1, "first", study(), None)
SCALE = Question("fluency", "scale", "How fluent?", tuple(Option(str(n), "") for n in range(1, 6)))
PREFERRED = Question("preferred", "choice", "Which?", (Option("a", "Go."), Option("b", "Stay.")))
TEXT = Question("own", "text", "What would you say?")
ITEM = StudyItem("line 9", items(1)[0].blocks, (SCALE, TEXT), {"agent": "tfidf"})
ASKED = {"p2": {"Age": "41", "First language": "=Greek"}}


def answers() -> list[GivenAnswer]:
    first = GivenAnswer(items(1)[0], "p1", {"likely": "likely"}, "hm, =1", 4.5, "2026-01-01T07:00:00.000Z")
    return [first, GivenAnswer(ITEM, "p2", {"fluency": 4, "own": "=SUM(A1)"}, "", 2.0, "2026-01-01T08:00:00.000Z")]


def test_json_lines_are_blind_unless_unblinded(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    write_results(path, "jsonl", STORED, answers(), ASKED)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(row["item"], row["person"], row["answer"]) for row in rows] == [
        ("line 1", "p1", {"likely": "likely"}),
        ("line 9", "p2", {"fluency": 4, "own": "=SUM(A1)"}),
    ]
    assert "tfidf" not in path.read_text()
    write_results(path, "jsonl", STORED, answers(), ASKED, unblinded=True)
    assert json.loads(path.read_text().splitlines()[1])["hidden"] == {"agent": "tfidf"}


def test_a_table_has_a_column_a_question_and_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    write_results(path, "csv", STORED, answers(), ASKED)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["likely"], row["fluency"], row["own"]) for row in rows] == [
        ("likely", "", ""),
        ("", "4", "'=SUM(A1)"),
    ]


def test_what_people_said_of_themselves_stands_with_their_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers"
    write_results(path, "jsonl", STORED, answers(), ASKED)
    assert [json.loads(line)["asked"] for line in path.read_text().splitlines()] == [{}, ASKED["p2"]]
    write_results(path, "csv", STORED, answers(), ASKED)
    with path.open(newline="") as file:
        rows = [(row["person"], row["asked: Age"], row["asked: First language"]) for row in csv.DictReader(file)]
    assert rows == [("p1", "", ""), ("p2", "41", "'=Greek")]
    write_results(path, "csv", STORED, answers(), {})
    assert "asked" not in path.read_text()


def test_label_studio_tasks_have_their_annotations(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    write_results(path, "label-studio", STORED, answers(), ASKED)
    first, second = json.loads(path.read_text())
    assert first["data"]["text"].endswith("Zita: words 1")
    assert first["annotations"][0]["result"] == [
        {"from_name": "likely", "to_name": "text", "type": "choices", "value": {"choices": ["likely"]}}
    ]
    assert second["annotations"][0]["result"][0]["value"] == {"rating": 4}
    assert second["annotations"][0]["lead_time"] == 2.0


def test_the_format_follows_the_ending_or_is_named() -> None:
    assert format_for(Path("a.csv"), None, "likely") == "csv"
    assert format_for(Path("a"), "voice", "likely") == "voice"
    with pytest.raises(InputError, match="--format"):
        format_for(Path("a.txt"), None, "likely")


def test_a_format_that_names_agents_is_written_only_unblinded(tmp_path: Path) -> None:
    item = StudyItem("scene 1.1", items(1)[0].blocks, (PREFERRED,), {"a": "encoder", "b": "tfidf"})
    stored = StoredStudy(1, "first", replace(study(), kind="prefer"), None)
    given = [GivenAnswer(item, "p1", {"preferred": "b"})]
    path = tmp_path / "pairs.jsonl"
    with pytest.raises(InputError, match="--unblind"):
        write_results(path, "preferences", stored, given, {})
    assert not path.exists()
    write_results(path, "preferences", stored, given, {}, unblinded=True)
    assert json.loads(path.read_text())["chosen_agent"] == "tfidf"
