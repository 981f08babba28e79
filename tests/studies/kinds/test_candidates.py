from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import hpdsessions
from understudy.bench.answers import judged_agent, scores_of
from understudy.errors import InputError
from understudy.papers.hpd.measures import ranking_marks
from understudy.papers.hpd.sessions import load_questions
from understudy.progress import ignore_progress
from understudy.studies import Study
from understudy.studies.item import StudyItem, answer_problems
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds.hpd import CANDIDATES as KIND


def questions(folder: Path, count: int = 12, **material: Any) -> Study:
    """Wren's questions as `understudy questions` writes them: two agents have proposed the wrong replies."""
    sessions = hpdsessions.sessions(count)
    for session in sessions.values():
        wrong = session["negative_response"]
        session["proposed"] = [
            {"text": text, "agent": "echo" if number % 2 else "parrot"} for number, text in enumerate(wrong)
        ]
        session["proposed"] += [
            {"text": f"Ask me {when}, Moss.", "agent": "later"} for when in ("tomorrow", "tonight", "at noon")
        ]
        session["reviewed"] = False
    (folder / "set.json").write_text(json.dumps(sessions), encoding="utf-8")
    return Study("candidates", "Which?", material={"questions": "set.json", **material}, folder=folder)


def key_of(item: StudyItem, text: str) -> str:
    return next(option.key for option in item.questions[0].options if option.label == text)


def judged(item: StudyItem, *answers: dict[str, Any]) -> list[GivenAnswer]:
    return [GivenAnswer(item, f"p{number}", answer) for number, answer in enumerate(answers)]


def test_shown_are_scene_attributes_ties_and_dialogue_and_nobody_sees_who_proposed_what(tmp_path: Path) -> None:
    item = KIND.items(questions(tmp_path, 1), ignore_progress)[0]

    shown = json.dumps(item.shown())

    assert "Moss looks for the compass" in shown
    assert "Have you seen my compass?" in shown
    assert "a kite" in shown
    assert [block.title for block in item.blocks] == [
        "The scene", "Who Wren is now", "Wren and the others", "What has been said",
    ]  # fmt: skip
    assert "parrot" not in shown
    assert "the story" not in shown
    assert len(item.questions[0].options) == 14


def test_something_must_be_picked_or_written(tmp_path: Path) -> None:
    item = KIND.items(questions(tmp_path, 1), ignore_progress)[0]

    assert [problem.question for problem in KIND.problems(item, {"picked": [], "own": " "})] == ["picked"]
    assert KIND.problems(item, {"picked": [], "own": "It sank."}) == []
    listed = item.questions[0].options[0].label
    assert "tick it" in KIND.problems(item, {"picked": [], "own": listed})[0].message


@pytest.mark.parametrize("own_reply", ["shown", "hidden"])
def test_nine_stay_wrong_and_the_limit_does_not_tell_which_is_the_storys_own(tmp_path: Path, own_reply: str) -> None:
    """Of any replies, as many may be ticked: whether the story's own is among them makes no difference."""
    item = KIND.items(questions(tmp_path, 1, own_reply=own_reply), ignore_progress)[0]
    keys = [option.key for option in item.questions[0].options]

    def is_refused(picked: Sequence[str]) -> bool:
        answer = {"picked": list(picked)}
        return bool(answer_problems(item, answer) or KIND.problems(item, answer))

    assert not any(is_refused(picked) for picked in combinations(keys, 4))
    assert all(is_refused(picked) for picked in combinations(keys, 5))


def test_the_storys_own_reply_can_be_hidden(tmp_path: Path) -> None:
    own = "I put your compass by the pier, Moss."
    study = questions(tmp_path, 1, own_reply="hidden")
    document = json.loads((tmp_path / "set.json").read_text())
    document["Session-0"]["proposed"].append({"text": own, "agent": "echo"})
    (tmp_path / "set.json").write_text(json.dumps(document))

    item = KIND.items(study, ignore_progress)[0]

    assert own not in json.dumps(item.shown())
    assert item.hidden["own"] is None
    assert len(item.questions[0].options) == 13


def test_right_is_what_the_story_says_most_judges_pick_or_one_writes(tmp_path: Path) -> None:
    study = questions(tmp_path, 1)
    item = KIND.items(study, ignore_progress)[0]
    tonight, noon = key_of(item, "Ask me tonight, Moss."), key_of(item, "Ask me at noon, Moss.")
    given = judged(
        item,
        {"picked": [tonight, noon], "own": ""},
        {"picked": [tonight], "own": "The tide took it."},
        {"picked": [item.hidden["own"]], "own": ""},
    )

    KIND.outputs["hpd"](study, given, tmp_path / "reviewed.json")
    session = json.loads((tmp_path / "reviewed.json").read_text())["Session-0"]

    right = ["I put your compass by the pier, Moss.", "Ask me tonight, Moss.", "The tide took it."]
    assert session["positive_response"] == right
    assert len(session["negative_response"]) == 10
    assert "Ask me at noon, Moss." not in session["negative_response"]  # one of the twelve left was picked by somebody
    assert session["reviewed"] is True
    assert session["picked"]["Ask me tonight, Moss."] == 2
    assert session["judges"] == 3


def test_nine_stay_wrong_when_the_judges_picked_more_together_than_each(tmp_path: Path) -> None:
    study = questions(tmp_path, 1)
    item = KIND.items(study, ignore_progress)[0]
    others = [option.key for option in item.questions[0].options if option.key != item.hidden["own"]]
    picks = (others[:4], others[2:6], [*others[4:6], *others[:2]])  # each of six is picked by two of three
    given = judged(item, *({"picked": picked, "own": ""} for picked in picks))

    KIND.outputs["hpd"](study, given, tmp_path / "reviewed.json")
    session = json.loads((tmp_path / "reviewed.json").read_text())["Session-0"]

    assert len(session["negative_response"]) == 9
    assert len(session["positive_response"]) == 1 + 4


def test_bench_hpd_reads_the_reviewed_set_with_all_its_right_replies(tmp_path: Path) -> None:
    study = questions(tmp_path)
    given = [
        answer
        for item in KIND.items(study, ignore_progress)
        for answer in judged(item, {"picked": [item.hidden["own"], key_of(item, "Ask me tonight, Moss.")], "own": ""})
    ]
    folder = tmp_path / "reviewed"
    folder.mkdir()
    KIND.outputs["hpd"](study, given, folder / "set.json")

    examples = load_questions(folder / "set.json")
    marks = ranking_marks(examples, [scores_of(judged_agent("tfidf"), examples)])

    assert all(example.gold == {0, 1} and len(example.candidates) == 12 for example in examples)
    assert marks["mrr"] == [1.0] * 12  # the first right reply speaks of what was asked for
    assert min(marks["map"]) < 1.0  # the second does not, and counts as well
    assert marks["r10@1"] == [0.5] * 12


def test_figures_say_how_often_each_agent_was_picked(tmp_path: Path) -> None:
    study = questions(tmp_path, 2)
    items = KIND.items(study, ignore_progress)
    given = [
        *judged(items[0], {"picked": [items[0].hidden["own"]], "own": ""}),
        *judged(items[1], {"picked": [key_of(items[1], "Ask me at noon, Moss.")], "own": ""}),
    ]

    assert KIND.figures is not None
    picked = {row["agent"]: (row["value"], row["n"]) for row in KIND.figures(study, given)}

    assert picked == {"the story": (0.5, 2), "later": (pytest.approx(1 / 6), 6), "parrot": (0, 10), "echo": (0, 10)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"proposed": None}, "understudy questions"),
        ({"reviewed": True}, "reviewed"),
        ({"proposed": []}, "too few"),
        ({"proposed": [{"text": "Ask Moss.", "agent": "echo"}] * 12}, "has 1 proposals"),
    ],
)
def test_sets_that_cannot_be_judged_say_why(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    study = questions(tmp_path, 2)
    document = json.loads((tmp_path / "set.json").read_text())
    document["Session-1"] |= change
    (tmp_path / "set.json").write_text(json.dumps(document))

    with pytest.raises(InputError, match=message):
        KIND.items(study, ignore_progress)
