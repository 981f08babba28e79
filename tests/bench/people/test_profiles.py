from __future__ import annotations

import json
from pathlib import Path

import pytest

from realdata import folder
from understudy.bench.people.profiles import RecallQuestion, memory_rows, questions_of, ranking_rows, rows, sessions_of
from understudy.errors import InputError
from understudy.story.dialogue import Turn

DIALOGUE = """\
1 your persona: i am a nurse.
2 your persona: i have two dogs.
3 partner's persona: i grew up in a lighthouse.
4 partner's persona: i play the harp.
5 hello , what do you do ?\ti am a nurse . i have two dogs .
6 i grew up in a lighthouse .\tlovely !
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    chats = tmp_path / "personachat"
    chats.mkdir()
    (chats / "valid_both_original.txt").write_text(DIALOGUE, encoding="utf-8")
    sessions = tmp_path / "msc"
    sessions.mkdir()
    for number, known in (
        (2, []),
        (3, ["I am a nurse."]),
        (4, ["I am a nurse."]),
        (5, ["I am a nurse. I own a boat."]),
    ):
        said = "I own a boat." if number == 4 else "I am a nurse."
        chat = {"id": "a", "meta": {"user": known, "assistant": []}, "dialogue": [[said, "Nice."]]}
        (sessions / f"session-{number}-valid.json").write_text(json.dumps([chat]), encoding="utf-8")
    return tmp_path


def test_figures_by_hand(data: Path) -> None:
    """All that is found is in the profiles; the harp is never spoken of."""
    precision, recall = rows(data)
    assert (precision["task"], precision["metric"], recall["metric"]) == ("profile-sentences", "precision", "recall")
    assert precision["value"] == 1.0
    assert (recall["value"], recall["n"]) == (3 / 4, 4)
    assert recall["paper"] is None


def test_memory_asks_for_what_a_session_added(data: Path) -> None:
    talks = list(sessions_of(data / "msc"))
    assert [new["user"] for _, new in talks] == [("I am a nurse.",), (), ("I own a boat.",)]
    precision, recall = memory_rows(data)
    assert (precision["value"], recall["value"], recall["n"]) == (1.0, 1.0, 2)


def test_sessions_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="multi-session"):
        memory_rows(tmp_path)


def test_validation_dialogues() -> None:
    """A sample of the real ones is well above chance."""
    precision, recall = rows(folder("personachat").parent, limit=20)
    assert precision["value"] > 0.4
    assert recall["value"] > 0.35


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
def sessions(tmp_path: Path) -> Path:
    (tmp_path / "msc").mkdir()
    for number in (2, 3, 4, 5):
        path = tmp_path / "msc" / f"session-{number}-valid.json"
        path.write_text(json.dumps(session(number)), encoding="utf-8")
    return tmp_path


def test_a_question_has_the_right_reply_first_and_others_of_other_dialogues(sessions: Path) -> None:
    questions = questions_of(sessions)
    assert len(questions) == 16
    first = questions[0]
    assert first.candidates[0] == "Sleep well in week 2, bees."
    assert all("boats" in reply for reply in first.candidates[1:])
    assert questions_of(sessions) == questions


def test_what_is_remembered_comes_from_earlier_sessions_only(sessions: Path) -> None:
    by_session = {question.session: question for question in questions_of(sessions)}
    assert "found" not in by_session[2].remembered
    assert by_session[3].remembered["found"] == ("I keep boats in a shed",)
    assert by_session[3].remembered["told"] == (BOATS,)


def test_needed_is_what_nobody_said_in_the_session() -> None:
    said = RecallQuestion(2, "a", (), {"told": (BEES,)}, (Turn("First", "Hello."),), ("How are the bees?",))
    assert said.needs("told")
    assert not RecallQuestion(2, "a", (), {"told": (BEES,)}, (Turn("First", BEES),), said.candidates).needs("told")
    assert not RecallQuestion(2, "a", (), {"told": (BOATS,)}, said.history, said.candidates).needs("told")


def test_rows_with_and_without_and_their_difference(sessions: Path) -> None:
    found = ranking_rows(sessions, limit=12, seed=1)
    assert {row["metric"] for row in found} == {"hits@1", "hits@1 difference"}
    for row in found:
        assert row["low"] <= row["value"] <= row["high"] and row["n"] > 0 and row["task"] == "memory"
    everything = [row for row in found if row["remembered"] == "told" and row["questions"] == row["session"] == "all"]
    without, with_it, difference = everything
    assert (without["given"], with_it["given"]) == ("nothing", "told")
    assert difference["value"] == pytest.approx(with_it["value"] - without["value"])
    assert without["n"] == 12 and 0 < difference["p"] <= 1


def test_a_file_of_another_form_is_named(sessions: Path) -> None:
    (sessions / "msc" / "session-4-valid.json").write_text('{"no": "dialogues"}')
    with pytest.raises(InputError, match="session-4-valid"):
        questions_of(sessions)
