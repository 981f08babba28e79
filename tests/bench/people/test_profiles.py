from __future__ import annotations

import json
from pathlib import Path

import pytest

from realdata import folder
from understudy.bench.people.profiles import memory_rows, rows, sessions_of
from understudy.errors import InputError

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
