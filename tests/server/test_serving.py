"""A real server and its clients: slow ones, ones that go away, and ones that are being answered when it stops."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from threading import Event
from urllib.parse import urlsplit

import httpx
import pytest

from server.conftest import MakeContext, serving
from timing import until
from understudy.server.app import make_app
from understudy.story.dialogue import Reply, Situation, Turn


class Held:
    """Says back what it hears, once it may; at great length where that is asked for."""

    def __init__(self) -> None:
        self.may, self.heard = Event(), list[str]()

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        text = history[-1].text
        self.heard.append(text)
        assert self.may.wait(120)
        return Reply(f"You said {text}." if text != "long" else "ha" * 4_000_000)


@pytest.fixture
def clients() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as threads:
        yield threads


def body(text: str) -> dict[str, object]:
    return {"model": "brass-key/Ines", "messages": [{"role": "user", "content": text}], "stream": True}


def streamed(url: str, text: str) -> str:
    """What a client reads of a stream, if it comes to its end."""
    answer = httpx.post(f"{url}/v1/chat/completions", json=body(text), timeout=120)
    *events, last = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    assert last == "[DONE]"
    return "".join(json.loads(event)["choices"][0]["delta"].get("content", "") for event in events)


def rude(url: str, text: str) -> socket.socket:
    """A client that asks and reads nothing."""
    address = urlsplit(url)
    assert address.hostname is not None
    client = socket.create_connection((address.hostname, address.port or 80))
    content = json.dumps(body(text))
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
    client.sendall(f"{head}Content-Length: {len(content)}\r\n\r\n{content}".encode())
    return client


def test_a_client_that_reads_nothing_holds_nobody_up(make_context: MakeContext) -> None:
    agent = Held()
    agent.may.set()
    context = make_context(agent, 1)
    with serving(make_app(context)) as url, closing(rude(url, "long")):
        until(lambda: context.executor.replies_total == 1)
        assert [streamed(url, str(number)) for number in range(5)] == [f"You said {number}." for number in range(5)]
        figures = httpx.get(f"{url}/metrics").text
        assert "understudy_streams_open 1.0" in figures  # that of the client that never reads is still open


def test_a_client_that_goes_away_leaves_the_queue(make_context: MakeContext, clients: ThreadPoolExecutor) -> None:
    agent = Held()
    context = make_context(agent, 1)
    with serving(make_app(context)) as url:
        first = clients.submit(streamed, url, "first")
        until(lambda: agent.heard == ["first"])
        leaving = rude(url, "leaving")
        until(lambda: context.executor.queue_length == 1)
        last = clients.submit(streamed, url, "last")
        until(lambda: context.executor.queue_length == 2)
        leaving.close()
        until(lambda: context.executor.queue_length == 1)
        agent.may.set()
        assert (first.result(120), last.result(120)) == ("You said first.", "You said last.")
    assert agent.heard == ["first", "last"]


def test_a_server_that_stops_finishes_what_was_asked(make_context: MakeContext, clients: ThreadPoolExecutor) -> None:
    agent = Held()
    context = make_context(agent, 1)
    replies: list[Future[str]] = []
    with serving(make_app(context)) as url:
        replies += [clients.submit(streamed, url, str(number)) for number in range(4)]
        until(lambda: context.executor.queue_length == 3)
        clients.submit(_release_when_closed, url, agent)
    assert sorted(reply.result(120) for reply in replies) == [f"You said {number}." for number in range(4)]


def _release_when_closed(url: str, agent: Held) -> None:
    address = urlsplit(url)

    def closed() -> bool:
        try:
            socket.create_connection((address.hostname or "", address.port or 80), timeout=1).close()
        except OSError:
            return True
        return False

    until(closed)
    agent.may.set()
