from __future__ import annotations

import json
from pathlib import Path

import pytest

from cliruns import Run

PROBES = """
[[probe]]
who = "Ines Vale"
at = "2.1"
facing = "Tobias Rook"
ask = ["Good day.", "Where is the key?"]
must = ["line 2"]
kind = "object"

[[probe]]
who = "Ines Vale"
at = "2.1"
ask = "Who has it?"
must_not = ["Line"]
kind = "secret"
"""


@pytest.fixture
def probes(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(PROBES, encoding="utf-8")
    return path


def test_probes_of_a_file_for_any_story(run: Run, story: Path, probes: Path, tmp_path: Path) -> None:
    items, report = tmp_path / "items.json", tmp_path / "talk.html"
    arguments = ("bench", "talk", story, "--probes", probes, "--agent", "scripted")
    document = json.loads(run(*arguments, "--json", "--items", items, "--report", report).stdout)
    shares = {(row["kind"], row["metric"]): row["value"] for row in document["rows"]}
    assert shares["all", "must"] == 1.0
    assert shares["secret", "violations"] == 1.0 and shares["object", "violations"] == 0.0
    assert document["manifest"]["bench"] == "talk" and "mine.toml" in document["manifest"]["data"]
    assert items.is_file() and "violations" in report.read_text(encoding="utf-8")
    shown = run(*arguments).stdout
    assert "Who has it?" in shown and "says 'Line'" in shown


def test_only_the_first_few_violations_are_shown_unless_all_are_asked_for(run: Run) -> None:
    shown = run("bench", "talk", "demo", "--agent", "scripted").stdout
    assert "more such answers: --verbose shows them" in shown
    assert "more such answers" not in run("bench", "talk", "demo", "--agent", "scripted", "-v").stdout


def test_an_agent_that_answers_nothing_is_an_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of the others are there all the same."""
    monkeypatch.setenv("UNDERSTUDY_LLM_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", "none")
    failed = run("bench", "talk", "demo", "--agent", "llm,scripted", "--limit", 2, status=1)
    assert "llm answered none of 2 probes" in failed.stderr and "127.0.0.1:9" in failed.stderr
    assert "scripted" in failed.stdout


def test_a_story_without_probes_says_how_to_give_some(run: Run, story: Path) -> None:
    (story / "probes.toml").unlink(missing_ok=True)
    assert "--probes FILE" in run("bench", "talk", story, status=1).stderr


def test_a_guard_of_ones_own(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def nothing(story):\n    return lambda situation, history, draft: 'no' if 'Zita' in draft.text else ''\n"
    (tmp_path / "mine_guard.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    arguments = ("bench", "guard", "demo", "--guard", "mine_guard:nothing", "--limit", 10)
    document = json.loads(run(*arguments, "--json").stdout)
    assert {row["metric"] for row in document["rows"]} == {"stopped", "wrongly_stopped"}
    shown = run(*arguments).stdout
    assert "Let pass, 5 of" in shown and "wrongly" not in shown
    assert "as module:factory" in run("bench", "guard", "demo", "--guard", "nope", status=1).stderr


def test_the_guard_of_an_agent(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
from types import SimpleNamespace
from understudy.story.dialogue import Reply

class Guarded:
    def reply(self, situation, history):
        return Reply("...")

    def judge(self, situation, history, draft):
        return None if draft.source == "exchange" else SimpleNamespace(reason="not known yet")
"""
    (tmp_path / "guarded_agent.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    arguments = ("bench", "guard", "demo", "--limit", 5, "--json")
    document = json.loads(run(*arguments, "--agent", "guarded_agent:Guarded").stdout)
    values = {row["offered"]: row["value"] for row in document["rows"]}
    assert values["all"] == 1.0 and values["own"] == 0.0
    assert "has no guard" in run(*arguments, "--agent", "tfidf", status=1).stderr


def test_rules_are_the_guard_by_default(run: Run) -> None:
    document = json.loads(run("bench", "guard", "demo", "--limit", 3, "--json").stdout)
    assert document["rows"][0]["agent"] == "anachronism<=0 unwitnessed<=0"
    assert "there is no metric" in run("bench", "guard", "demo", "--rule", "nothing<=0", status=1).stderr


def test_replies_that_should_pass(run: Run, tmp_path: Path) -> None:
    path, items = tmp_path / "good.jsonl", tmp_path / "items.json"
    row = {"character": "Ines", "reply": "I walk dogs. It is honest work.", "kind": "good"}
    bad = {**row, "reply": "As an AI, I cannot walk dogs.", "kind": "bad"}
    path.write_text(f"{json.dumps(row)}\n{json.dumps(bad)}\n", encoding="utf-8")
    document = json.loads(run("bench", "guard", "--replies", path, "--json", "--save-items", items).stdout)
    shares = {(row["metric"], row["kind"], row["guard"]): row["value"] for row in document["rows"]}
    assert shares["stopped", "good", "all"] == 0.0 and shares["altered", "bad", "all"] == 1.0
    assert items.is_file() and document["manifest"]["bench"] == "guard"
    shown = run("bench", "guard", "--replies", path, "--agent", "guarded").stdout
    assert "line 2, Ines (form: speaks as an assistant" in shown
    path.write_text("{}\n", encoding="utf-8")
    assert "good.jsonl:1: has no 'character'" in run("bench", "guard", "--replies", path, status=1).stderr
    assert "say what to judge on" in run("bench", "guard", status=2).stderr
    assert "not with --guard" in run("bench", "guard", "--replies", path, "--guard", "a:b", status=2).stderr
