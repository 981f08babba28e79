"""Several real server processes on one address and one PostgreSQL, of which some are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from killable import children, server
from timing import until
from understudy.database import open_database
from understudy.server.database import APPLICATION_ID
from waiting_agent import WAITING_AGENT

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

BEGUN = {"story": "brass-key", "characters": ["Ines Vale"], "at": "2.1"}


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def two_processes(story: Path, folder: Path, address: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    (folder / "waiting.py").write_text(WAITING_AGENT, encoding="utf-8")
    options = ("--database", address, "--processes", "2")
    with server(story, folder, options=options, agent="waiting:waiting") as (process, url):
        until(lambda: len(children(process)) == 2)
        yield process, url


def ask(method: str, url: str, **options: Any) -> httpx.Response:
    """On a connection of its own, which any of the processes may take; one that is killed meanwhile breaks it."""
    for _ in range(200):
        try:
            return httpx.request(method, url, timeout=120, **options)
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("nobody answers")


def let_leases_run_out(address: str) -> None:
    """As if `LEASE_S` had gone by since one was renewed."""
    database = open_database(address, APPLICATION_ID, "the server's database")
    database.rows("UPDATE chats SET held_until = 0")
    database.close()


@pytest.mark.parametrize("is_waited_for", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_a_reply_whose_process_is_killed_is_owed_and_the_other_gives_it_once(
    story: Path, tmp_path: Path, address: str, is_waited_for: bool
) -> None:
    with two_processes(story, tmp_path, address) as (process, url), ThreadPoolExecutor(1) as thread:
        before = children(process)
        chat = f"{url}/api/chats/{ask('POST', f'{url}/api/chats', json=BEGUN).json()['id']}"

        def say() -> None:
            with pytest.raises(httpx.TransportError):  # the connection breaks with the process
                httpx.post(f"{chat}/messages", json={"text": "Well?"}, timeout=120)

        saying = thread.submit(say)
        (thinking,) = until(lambda: list(tmp_path.glob("thinking-*")))
        killed = int(thinking.name.partition("-")[2])
        os.kill(killed, signal.SIGKILL)
        saying.result(120)
        seen = ask("GET", chat).json()
        assert [(message["text"], message["unanswered"]) for message in seen["messages"]] == [("Well?", True)]
        (tmp_path / "free").touch()
        if not is_waited_for:
            let_leases_run_out(address)
        retried = ask("POST", f"{chat}/messages/{seen['messages'][0]['id']}/retry", json={})
        assert "event: done" in retried.text
        seen = ask("GET", chat).json()
        assert [message["unanswered"] for message in seen["messages"]] == [False, False] and not seen["writing"]
        reply = seen["messages"][1]
        assert reply["siblings"] == [reply["id"]] and str(killed) not in reply["text"]
        now = until(lambda: [child for child in children(process) if child != killed][1:] and children(process))
        assert len(now) == 2 and len(set(now) & set(before)) == 1


def test_both_take_requests_and_lose_none_while_one_after_the_other_is_killed(
    story: Path, tmp_path: Path, address: str
) -> None:
    (tmp_path / "free").touch()
    with two_processes(story, tmp_path, address) as (process, url):
        chat = f"{url}/api/chats/{ask('POST', f'{url}/api/chats', json=BEGUN).json()['id']}"
        texts: list[str] = []
        for number in range(12):
            if number in (4, 8):
                until(lambda: len(children(process)) == 2)
                os.kill(children(process)[0], signal.SIGKILL)
            texts.append(f"Message {number}")
            assert "event: done" in ask("POST", f"{chat}/messages", json={"text": texts[-1]}).text
        messages = ask("GET", chat).json()["messages"]
        assert [message["text"] for message in messages[::2]] == texts
        assert [message["text"].split(" by ")[0] for message in messages[1::2]] == [
            f"Said after {2 * number + 1}" for number in range(12)
        ]
        assert len(list(tmp_path.glob("thinking-*"))) > 1


def test_all_stop_at_a_signal_and_finish_what_they_write(story: Path, tmp_path: Path, address: str) -> None:
    with two_processes(story, tmp_path, address) as (process, url), ThreadPoolExecutor(1) as thread:
        started = children(process)
        chat = f"{url}/api/chats/{ask('POST', f'{url}/api/chats', json=BEGUN).json()['id']}"
        saying = thread.submit(httpx.post, f"{chat}/messages", json={"text": "Well?"}, timeout=120)
        until(lambda: list(tmp_path.glob("thinking-*")))
        process.terminate()
        until(lambda: not all(map(is_alive, started)))  # the one that has nothing to finish
        (tmp_path / "free").touch()
        assert "event: done" in saying.result(120).text
        assert process.wait(120) == 0
        assert not any(map(is_alive, started))


def test_children_of_a_parent_that_was_killed_stop(story: Path, tmp_path: Path, address: str) -> None:
    with two_processes(story, tmp_path, address) as (process, _):
        started = children(process)
        process.kill()
        process.wait(120)
        until(lambda: not any(map(is_alive, started)))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--processes", "2"), "--database postgresql://"),
        (("--processes", "2", "--database", "lines.db"), "no PostgreSQL address"),
        (("--processes", "2", "--database", "postgresql://me:s3cr3t@127.0.0.1:1/x"), "check --database"),
    ],
)
def test_what_cannot_be_served_is_said_at_once(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    command = [sys.executable, "-m", "understudy", "serve", "demo", "--port", "0", "--data", str(tmp_path), *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode and says in ended.stderr and "Traceback" not in ended.stderr
    assert "s3cr3t" not in ended.stderr


def test_a_first_process_that_cannot_serve_ends_all(tmp_path: Path, address: str) -> None:
    options = ("--processes", "2", "--database", address, "--port", "0", "--data", str(tmp_path))
    command = [sys.executable, "-m", "understudy", "serve", "no-such-story", *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode and ended.stderr.count("no-such-story") == 1
