"""A language model asked live or through files, with the same answers: what it says follows from the request."""

from __future__ import annotations

import json
import zlib
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.language.backends.backend import Completion
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling

__all__ = ["LiveModel", "answer_of", "answer_requests", "completion_line", "requests_in"]

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
