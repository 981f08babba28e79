from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from measured import chat, volunteers
from understudy.errors import InputError
from understudy.metrics.statistics import holm
from understudy.papers.personachat.judged_chats import bench_judged_chats
from understudy.studies.opening import add_finished, import_volunteers
from understudy.studies.results import correlate, read_measures, read_people_scores, write_results
from understudy.studies.store import open_study_store


def answers(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def measures(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_ratings_are_means_and_choices_shares_without_checks(tmp_path: Path) -> None:
    path = answers(
        tmp_path / "answers.jsonl",
        [
            {"item": "a", "answer": {"fluency": 4, "likely": "likely", "note": ["x"]}},
            {"item": "a", "answer": {"fluency": 1, "likely": "unlikely"}},
            {"item": "b", "answer": {"likely": "unlikely"}},
            {"item": "check 1", "answer": {"fluency": 5}, "is_check": True},
        ],
    )

    assert read_people_scores(path) == {"fluency": {"a": 2.5}, "likely, likely": {"a": 0.5, "b": 0.0}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"a": 1, "b": None}, {"measure": {"a": 1.0}}),
        ({"psprob": {"a": 0.5}, "blank": {}}, {"psprob": {"a": 0.5}}),
        ({"lines": [{"line": 2, "scores": {"psprob": 0.5, "uppl": None}}]}, {"psprob": {"line 2": 0.5}}),
        (
            {"items": [{"judged": {"agent": "kv"}, "names": ["a"], "ranks": [2], "marks": {"f1": [0.3]}}]},
            {"kv, rank": {"a": 2.0}, "kv, f1": {"a": 0.3}},
        ),
    ],
)
def test_measures_come_in_four_forms(tmp_path: Path, document: Any, expected: dict[str, Any]) -> None:
    assert read_measures(measures(tmp_path / "measures.json", document)) == expected


def test_items_are_joined_by_name_and_p_values_adjusted_over_all_rows(tmp_path: Path) -> None:
    names = [f"line {number}" for number in range(20)]
    rows = [
        {"item": name, "answer": {"fluency": 1 + number % 5, "scene": 5 - number // 4}}
        for number, name in enumerate(names)
    ]
    document = {
        "good": {name: number % 5 for number, name in enumerate(names)},
        "late": {name: number for number, name in enumerate([*names, "line 99"])},
        "few": {"line 1": 3},
    }

    result = correlate(answers(tmp_path / "a.jsonl", rows), measures(tmp_path / "m.json", document))

    figures = {(row["question"], row["measure"]): row for row in result["rows"]}
    assert figures["fluency", "good"]["value"] == pytest.approx(1)
    assert figures["scene", "late"]["value"] < -0.95
    assert figures["fluency", "few"]["value"] is None
    assert figures["fluency", "few"]["reason"] == "fewer than 10 items have it"
    tested = [row for row in result["rows"] if "p" in row]
    assert len(tested) == 4
    assert [row["p_adjusted"] for row in tested] == holm([row["p"] for row in tested])
    assert (result["only_answered"], result["only_measured"]) == (0, 1)
    named = correlate(tmp_path / "a.jsonl", tmp_path / "m.json", measure="good", question="fluency")
    assert [(row["question"], row["measure"]) for row in named["rows"]] == [("fluency", "good")]


@pytest.mark.parametrize(
    ("document", "measure", "message"),
    [
        ({"x": 1}, None, "shares no item"),
        ({"a": 1}, "psprob", "has no measure 'psprob': it has measure"),
        ({"a": "high"}, None, "no number for 'a'"),
        ([], None, "holds no measure"),
        ({"items": [{"names": []}]}, None, "--items"),
    ],
)
def test_what_cannot_be_joined_says_why(tmp_path: Path, document: Any, measure: str | None, message: str) -> None:
    results = answers(tmp_path / "a.jsonl", [{"item": "a", "answer": {"fluency": 3}}])

    with pytest.raises(InputError, match=message):
        correlate(results, measures(tmp_path / "m.json", document), measure)


def test_an_imported_study_has_the_correlations_of_the_bench(tmp_path: Path) -> None:
    """ConvAI2's chats: the study's results with the bench's measures give the bench's own figures."""
    talks = [chat(n, score=1 + n % 5, match=n % 2, turns=1 + n % 7, person=f"User {n // 3}") for n in range(40)]
    volunteers(tmp_path, talks)
    bench = bench_judged_chats(tmp_path, ["words"], save_items=tmp_path / "items.json")["rows"]
    with open_study_store(tmp_path / "studies.db") as store:
        stored = add_finished(store, "convai2", import_volunteers(tmp_path))
        write_results(tmp_path / "results.jsonl", "jsonl", stored, store.answers(stored.id), {})

    rows = correlate(tmp_path / "results.jsonl", tmp_path / "items.json", question="engagingness")["rows"]

    ours = {row["measure"]: (row["value"], row["low"], row["high"], row["n"]) for row in rows}
    theirs = {
        f"{row['measure']}, {row['of']}, value": (row["value"], row["low"], row["high"], row["n"])
        for row in bench
        if row.get("chats") == "all" and row.get("measure", "combination") != "combination"
    }
    assert len(theirs) > 10
    assert {name: ours[name] for name in theirs} == theirs
