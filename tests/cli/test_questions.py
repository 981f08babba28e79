from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from cliruns import Document, Run, Start
from understudy.formats import examples

PROPOSING = """
import time

class Ranking:
    def score(self, situation, history, candidates):
        return [float(len(text) % 5) for text in candidates]

class Slow(Ranking):
    def score(self, situation, history, candidates):
        time.sleep(0.2)
        return super().score(situation, history, candidates)
"""


@pytest.fixture
def ranking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "proposing.py").write_text(PROPOSING)
    monkeypatch.syspath_prepend(tmp_path)
    return "proposing:Ranking"


def test_a_set_of_one_characters_lines(run: Run, document: Document, ranking: str) -> None:
    told = document(
        "questions", "demo", "-o", "set.json", "--as", "Zita", "--until", "2.2", "--limit", 4, "--agents", ranking
    )
    assert told["characters"] == {"Zita Karst": 4}
    assert told["negatives"] == {ranking: 40}
    read = list(examples("set.json"))
    assert [question.situation.persona.moment.numbers[0] <= 2 for question in read] == [True] * 4
    first = Path("set.json").read_text(encoding="utf-8")
    assert "is there already" in run("questions", "demo", "-o", "set.json", status=1).stderr
    told = run(
        "questions",
        "demo",
        "-o",
        "set.json",
        "--as",
        "Zita",
        "--until",
        "2.2",
        "--limit",
        4,
        "--agents",
        ranking,
        "--force",
    ).stdout
    assert Path("set.json").read_text(encoding="utf-8") == first
    assert "4 questions are in set.json" in told and "the story" in told


def test_within_a_chapter(document: Document, ranking: str) -> None:
    document("questions", "demo", "-o", "set.json", "--at", "2.3", "--limit", 5, "--agents", ranking)
    sessions = json.loads(Path("set.json").read_text(encoding="utf-8"))
    assert {session["position"] for session in sessions.values()} == {"Book2-chapter3"}
    assert all(session["origin"]["moment"].startswith("2.3.") for session in sessions.values())


def test_what_cannot_be_asked_says_why(run: Run, ranking: str) -> None:
    assert "no such folder" in run("questions", "demo", "-o", "no/set.json", status=1).stderr
    assert "Nobody" in run("questions", "demo", "-o", "x.json", "--as", "Nobody", status=1).stderr
    many = run("questions", "demo", "-o", "x.json", "--turns", 500, "--agents", ranking, status=1).stderr
    assert "--turns" in many
    assert "there is no agent" in run("questions", "demo", "-o", "x.json", "--agents", "nonesuch", status=1).stderr


def test_ctrl_c_leaves_nothing_half_written_and_the_next_run_goes_on(
    start: Start, run: Run, tmp_path: Path, ranking: str
) -> None:
    output, partial = tmp_path / "set.json", tmp_path / "set.json.partial"
    process = start("questions", "demo", "-o", "set.json", "--limit", 40, "--agents", "proposing:Slow")
    deadline = time.monotonic() + 60
    while not (partial.exists() and partial.read_text().count("\n") > 3) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, output.exists()) == (130, False)
    assert "Stopped" in errors
    proposed = partial.read_text().count("\n") - 1
    assert 3 <= proposed < 40
    run("questions", "demo", "-o", output, "--limit", 4, "--agents", ranking)
    assert output.exists() and not partial.exists()
