"""What tests of OpenAIBackend share: a prompt, a key, and the whole of a stream."""

from __future__ import annotations

from collections.abc import Callable, Generator
from threading import Thread

from llmserver import Running
from understudy.language.backends import Completion
from understudy.language.backends.openai_api import OpenAIBackend
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling
from waiting import PATIENCE_S, until

__all__ = [
    "FOREVER_S",
    "KEY",
    "MESSAGES",
    "Open",
    "cancelled_while_waiting",
    "exhaust",
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
