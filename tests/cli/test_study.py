"""`understudy study` from a new file to results."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import httpx
import pytest
from click.testing import CliRunner

from cliruns import Run
from studyserver import StudyServer, study_server, write_chat, write_likely
from understudy.cli import understudy
from understudy.cli.study import announcement
from understudy.server.studies.routes import LONGEST_POLL_S
from understudy.studies.kinds import KINDS
from understudy.studies.participation import give_answer, give_consent, view
from understudy.studies.store import open_study_store


def run(*arguments: object, fails: bool = False) -> str:
    result = CliRunner().invoke(understudy, ["study", *map(str, arguments)])
    assert (result.exit_code != 0) == fails, result.output
    return result.output


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "zita.toml"
    run("new", "likely", "-o", path)
    settings, _, _ = path.read_text().partition("[material]")
    path.write_text(f'{settings}[material]\nstory = "demo"\ncharacter = "Zita"\nlines = "lines.txt"\n')
    (tmp_path / "lines.txt").write_text("Who are you?\tThe smoker of letters.\nI read every letter.\n")
    return path


def answer_all(path: Path, links: list[str]) -> None:
    with open_study_store(path.parent / "studies.db") as store:
        for link in links:
            token = link.rpartition("/")[2]
            shown = give_consent(store, token, {})
            while shown.assignment is not None:
                assert shown.item is not None
                answer = shown.item.expected or {"likely": "likely"}
                give_answer(store, token, shown.assignment, answer, comment="a remark")
                shown = view(store, token)


def test_every_kind_is_named_in_the_help_of_new() -> None:
    text = run("new", "--help")
    for kind in KINDS:
        assert kind in text


@pytest.mark.parametrize("kind", ["likely", "rate", "candidates"])
def test_a_new_study_can_be_tried_as_it_is(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{kind}.toml"
    run("new", kind, "-o", path)
    document = json.loads(run("simulate", path, "--people", 3, "--json"))
    assert document["answers"] > 0


def test_material_that_is_there_is_kept(tmp_path: Path) -> None:
    (tmp_path / "chats.jsonl").write_text("mine")
    assert "Making" not in run("new", "rate", "-o", tmp_path / "rate.toml")
    assert (tmp_path / "chats.jsonl").read_text() == "mine"


def test_from_links_to_results(path: Path, tmp_path: Path) -> None:
    links = json.loads(run("invite", path, "--links", 2, "--json"))["links"]
    assert all("/take/" in link for link in links)
    answer_all(path, links)
    status = json.loads(run("status", path, "--json"))
    assert (status["answers"], status["wanted"], status["items"]) == (4, 10, 2)
    assert [person["code"] for person in status["people"]] == ["p1", "p2"]
    assert status["comments"][0][1] == "a remark"
    run("results", path, "-o", tmp_path / "answers.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert {row["answer"]["likely"] for row in rows if not row["is_check"]} == {"likely"}
    run("results", path, "-o", tmp_path / "judged", "--format", "voice")
    judged = json.loads((tmp_path / "judged" / "Zita Karst.json").read_text())
    assert judged == {"Who are you?\tThe smoker of letters.": 2, "\tI read every letter.": 2}
    assert json.loads(run("agree", path, "--json"))["rows"][0]["reason"].startswith("everybody gave one")


def test_unblinding_is_logged(path: Path, tmp_path: Path) -> None:
    run("invite", path, "--links", 1)
    run("results", path, "-o", tmp_path / "a.jsonl", "--unblind", "--by", "the author")
    log = json.loads(run("status", path, "--json"))["log"]
    assert log[-1]["what"] == "unblinded by the author"


def test_a_link_is_ended_and_a_study_closed(path: Path) -> None:
    run("invite", path, "--links", 1)
    assert "p1 is ended" in run("end", path, "--person", "p1")
    assert "closed" in run("end", path, "--close")
    assert "open again" in run("end", path, "--reopen")
    assert "opposites" in run("end", path, "--person", "p1", "--close", "--reopen", fails=True)
    assert "no participant 'p9'" in run("end", path, "--person", "p9", fails=True)


def test_serving_says_whether_a_study_is_open(path: Path) -> None:
    run("invite", path, "--links", 1)
    for option, state in (("--close", "closed"), ("--reopen", "open")):
        run("end", path, option)
        with open_study_store(path.parent / "studies.db") as store:
            assert f"' is {state}" in announcement(store.study("zita"), "http://127.0.0.1")


def test_what_people_say_of_themselves_is_in_the_results(path: Path, tmp_path: Path) -> None:
    path.write_text('ask = ["Age"]\n' + path.read_text())
    (link,) = json.loads(run("invite", path, "--links", 1, "--json"))["links"]
    with open_study_store(tmp_path / "studies.db") as store:
        token = link.rpartition("/")[2]
        shown = give_consent(store, token, {"Age": "41"})
        assert shown.item is not None
        give_answer(store, token, shown.assignment or 0, shown.item.expected or {"likely": "likely"})
    run("results", path, "-o", tmp_path / "a.jsonl")
    assert json.loads((tmp_path / "a.jsonl").read_text())["asked"] == {"Age": "41"}


def test_checks_that_cannot_be_made_say_of_what_they_are_made(tmp_path: Path) -> None:
    path = tmp_path / "who.toml"
    run("new", "guess", "-o", path)
    path.write_text("checks = 1\n" + path.read_text())
    output = " ".join(run("simulate", path, fails=True).split())
    assert "only scales and single choices" in output and "write" not in output


def test_a_crowd_leaves_no_database(path: Path, tmp_path: Path) -> None:
    document = json.loads(run("simulate", path, "--people", 6, "--skill", "0.8", "--json"))
    assert (document["answers"], document["wanted"], document["complete"]) == (10, 10, 2)
    assert not (tmp_path / "studies.db").exists()


def test_a_wrong_kind_path_and_key_are_named(path: Path, tmp_path: Path) -> None:
    assert "no kind of study called 'likly'" in run("new", "likly", "-o", tmp_path / "x.toml", fails=True)
    assert "study serve" in run("status", tmp_path / "zita.toml", fails=True)
    path.write_text(path.read_text() + 'lin = "x"\n')
    assert "'lin'" in run("simulate", path, fails=True)


@pytest.fixture
def failed(run: Run) -> Callable[..., str]:
    """What a command says that cannot serve."""
    return lambda *arguments: run("study", "serve", *arguments, status=1).stderr


def is_waiting(server: StudyServer, token: str) -> bool:
    httpx.post(f"{server.take(token)}/consent", json={"asked": {}}, timeout=60)
    return bool(httpx.get(f"{server.take(token)}/chat", timeout=60).json()["state"] == "waiting")


def waiting_polls(server: StudyServer, threads: ThreadPoolExecutor) -> list[Future[httpx.Response]]:
    """A long poll of everybody, each of which the server has read."""
    sent = [Event() for _ in server.tokens]

    def poll(token: str, is_sent: Event) -> httpx.Response:
        def trace(event: str, _: object) -> None:
            if event == "http11.send_request_body.complete":
                is_sent.set()

        with httpx.Client(timeout=60) as client:
            address = f"{server.take(token)}/chat"
            return client.get(address, params={"state": "waiting"}, extensions={"trace": trace})

    polls = [threads.submit(poll, token, is_sent) for token, is_sent in zip(server.tokens, sent)]
    assert all(is_sent.wait(60) for is_sent in sent)
    for _ in range(3):  # what is answered now came after them, to whichever process
        assert all(is_waiting(server, token) for token in server.tokens)
    time.sleep(0.5)
    return polls


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_it_although_people_wait_for_a_partner(story: Path, sent: signal.Signals) -> None:
    study = write_chat(story, chats=3, turns=2, agents='["scripted"]', agents_percent=100, arrives_s="[600, 600]")
    with study_server(study, "--links", "3") as server, ThreadPoolExecutor(3) as threads:
        assert all(is_waiting(server, token) for token in server.tokens)
        polls = waiting_polls(server, threads)
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
        polls = waiting_polls(server, threads)
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
