"""What tests of OpenAIBackend share: a prompt, a key, and the whole of a stream."""

from __future__ import annotations

from collections.abc import Callable, Generator

from llmserver import Running
from understudy.backends import Completion
from understudy.backends.openai_api import OpenAIBackend
from understudy.dialogue import ChatMessage, Sampling

__all__ = ["KEY", "MESSAGES", "Open", "exhaust", "requests_of", "streamed"]

MESSAGES = [ChatMessage("system", "You are Zita."), ChatMessage("user", "Who wrote it?")]
KEY = "sk-secret-7f3a"

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
