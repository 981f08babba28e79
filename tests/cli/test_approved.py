"""`chat` and `serve` with --store: approved lines are said, in their time."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from cliruns import Document, Run, Start
from understudy.metrics.utterances import open_store
from understudy.metrics.utterances.record import APPROVED, FILTER, REJECTED, Utterance
from understudy.story.types import Moment

ASKED = "What do the gulls know of the weather?"
FOG = "The gulls know of the weather what I know of the gulls."


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    store = open_store(tmp_path / "lines.db")
    store.add([Utterance(FOG, "Ines Vale", Moment.parse("2"))], APPROVED, FILTER)
    store.add([Utterance("Gulls know weather, what of it.", "Ines Vale")], REJECTED, FILTER)
    store.close()
    return tmp_path / "lines.db"


@pytest.mark.parametrize("agent", ["encoder", "tfidf"])
def test_an_approved_line_is_said_from_its_moment_on(document: Document, story: Path, lines: Path, agent: str) -> None:
    command = ("chat", story, "Ines", "--agent", agent, "--store", lines, "--say", ASKED)
    late = document(*command)
    assert late["reply"] == FOG
    assert late["evidence"][0]["kind"] == "approved" and late["evidence"][0]["text"] == f"utterance 1: {FOG}"
    assert late["candidates"][0]["moment"] is None
    early = document(*command, "--at", "1.2")
    assert not any("gulls" in candidate["text"].lower() for candidate in early["candidates"]) and early["reply"] != FOG


def test_why_shows_which_line_it_was(run: Run, story: Path, lines: Path) -> None:
    command = ("chat", story, "Ines", "--agent", "tfidf", "--store", lines, "--say", ASKED, "--why")
    assert re.search(r"approved\s+utterance 1:", run(*command).stdout)


def test_moving_to_an_earlier_moment_leaves_it_unsaid(run: Run, story: Path, lines: Path) -> None:
    typed = f"{ASKED}\n/undo\n/at 1.2\n{ASKED}\n"
    late, early = run("chat", story, "Ines", "--agent", "tfidf", "--store", lines, stdin=typed).stdout.splitlines()
    assert late == FOG and "gulls" not in early.lower()


def test_a_database_that_is_not_there_and_an_agent_that_has_no_use_for_one(run: Run, story: Path, lines: Path) -> None:
    gone = run("chat", story, "Ines", "--store", "gone.db", "--say", "Hello", status=1)
    assert "understudy filter" in gone.stderr and not Path("gone.db").exists()
    scripted = run("chat", story, "Ines", "--agent", "scripted", "--store", lines, "--say", "Hello", status=2)
    assert "--store needs" in scripted.stderr
    assert "understudy filter" in run("serve", story, "--store", "gone.db", "--port", "0", status=1).stderr


def test_a_served_character_says_what_was_approved_while_it_was_served(
    start: Start, story: Path, lines: Path, tmp_path: Path
) -> None:
    process = start(
        "serve", story, "--agent", "tfidf", "--store", lines, "--port", "0", "--data", tmp_path / "data"
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = next(match[0] for line in process.stdout if (match := re.search(r"http://[^/ ]+", line)))
        assert "/review" in next(line for line in process.stdout)
        body = {"story": "brass-key", "character": "Ines", "at": "2.2", "message": ASKED}
        with httpx.Client(base_url=url, timeout=60) as client:
            assert client.post("/api/replies", json=body).json()["reply"] == FOG
            assert client.post("/api/replies", json={**body, "at": "1.2"}).json()["reply"] != FOG
            decided = client.post("/api/utterances/1/decision", json={"decision": "rejected", "by": "Mara"})
            assert decided.json()["decision"] == "rejected"
            assert client.post("/api/replies", json=body).json()["reply"] != FOG
            assert client.post("/api/utterances/1/undo", json={"by": "Mara"}).status_code == 200
            answer = client.post("/api/replies", json=body).json()
            assert answer["reply"] == FOG and answer["evidence"][0]["kind"] == "approved"
    finally:
        process.kill()
        process.communicate()


def test_the_store_may_be_named_by_the_environment(
    run: Run, document: Document, story: Path, lines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNDERSTUDY_STORE", str(lines))
    assert document("chat", story, "Ines", "--agent", "tfidf", "--say", ASKED)["reply"] == FOG
    assert len(document("utterances", "list")["utterances"]) == 2
    run("chat", story, "Ines", "--agent", "scripted", "--say", ASKED)  # has words of its own: it needs no store
    run("chat", story, "Ines", "--agent", "scripted", "--say", ASKED, "--store", lines, status=2)


def test_a_password_is_not_shown_and_one_on_the_command_line_is_warned_of(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "postgresql://me:s3cr3t@127.0.0.1:1/lines"
    result = run("utterances", "list", "--store", address, status=1)
    assert "Warning: the password in --store can be read by others" in result.stderr
    assert "s3cr3t" not in result.output
    monkeypatch.setenv("UNDERSTUDY_STORE", address)
    quiet = run("utterances", "list", status=1)
    assert "Warning" not in quiet.stderr
    assert "s3cr3t" not in quiet.output


def test_what_filter_says_at_its_end_has_no_password(
    run: Run, story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lines.txt").write_text("Good morning.\n", encoding="utf-8")
    opened = open_store(tmp_path / "there.db")
    monkeypatch.setattr("understudy.metrics.utterances.open_store", lambda _: opened)
    monkeypatch.setenv("UNDERSTUDY_STORE", "postgresql://me:s3cr3t@host/lines")
    command = ("filter", tmp_path / "lines.txt", "--story", story, "--as", "Ines", "--rule", "anachronism<=0")
    result = run(*command, "--no-vectors")
    assert "--store postgresql://me:***@host/lines" in result.stdout
