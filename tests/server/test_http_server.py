"""Connections that are slow, too many or too long, before a real server whose deadlines are short."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest

from server.conftest import MakeContext, serving
from server.test_serving import Held, body, rude, streamed
from timing import until
from understudy.server.access import AccessPolicy
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.http_server import ConnectionLimits, ListeningSocket
from understudy.server.middleware import RequestLimits
from understudy.server.telemetry import ThrottledLog

KEY = "a long and quite random key"
SHORT = ConnectionLimits(
    head_timeout_s=0.3, body_timeout_s=0.3, body_bytes_per_s=1_000_000, write_timeout_s=0.5, linger_timeout_s=0.3,
    stop_timeout_s=0.3, sweep_s=0.05,
)  # fmt: skip
PATIENT = replace(SHORT, head_timeout_s=60, body_timeout_s=60, linger_timeout_s=60)
HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
REFUSED = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
CHAT = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def connected(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname or "", address.port or 80), timeout=120)


def received(client: socket.socket) -> bytes:
    """Everything until the server closes; a test that waits longer than its socket fails."""
    data = b""
    while True:
        try:
            chunk = client.recv(65536)
        except ConnectionResetError:
            return data
        if not chunk:
            return data
        data += chunk


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as threads:
        yield threads


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET", HEAD, HEAD + b"X-Slow: a", HEAD + b"\r\n" + HEAD],
    ids=["nothing", "a method", "a head", "a header", "a second head"],
)
def test_a_head_that_does_not_end_is_given_up(context: AppContext, begun: bytes) -> None:
    has_one_request = begun.count(b"HTTP/1.1") == 2  # which has to come in time on a slow machine as well
    limits = replace(SHORT, head_timeout_s=2) if has_one_request else SHORT
    with serving(make_app(context), limits) as url, closing(connected(url)) as client:
        client.sendall(begun)
        data = received(client)
    answers = [line for line in data.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]
    if has_one_request:
        assert answers[0] == b"HTTP/1.1 200 OK" and len(answers) <= 2
    else:
        assert answers == ([b"HTTP/1.1 408 Request Timeout"] if begun else [])


@pytest.mark.parametrize("sent", [b'{"model"', b""])
def test_a_body_that_does_not_end_is_given_up(context: AppContext, sent: bytes) -> None:
    with serving(make_app(context), SHORT) as url, closing(connected(url)) as client:
        client.sendall(CHAT + b"Content-Length: 1000\r\n\r\n" + sent)
        assert received(client).startswith(b"HTTP/1.1 408 ")
        until(lambda: "understudy_requests_total" in httpx.get(f"{url}/metrics").text)


def test_a_body_that_comes_slowly_but_fast_enough_is_taken(context: AppContext) -> None:
    limits = replace(SHORT, head_timeout_s=60, body_bytes_per_s=20)
    content = json.dumps(body("slowly")).encode()
    with serving(make_app(context), limits) as url, closing(connected(url)) as client:
        head = CHAT + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(content)
        client.sendall(head + content[:40])  # for which two seconds are granted
        for byte in range(40, len(content), 10):
            client.sendall(content[byte : byte + 10])
            time.sleep(0.1)
        assert received(client).startswith(b"HTTP/1.1 200 ")


def test_a_refused_body_is_not_listened_to_for_long(context: AppContext) -> None:
    with (
        serving(make_app(context, AccessPolicy.for_host("0.0.0.0", KEY)), SHORT) as url,
        closing(connected(url)) as client,
    ):
        client.sendall(CHAT + b"Content-Length: 1000000\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 401"
        with pytest.raises(ConnectionError):
            _drip(client)


def _drip(client: socket.socket) -> None:
    for _ in range(3_000):
        client.sendall(b"x")  # a byte now and then keeps uvicorn alone from closing
        time.sleep(0.01)


def test_a_stream_may_take_its_time(make_context: MakeContext, threads: ThreadPoolExecutor) -> None:
    agent = Held()
    with serving(make_app(make_context(agent, 1)), SHORT) as url:
        reply = threads.submit(streamed, url, "patience")
        until(lambda: agent.heard == ["patience"])
        time.sleep(1)
        agent.may.set()
        assert reply.result(120) == "You said patience."


def test_a_client_that_never_reads_is_given_up(make_context: MakeContext) -> None:
    agent = Held()
    agent.may.set()
    context = make_context(agent, 1)
    with serving(make_app(context), SHORT) as url, closing(rude(url, "long")):
        until(lambda: context.executor.replies_total == 1)
        until(lambda: "understudy_streams_open 0.0" in httpx.get(f"{url}/metrics").text)


def test_whoever_waits_longest_makes_room(context: AppContext) -> None:
    limits = replace(PATIENT, per_address=5)
    with serving(make_app(context), limits) as url, ExitStack() as open_now:
        slow = []
        for _ in range(20):
            slow.append(open_now.enter_context(closing(connected(url))))
            slow[-1].sendall(HEAD)
        assert httpx.get(f"{url}/health", timeout=120).status_code == 200
        assert received(slow[0]) in (b"", REFUSED)
        slow[-1].sendall(b"Connection: close\r\n\r\n")
        assert received(slow[-1]).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("limits", [replace(PATIENT, per_address=3), replace(PATIENT, total=3)])
def test_who_is_being_answered_makes_room_for_nobody(
    make_context: MakeContext, threads: ThreadPoolExecutor, limits: ConnectionLimits
) -> None:
    agent = Held()
    context = make_context(agent, 1)
    with serving(make_app(context), limits) as url:
        replies = [threads.submit(streamed, url, str(number)) for number in range(3)]
        until(lambda: context.executor.queue_length == 2)
        with closing(connected(url)) as client:
            assert received(client).startswith(b"HTTP/1.1 503 ")
        agent.may.set()
        assert sorted(reply.result(120) for reply in replies) == [f"You said {number}." for number in range(3)]


def test_a_server_that_stops_waits_for_replies_but_not_for_bodies(
    make_context: MakeContext, threads: ThreadPoolExecutor
) -> None:
    agent = Held()
    with ExitStack() as open_now:
        with serving(make_app(make_context(agent, 1)), replace(PATIENT, stop_timeout_s=0.2)) as url:
            reply = threads.submit(streamed, url, "first")
            until(lambda: agent.heard == ["first"])
            half = open_now.enter_context(closing(connected(url)))
            half.sendall(CHAT + b"Content-Length: 1000\r\n\r\n{")
            gone = threads.submit(received, half)
            gone.add_done_callback(lambda _: agent.may.set())  # the half-sent one goes first
        assert gone.result(120).startswith(b"HTTP/1.1 408 ")
        assert reply.result(120) == "You said first."


def test_heads_that_are_too_long_are_refused(context: AppContext) -> None:
    with serving(make_app(context), PATIENT) as url:
        for headers in ({f"X-{number}": "a" for number in range(150)}, {"X": "a" * 31_000, "Y": "a" * 2_000}):
            with httpx.Client(timeout=120) as client:
                assert client.get(f"{url}/health", headers=headers).status_code in (400, 431)
        with httpx.Client(timeout=120) as client:
            assert client.get(f"{url}/health?{'a' * 40_000}").status_code in (400, 431)
            assert client.get(f"{url}/health", headers={"X": "a" * 10_000}).status_code == 200


def test_the_guard_counts_headers_whatever_the_server_took(context: AppContext) -> None:
    with serving(make_app(context, limits=RequestLimits(headers=10, head_bytes=1000)), PATIENT) as url:
        many = httpx.get(f"{url}/health", headers={f"X-{number}": "a" for number in range(10)})
        assert many.status_code == 431 and many.json()["error"]["code"] == "headers"
        assert httpx.get(f"{url}/health", headers={"X": "a" * 1000}).status_code == 431
        assert httpx.get(f"{url}/health").status_code == 200


def test_connections_stay_below_what_may_be_opened() -> None:
    for files in (16, 200, 1024, 20_000):
        limits = ConnectionLimits().within(files)
        assert 0 < limits.per_address <= limits.total < files


def test_without_files_a_waiting_client_is_turned_away_and_nobody_spins(monkeypatch: pytest.MonkeyPatch) -> None:
    real_accept = socket.socket.accept
    full = True

    def accept(self: socket.socket) -> object:
        nonlocal full
        if full:
            full = False  # the reserved descriptor is free now
            raise OSError(errno.EMFILE, "Too many open files")
        return real_accept(self)

    with ListeningSocket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with closing(socket.create_connection(listening.getsockname(), timeout=120)) as client:
            monkeypatch.setattr(socket.socket, "accept", accept)
            with pytest.raises(BlockingIOError):
                listening.accept()
            assert received(client) == b""


def test_what_is_answered_is_sent_at_once() -> None:
    """Nagle's algorithm would hold the second packet of an answer until the client has acknowledged the first."""

    async def is_sent_at_once(listening: ListeningSocket) -> bool:
        accepted: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            client = writer.get_extra_info("socket")
            accepted.set_result(bool(client.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
            writer.close()

        async with await asyncio.start_server(accept, sock=listening):
            with closing(socket.create_connection(listening.getsockname(), timeout=30)):
                return await accepted

    with ListeningSocket() as listening:
        listening.bind(("127.0.0.1", 0))
        assert asyncio.run(is_sent_at_once(listening))


def test_a_line_that_repeats_is_written_once_a_minute() -> None:
    lines, now = list[str](), 0.0
    log = ThrottledLog(lines.append, 60, lambda: now)
    for now in (0.0, 1.0, 59.0, 60.0, 61.0):  # noqa: B007
        log("too many")
    assert lines == ["too many", "too many (2 times since the last such line)"]
