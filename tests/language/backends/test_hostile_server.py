"""Whatever bytes a server sends, the back end gives text or a BackendError, and never anything else."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import BackendError
from understudy.language.backends.openai_api import OpenAIBackend
from understudy.language.backends.settings import LLMSettings
from understudy.story.dialogue import ChatMessage, Sampling

CHUNKS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Good"}}]},
    {
        "choices": [
            {"index": 0, "delta": {"content": " evening, \U0001f30a."}, "logprobs": {"content": [{"logprob": -1}]}}
        ]
    },
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
]
EVENTS = "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in CHUNKS) + "data: [DONE]\n\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + EVENTS.encode()
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (
    len(EVENTS.encode()),
    EVENTS.encode(),
)
WHOLE = b'HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n{"choices": [{"message": {"content": "Good evening, you"}}]}'
REFUSED = b'HTTP/1.1 429 Slow\r\nRetry-After: 0\r\nContent-Length: 38\r\n\r\n{"error": {"message": "n", "param":1}}'


class ReplayServer:
    """Answers every request with the same bytes."""

    def __init__(self) -> None:
        self.answer = b""
        self.listener = socket.create_server(("127.0.0.1", 0))
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with suppress(OSError), connection:
                    connection.recv(65536)
                    connection.sendall(self.answer)


@pytest.fixture(scope="module")
def server() -> Iterator[ReplayServer]:
    server = ReplayServer()
    yield server
    server.listener.close()


def values() -> st.SearchStrategy[object]:
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    return st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys(), inner, max_size=4))


def keys() -> st.SearchStrategy[str]:
    names = "choices index delta message content finish_reason logprobs logprob usage prompt_tokens error param".split()
    return st.sampled_from(names) | st.text(max_size=3)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A sound answer with some of its bytes cut off, changed or put in."""
    data = bytearray(draw(st.sampled_from([STREAM, CHUNKED, WHOLE, REFUSED])))
    for _ in range(draw(st.integers(0, 4))):
        position = draw(st.integers(0, max(0, len(data) - 1)))
        data[position : position + draw(st.integers(0, 3))] = draw(st.binary(max_size=4))
    return bytes(data[: draw(st.integers(0, len(data)))]) if draw(st.booleans()) else bytes(data)


def documents() -> st.SearchStrategy[bytes]:
    """JSON that has what an answer has, but not where or as an answer has it."""
    start = b"HTTP/1.1 200 OK\r\n\r\n"
    streams = st.lists(values(), max_size=4).map(
        lambda all_: b"".join(b"data: %s\n\n" % sent(document) for document in all_)
    )
    return (streams | values().map(sent)).map(lambda body: start + body)


def sent(value: object) -> bytes:
    return json.dumps(value).encode()


@given(st.one_of(damaged(), documents(), st.binary(max_size=300)))
def test_it_gives_text_or_a_back_end_error(server: ReplayServer, answer: bytes) -> None:
    server.answer = answer
    url = f"http://127.0.0.1:{server.listener.getsockname()[1]}/v1"
    backend = OpenAIBackend(
        LLMSettings("test", url, "any", "sk-1", timeout_s=5, token_timeout_s=5, retries=1, backoff_s=0, logprobs=True)
    )
    with suppress(BackendError):
        pieces = list(backend.stream([ChatMessage("user", "Good evening.")], Sampling()))
        assert "".join(pieces).strip()
        "".join(pieces).encode("utf-8")
    with suppress(BackendError):
        for completion in backend.complete([ChatMessage("user", "Good evening.")], Sampling(n=2)):
            assert completion.text.strip()
            assert completion.finish_reason in ("stop", "length")


@pytest.mark.parametrize("answer", [STREAM, CHUNKED, WHOLE])
def test_what_is_not_damaged_is_understood(server: ReplayServer, answer: bytes) -> None:
    server.answer = answer
    url = f"http://127.0.0.1:{server.listener.getsockname()[1]}/v1"
    [completion] = OpenAIBackend(LLMSettings("test", url, "any", retries=0)).complete(
        [ChatMessage("user", "Good evening.")], Sampling()
    )
    assert completion.text.startswith("Good evening")
