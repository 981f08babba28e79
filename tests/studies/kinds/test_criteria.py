"""Replies rated in their scene: HPD's columns by agent, from sessions and from stories."""

from __future__ import annotations

import json
from pathlib import Path

import hpdsessions
import realdata
from studies.samples import crowd, items_of, study_of
from understudy.studies import Study
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import KINDS

KIND = KINDS["criteria"]
SCALES = ["fluency", "scene", "attributes", "relations"]


def _from_sessions(folder: Path, own: bool = True) -> Study:
    study = study_of(KIND, folder, questions="set.json", story=None, agents=None, own=own)
    sessions = hpdsessions.sessions(3)
    for number, session in enumerate(sessions.values()):
        session["proposed"] = [
            {"text": f"Over there, number {number}.", "agent": "GPT-2"},
            {"text": f"Under here, number {number}.", "agent": "mine"},
        ]
    hpdsessions.write(folder / "set.json", sessions)
    return study


def test_a_set_of_questions_gives_the_replies_that_were_proposed_for_it(tmp_path: Path) -> None:
    items = items_of(KIND, _from_sessions(tmp_path))
    assert len(items) == 9
    assert sorted(item.hidden["agents"] for item in items[:3]) == [["GPT-2"], ["mine"], ["story"]]
    assert [question.name for question in items[0].questions] == SCALES
    assert items[0].name.startswith("Session-0.")
    marked = [line for block in items[0].blocks for line in block.lines if line.is_asked]
    assert [line.speaker for line in marked] == ["Wren"]
    assert len(items_of(KIND, _from_sessions(tmp_path, own=False))) == 6


def test_figures_are_hpds_human_columns(tmp_path: Path) -> None:
    study = _from_sessions(tmp_path)
    given = []
    for item in items_of(KIND, study):
        (agent,) = item.hidden["agents"]
        score = {"GPT-2": 2, "mine": 4, "story": 5}[agent]
        given.append(GivenAnswer(item, "p1", dict.fromkeys(SCALES, score)))
    assert KIND.figures is not None
    rows = {(row["agent"], row["metric"]): row for row in KIND.figures(study, given)}
    assert len(rows) == 12
    assert rows["GPT-2", "relevance_scene"]["value"] == 2
    assert rows["GPT-2", "relevance_scene"]["paper"] == 1.68
    assert rows["mine", "fluency"]["value"] == 4
    assert rows["story", "relevance_relations"]["n"] == 3
    assert rows["mine", "fluency"]["paper"] is None


def test_what_two_agents_say_alike_is_rated_once_for_both(tmp_path: Path) -> None:
    study = _from_sessions(tmp_path, own=False)
    sessions = json.loads((tmp_path / "set.json").read_text(encoding="utf-8"))
    for session in sessions.values():
        session["proposed"] = [{"text": "Here.", "agent": agent} for agent in ("one", "two")]
    hpdsessions.write(tmp_path / "set.json", sessions)
    items = items_of(KIND, study)
    assert [item.hidden["agents"] for item in items] == [["one", "two"]] * 3
    assert KIND.figures is not None
    assert {row["agent"] for row in KIND.figures(study, crowd(KIND, items))} == {"one", "two"}


def test_ratings_say_who_replied_what(tmp_path: Path) -> None:
    study = _from_sessions(tmp_path)
    given = crowd(KIND, items_of(KIND, study), people=2)
    KIND.outputs["ratings"](study, given, tmp_path / "ratings.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "ratings.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 18
    assert rows[0].keys() == {
        "item", "agents", "character", "reply", "person",
        "fluency", "relevance_scene", "relevance_attributes", "relevance_relations",
    }  # fmt: skip
    assert {row["reply"] for row in rows if row["agents"] == ["mine"]} == {f"Under here, number {n}." for n in range(3)}


def test_hpds_own_sessions_can_be_rated(tmp_path: Path) -> None:
    (path,) = realdata.folder("hpd").glob("en_test_set*.json")
    study = study_of(KIND, tmp_path, questions=str(path), story=None, agents=["scripted"], own=True, limit=5)
    items = items_of(KIND, study)
    assert len(items) == 10
    titles = {block.title for item in items for block in item.blocks}
    assert {"The scene", "Who Harry is", "How Harry stands to others", "The dialogue"} <= titles
