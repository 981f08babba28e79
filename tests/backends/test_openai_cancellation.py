"""Whoever waits for a server, in whatever state, is woken by a cancellation from another thread."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from threading import Thread
from time import monotonic, sleep

import pytest

from llmclient import MESSAGES, Open, exhaust, requests_of, streamed
from llmserver import Running
from understudy.backends.openai_api import OpenAIBackend
from understudy.cancellation import Cancellation
from understudy.dialogue import Sampling
from understudy.errors import BackendError

WAKING_S = 3  # a hundredth is usual; whoever is not woken waits for 30


def cancelled_after(seconds: float, work: Callable[[Cancellation], object]) -> tuple[object, float]:
    """What the work gives that is cancelled from another thread, and how long it took to end after that."""
    cancellation, results = Cancellation(), list[object]()

    def run() -> None:
        try:
            results.append(work(cancellation))
        except BaseException as error:
            results.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert thread.is_alive(), results
    start = monotonic()
    cancellation.cancel()
    thread.join(10)
    assert not thread.is_alive()
    return results[0], monotonic() - start


@pytest.mark.parametrize(
    ("scenario", "text"),
    [
        ("no-headers", ""),
        ("half-head", ""),
        ("no-token", ""),
        ("comments", ""),
        ("stalls?after=3", "The tide was"),
        ("status?code=429&retry_after=15", ""),
    ],
)
def test_cancelling_wakes_whoever_waits(open_backend: Open, llm_server: Running, scenario: str, text: str) -> None:
    backend = open_backend(scenario)
    result, seconds = cancelled_after(
        0.5, lambda cancellation: exhaust(backend.stream(MESSAGES, Sampling(), cancellation))
    )
    assert isinstance(result, tuple)
    pieces, completion = result
    assert (completion.text, completion.finish_reason, "".join(pieces)) == (text, "cancelled", text)
    assert seconds < WAKING_S
    assert len(requests_of(llm_server, backend)) == 1


@pytest.mark.parametrize("scenario", ["no-headers", "stalls", "ignores-n?rate=0.1"])
def test_cancelling_wakes_whoever_waits_for_several(open_backend: Open, scenario: str) -> None:
    backend = open_backend(scenario)
    backend._ignores_n = True
    result, seconds = cancelled_after(0.5, lambda cancellation: backend.complete(MESSAGES, Sampling(n=3), cancellation))
    assert isinstance(result, list)
    assert [completion.finish_reason for completion in result] == ["cancelled"] * 3
    assert seconds < WAKING_S


def test_cancelling_wakes_whoever_connects(open_backend: Open) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]  # nobody accepts: the queue is full, and nobody else gets in
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(address)
        backend = open_backend("say", url=f"http://127.0.0.1:{address[1]}/v1")
        result, seconds = cancelled_after(
            0.5, lambda cancellation: exhaust(backend.stream(MESSAGES, Sampling(), cancellation))
        )
        assert isinstance(result, tuple) and result[1].finish_reason == "cancelled"
        assert seconds < WAKING_S
        with pytest.raises(BackendError, match=r"cannot be reached \(no connection within 0\.1 s\)"):
            streamed(replace_settings(backend, connect_timeout_s=0.1))
        for sock in waiting:
            sock.close()


def replace_settings(backend: OpenAIBackend, **changes: object) -> OpenAIBackend:
    return OpenAIBackend(replace(backend._settings, **changes))  # type: ignore[arg-type]


def test_who_is_cancelled_before_asks_for_nothing(open_backend: Open, llm_server: Running) -> None:
    cancellation, backend = Cancellation(), open_backend("say")
    cancellation.cancel()
    assert exhaust(backend.stream(MESSAGES, Sampling(), cancellation))[1].finish_reason == "cancelled"
    assert [done.finish_reason for done in backend.complete(MESSAGES, Sampling(n=2), cancellation)] == ["cancelled"] * 2
    assert not requests_of(llm_server, backend)


def test_closing_a_stream_ends_the_request(open_backend: Open, llm_server: Running) -> None:
    backend = open_backend("stalls?after=2")
    generator = backend.stream(MESSAGES, Sampling())
    assert next(generator) == "The"
    [request] = llm_server.events("request", backend._settings.model)
    generator.close()
    end = monotonic() + 10
    while request["id"] not in [entry["id"] for entry in llm_server.events("disconnected")]:
        assert monotonic() < end
        sleep(0.02)
