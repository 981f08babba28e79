"""`understudy study serve`: how it starts, how it stops, and what it says when it cannot."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from click.testing import Result

from studyserver import StudyServer, study_server, write_chat, write_likely
from understudy.server.studies.routes import LONGEST_POLL_S

Run = Callable[..., Result]


@pytest.fixture
def failed(run: Run) -> Callable[..., str]:
    """What a command says that cannot serve."""
    return lambda *arguments: run("study", "serve", *arguments, status=1).stderr


def is_waiting(server: StudyServer, token: str) -> bool:
    httpx.post(f"{server.take(token)}/consent", json={"asked": {}}, timeout=60)
    return bool(httpx.get(f"{server.take(token)}/chat", timeout=60).json()["state"] == "waiting")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_it_although_people_wait_for_a_partner(story: Path, sent: signal.Signals) -> None:
    study = write_chat(story, chats=3, turns=2, agents='["scripted"]', agents_percent=100, arrives_s="[600, 600]")
    with study_server(study, "--links", "3") as server, ThreadPoolExecutor(3) as threads:
        assert all(is_waiting(server, token) for token in server.tokens)
        polls = [
            threads.submit(httpx.get, f"{server.take(token)}/chat", params={"state": "waiting"}, timeout=60)
            for token in server.tokens
        ]
        time.sleep(0.5)
        assert not any(poll.done() for poll in polls)
        started = time.monotonic()
        server.process.send_signal(sent)
        out, _ = server.process.communicate(timeout=60)
        assert time.monotonic() - started < 0.9 * LONGEST_POLL_S
        assert server.process.returncode == 0 and out.rstrip().endswith("Stopped.")
        assert {poll.result().json()["state"] for poll in polls} == {"waiting"}
    assert "Traceback" not in (study.parent / "log").read_text()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_all_processes_stop_with_people_waiting(story: Path, postgres: str) -> None:
    study = write_chat(story, chats=2, turns=2, agents='["scripted"]', agents_percent=100, arrives_s="[600, 600]")
    options = ("--links", "2", "--store", postgres, "--processes", "2")
    with study_server(study, *options) as server, ThreadPoolExecutor(2) as threads:
        assert all(is_waiting(server, token) for token in server.tokens)
        polls = [
            threads.submit(httpx.get, f"{server.take(token)}/chat", params={"state": "waiting"}, timeout=60)
            for token in server.tokens
        ]
        time.sleep(0.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGINT)
        server.process.communicate(timeout=60)
        assert time.monotonic() - started < 0.9 * LONGEST_POLL_S and server.process.returncode == 0
        assert {poll.result().status_code for poll in polls} == {200}


def test_links_of_an_earlier_start_go_on(story: Path) -> None:
    study = write_likely(story, 3)
    with study_server(study, "--links", "1") as first:
        view = httpx.post(f"{first.take(first.tokens[0])}/consent", json={"asked": {}}, timeout=60).json()
    with study_server(study) as second:
        again = httpx.get(second.take(first.tokens[0]), timeout=60).json()
        assert second.tokens == [] and again["assignment"] == view["assignment"]


def test_a_file_that_is_not_there(failed: Callable[..., str], tmp_path: Path) -> None:
    error = failed(tmp_path / "none.toml")
    assert "none.toml" in error and "Traceback" not in error


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("kind = ", "kinds = "), "no study has"),
        (('kind = "likely"', 'kind = "likley"'), "likely"),
        (("people_per_item = 3", "people_per_item = 0"), "whole number of at least 1"),
        (('lines = "lines.txt"', 'lines = "none.txt"'), "set `lines` under [material]"),
        (('story = "brass-key"', 'story = "no-such-story"'), "no-such-story"),
        (('character = "Ines"', 'character = "Ilse"'), "Ilse"),
        (("[material]", "[material"), "line 7"),
    ],
)
def test_an_error_in_the_study_says_what_to_do(
    failed: Callable[..., str], story: Path, change: tuple[str, str], message: str
) -> None:
    study = write_likely(story, 3)
    before = study.read_text()
    study.write_text(before.replace(*change))
    assert study.read_text() != before
    error = failed(study, "--port", "0")
    assert message in error and "Traceback" not in error


def test_a_taken_port_says_what_to_do_and_makes_no_links(failed: Callable[..., str], run: Run, story: Path) -> None:
    study = write_likely(story, 3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        error = failed(study, "--links", "2", "--port", str(taken.getsockname()[1]))
    assert "--port 0" in error
    assert not (story.parent / "studies.db").exists()  # links that nobody was shown would be lost


def test_a_store_that_cannot_be_used(failed: Callable[..., str], story: Path) -> None:
    study = write_likely(story, 3)
    assert "--store" in failed(study, "--store", story.parent)
    assert "say a file" in failed(study, "--store", "mysql://localhost/x")
    (story.parent / "text.db").write_text("This is no database at all, however long one looks at it." * 20)
    assert "--store" in failed(study, "--store", story.parent / "text.db")
    assert "postgresql://" in failed(study, "--processes", "2")
    error = failed(study, "--store", "postgresql://me:secret@127.0.0.1:1/none")
    assert "--store" in error and "secret" not in error


def test_an_address_that_others_reach_needs_a_key(
    failed: Callable[..., str], story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UNDERSTUDY_API_KEY", raising=False)
    error = failed(write_likely(story, 3), "--host", "0.0.0.0")
    assert "UNDERSTUDY_API_KEY" in error and not (story.parent / "studies.db").exists()
