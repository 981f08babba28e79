"""Whoever waits for a server, in whatever state, is woken by a cancellation from another thread."""

from __future__ import annotations

import socket
from dataclasses import replace
from threading import Event

import pytest

from llmclient import FOREVER_S, MESSAGES, Open, cancelled_while_waiting, exhaust, requests_of, streamed
from llmserver import Running
from timing import until
from understudy.errors import BackendError
from understudy.language.backends import Completion, openai_api
from understudy.language.backends.openai_api import OpenAIBackend
from understudy.progress import Cancellation
from understudy.story.dialogue import Sampling


def open_patient(open_backend: Open, scenario: str) -> OpenAIBackend:
    """A back end that gives up in no time that a test lasts."""
    return open_backend(scenario, timeout_s=FOREVER_S, token_timeout_s=FOREVER_S, connect_timeout_s=FOREVER_S)


@pytest.mark.parametrize(
    ("scenario", "text"),
    [
        ("no-headers", ""),
        ("half-head", ""),
        ("no-token", ""),
        ("comments", ""),
        ("stalls?after=3", "The tide was"),
        (f"status?code=429&retry_after={FOREVER_S}", ""),
    ],
)
def test_cancelling_wakes_whoever_waits(
    open_backend: Open, llm_server: Running, monkeypatch: pytest.MonkeyPatch, scenario: str, text: str
) -> None:
    monkeypatch.setattr(openai_api, "LONGEST_PAUSE_S", FOREVER_S)
    backend, pieces = open_patient(open_backend, scenario), list[str]()

    def stream(cancellation: Cancellation) -> Completion:
        stream = backend.stream(MESSAGES, Sampling(), cancellation)
        while True:
            try:
                pieces.append(next(stream))
            except StopIteration as stop:
                completion: Completion = stop.value
                return completion

    completion = cancelled_while_waiting(
        stream, lambda: requests_of(llm_server, backend) and len("".join(pieces)) >= len(text)
    )
    assert isinstance(completion, Completion)
    assert (completion.text, completion.finish_reason, "".join(pieces)) == (text, "cancelled", text)
    assert len(requests_of(llm_server, backend)) == 1


@pytest.mark.parametrize("scenario", ["no-headers", "stalls", f"ignores-n?rate={1 / FOREVER_S}"])
def test_cancelling_wakes_whoever_waits_for_several(open_backend: Open, llm_server: Running, scenario: str) -> None:
    backend = open_patient(open_backend, scenario)
    backend._ignores_n = True
    result = cancelled_while_waiting(
        lambda cancellation: backend.complete(MESSAGES, Sampling(n=3), cancellation),
        lambda: len(requests_of(llm_server, backend)) == 3,
    )
    assert isinstance(result, list)
    assert [completion.finish_reason for completion in result] == ["cancelled"] * 3


def test_cancelling_wakes_whoever_connects(open_backend: Open) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]  # nobody accepts: the queue is full, and nobody else gets in
        for sock in waiting:
            sock.setblocking(False)
            sock.connect_ex(address)
        backend = open_backend("say", url=f"http://127.0.0.1:{address[1]}/v1", connect_timeout_s=FOREVER_S)
        has_begun = Event()

        def stream(cancellation: Cancellation) -> object:
            has_begun.set()
            return exhaust(backend.stream(MESSAGES, Sampling(), cancellation))

        result = cancelled_while_waiting(stream, has_begun.is_set)
        assert isinstance(result, tuple) and result[1].finish_reason == "cancelled"
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
    until(lambda: request["id"] in [entry["id"] for entry in llm_server.events("disconnected")])
