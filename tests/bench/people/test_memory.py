from __future__ import annotations

import json
from pathlib import Path

import pytest

from understudy.bench.people.memory import RecallQuestion, questions_of, rows
from understudy.errors import InputError
from understudy.story.dialogue import Turn

BEES, BOATS = "I keep bees on the roof.", "I keep boats in a shed."


def session(number: int) -> list[dict[str, object]]:
    """Two people who keep to their subject, in four sessions."""
    topics = {"bees": BEES, "boats": BOATS}
    return [
        {
            "id": f"valid_{name}",
            "meta": {"user": [told], "assistant": ["I teach chemistry. I have a cat."]},
            "dialogue": [
                [f"It was a long week. {told}", f"Sleep well in week {number}, {name}."],
                ["Guess what I did today?", f"Was it something with your {name} again, in week {number}?"],
            ],
        }
        for name, told in topics.items()
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "msc").mkdir()
    for number in (2, 3, 4, 5):
        path = tmp_path / "msc" / f"session-{number}-valid.json"
        path.write_text(json.dumps(session(number)), encoding="utf-8")
    return tmp_path


def test_a_question_has_the_right_reply_first_and_others_of_other_dialogues(data: Path) -> None:
    questions = questions_of(data)
    assert len(questions) == 16
    first = questions[0]
    assert first.candidates[0] == "Sleep well in week 2, bees."
    assert all("boats" in reply for reply in first.candidates[1:])
    assert questions_of(data) == questions


def test_what_is_remembered_comes_from_earlier_sessions_only(data: Path) -> None:
    by_session = {question.session: question for question in questions_of(data)}
    assert "found" not in by_session[2].remembered
    assert by_session[3].remembered["found"] == ("I keep boats in a shed",)
    assert by_session[3].remembered["told"] == (BOATS,)


def test_needed_is_what_nobody_said_in_the_session() -> None:
    said = RecallQuestion(2, "a", (), {"told": (BEES,)}, (Turn("First", "Hello."),), ("How are the bees?",))
    assert said.needs("told")
    assert not RecallQuestion(2, "a", (), {"told": (BEES,)}, (Turn("First", BEES),), said.candidates).needs("told")
    assert not RecallQuestion(2, "a", (), {"told": (BOATS,)}, said.history, said.candidates).needs("told")


def test_rows_with_and_without_and_their_difference(data: Path) -> None:
    found = rows(data, limit=12, seed=1)
    assert {row["metric"] for row in found} == {"hits@1", "hits@1 difference"}
    for row in found:
        assert row["low"] <= row["value"] <= row["high"] and row["n"] > 0 and row["task"] == "memory"
    everything = [row for row in found if row["remembered"] == "told" and row["questions"] == row["session"] == "all"]
    without, with_it, difference = everything
    assert (without["given"], with_it["given"]) == ("nothing", "told")
    assert difference["value"] == pytest.approx(with_it["value"] - without["value"])
    assert without["n"] == 12 and 0 < difference["p"] <= 1


def test_a_file_of_another_form_is_named(data: Path) -> None:
    (data / "msc" / "session-4-valid.json").write_text('{"no": "dialogues"}')
    with pytest.raises(InputError, match="session-4-valid"):
        questions_of(data)
