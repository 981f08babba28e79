"""Commands whose model is asked through files: as many runs as it takes, with a model that answers between them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import judged
from cliruns import Run
from hpdsessions import sessions
from llmclient import LiveModel, answer_requests, requests_in
from understudy.cli import understudy
from understudy.language import backends
from understudy.papers.hpd import bench

Live = Callable[..., Result]


@pytest.fixture
def live(run: Run, monkeypatch: pytest.MonkeyPatch) -> Live:
    """Run a command whose model answers at once."""

    def live(*command: str | Path) -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(backends, "open_batch", lambda _: LiveModel())
            return run(*command)

    return live


def in_rounds(folder: Path, *command: str | Path) -> tuple[Result, int]:
    """The result of a command once all is answered, and how many times it was run in vain."""
    for rounds in range(20):
        result = CliRunner().invoke(understudy, list(map(str, command)), prog_name="understudy")
        if result.exit_code == 0:
            return result, rounds
        assert result.exit_code == 1 and isinstance(result.exception, SystemExit), result.output
        assert "answers are missing" in result.stderr and not result.stdout
        asked = len(requests_in(folder))
        assert answer_requests(folder, f"answers-{rounds}.jsonl") == asked > 0
    raise AssertionError("it never ends")


def judged_by(document: Any) -> Any:
    """A bench's document without what clocks and the counting of tokens say."""
    timed = ("seconds", "first_seconds", "tokens")
    rows = [row for row in document["rows"] if row["metric"] not in timed]
    return rows, document.get("replies"), document.get("reply_samples")


@pytest.mark.parametrize("agent", ["batch:asked", "guarded:batch:asked"])
def test_bench_talk(live: Live, agent: str) -> None:
    command = ("bench", "talk", "demo", "--agent", agent, "--limit", "5", "--json")
    result, rounds = in_rounds(Path("asked"), *command)
    assert rounds >= 1
    document = json.loads(result.stdout)
    assert judged_by(document) == judged_by(json.loads(live(*command).stdout))
    assert len(document["replies"]) == 5 and not any("error" in reply for reply in document["replies"])


def test_all_questions_of_a_bench_are_asked_for_in_one_round(live: Live, tmp_path: Path) -> None:
    data = judged.personachat(tmp_path / "data")
    command = ("bench", "personachat", "--data", data, "--agents", "batch:asked", "--json")
    result, rounds = in_rounds(Path("asked"), *command)
    assert rounds == 1, "no reply depends on another, and no condition waits for another"
    assert len(requests_in(Path("asked"))) == 8  # four questions on two conditions
    assert judged_by(json.loads(result.stdout)) == judged_by(json.loads(live(*command).stdout))


def test_hpd_with_generation(live: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "open_reranked", lambda _: "not for this test")
    data = tmp_path / "hpd"
    data.mkdir()
    (data / "en_test_set.json").write_text(json.dumps(sessions(4)))
    given = ("--given", "dialogue,dialogue+scene", "--generation", "--json")
    command = ("bench", "hpd", "--data", data, "--agents", "batch:asked", *given)
    result, rounds = in_rounds(Path("asked"), *command)
    assert rounds == 1 and len(requests_in(Path("asked"))) == 8
    assert judged_by(json.loads(result.stdout)) == judged_by(json.loads(live(*command).stdout))


@pytest.mark.parametrize(("agent", "chats"), [("batch:asked", "2"), ("guarded:batch:asked", "1")])
def test_a_chat_of_two_agents_goes_on_turn_by_turn(live: Live, agent: str, chats: str) -> None:
    command = ("self-chat", "--agents", agent, "--story", "demo", "--who", "Zita,Pia", "--chats", chats, "--turns", "2")
    _, rounds = in_rounds(Path("asked"), *command, "-o", "chats.jsonl")
    assert rounds >= (2 if agent.startswith("batch") else 1)
    live(*command, "-o", "live.jsonl")
    assert Path("chats.jsonl").read_text() == Path("live.jsonl").read_text()


def test_a_message_is_one_request_and_its_prompt_can_be_looked_at(run: Run, live: Live) -> None:
    command = ("chat", "demo", "Zita", "--at", "2.3", "--agent", "batch:asked")
    missing = run(*command, "--say", "Who wrote it?", status=1)
    assert "1 answers are missing" in missing.stderr and "asked/requests-1.jsonl" in missing.stderr
    assert len(requests_in(Path("asked"))) == 1
    answer_requests(Path("asked"), "answers.jsonl")
    said = run(*command, "--say", "Who wrote it?").stdout
    assert said == live(*command, "--say", "Who wrote it?").stdout

    more = run(*command, stdin="Who wrote it?\nAnd when?\n", status=1)
    assert more.stdout == said, "what is piped in is answered as far as answers go"
    assert len(requests_in(Path("asked"))) == 2

    shown = run("prompt", "demo", "Zita", "--at", "2.3", "--say", "Who wrote it?", "--agent", "batch:asked").stdout
    assert "Who wrote it?" in shown


def test_a_batch_without_a_folder_says_how_to_name_one(run: Run) -> None:
    assert "batch:FOLDER" in run("chat", "demo", "Zita", "--say", "Hello.", "--agent", "batch", status=1).stderr
