from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from talkers import shows_folder
from understudy.formats.annotations import SpeakerGuess
from understudy.guessing.scenes import Masked
from understudy.papers.tvshowguess import bench_guess, people_speakers
from understudy.progress import ignore_progress
from understudy.story.types import Line, Moment, Scene
from understudy.studies import Study
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds.guess import GUESS as KIND

SHOW = "The_Harbour"


def masked(number: int) -> Masked:
    at = (2, 3, number)
    lines = tuple(Line(Moment((*at, line)), who, "Ahoy.") for line, who in enumerate(("P1", "P0", "P1"), 1))
    return Masked(Scene(Moment(at), "", (), lines), {"P0": "Bea Moor", "P1": "Ann Archer"})


def guess(number: int, place: int, who: str, said: str, person: str = "p1", show: str = "harbour") -> SpeakerGuess:
    return SpeakerGuess(show, (2, 3), number, place, who, said, person)


def test_a_speaker_is_whom_most_take_them_for_by_the_shows_own_names() -> None:
    guesses = [
        *(guess(7, 0, "ann", said, f"p{number}") for number, said in enumerate(("ann", "bea", "ann"))),
        guess(7, 1, "bea", "ann"),
        guess(8, 1, "bea", "cam"),
        guess(99, 0, "ann", "ann"),  # no scene that is judged
        guess(7, 1, "bea", "bea", show="another show"),
    ]

    speakers = people_speakers(guesses, SHOW, [masked(7), masked(8)])

    assert [(each.scene, each.index, each.who, each.guess) for each in speakers] == [
        (7, 0, "Ann Archer", "Ann Archer"), (7, 1, "Bea Moor", "Ann Archer"), (8, 1, "Bea Moor", "cam"),
    ]  # fmt: skip
    assert speakers[0].probabilities == {"Ann Archer": pytest.approx(2 / 3), "Bea Moor": pytest.approx(1 / 3)}
    assert people_speakers([], SHOW, [masked(7)]) == []


def test_answers_of_a_study_are_a_row_beside_the_models(tmp_path: Path) -> None:
    """A crowd that is always right is compared with a model on the same speakers."""
    data = shows_folder(tmp_path / "shows")
    study = Study("guess", "Who?", material={"scenes": "dev.jsonl"}, folder=data)
    given = []
    for item in KIND.items(study, ignore_progress):
        answer: dict[str, Any] = {f"{mask} who": name for mask, name in item.hidden["answers"].items()}
        given.append(GivenAnswer(item, "p1", answer))
    KIND.outputs["answers"](study, given, tmp_path / "answers.jsonl")

    document = bench_guess(data, models=["random"], people=tmp_path / "answers.jsonl")

    rows = {(row["model"], row["show"]): row for row in document["rows"] if row["metric"] == "accuracy"}
    assert (rows["people", SHOW]["value"], rows["people", SHOW]["n"]) == (1.0, 24)
    (compared,) = document["comparisons"]
    assert compared["agents"] == ["random", "people"]
    assert compared["n"] == 24
    assert "answers.jsonl" in document["manifest"]["data"]
    json.dumps(document)


def test_scenes_that_people_needed_are_looked_for_by_retrieval(tmp_path: Path) -> None:
    """Everybody says that they needed the scene just before: its rank among the earlier ones decides the recall."""
    data = shows_folder(tmp_path / "shows")
    study = Study("guess", "Who?", material={"scenes": "dev.jsonl"}, folder=data)
    given = []
    for item in KIND.items(study, ignore_progress):
        folded = [block.name for block in item.blocks if block.is_folded]
        answer: dict[str, Any] = {}
        for mask in item.hidden["masks"]:
            answer |= {f"{mask} evidence": ["memory"], f"{mask} history": "direct", f"{mask} needed": folded[:1]}
        given += [GivenAnswer(item, "p1", answer)] * bool(folded)
    KIND.outputs["annotation"](study, given, data / "human_annotation")

    document = bench_guess(data, models=["random"])

    recall = {row["metric"]: row for row in document["rows"] if row["metric"].startswith("history_recall")}
    speakers = sum(len(each.item.hidden["masks"]) for each in given)
    assert recall["history_recall@3"]["n"] == speakers
    assert 0 < recall["history_recall@1"]["value"] <= recall["history_recall@5"]["value"] <= 1
    needed = [row for row in document["rows"] if row["metric"] == "accuracy_by_history"]
    assert {(row["history"], row["n"]) for row in needed} == {("direct", speakers)}
