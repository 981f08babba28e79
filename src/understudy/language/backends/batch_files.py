"""A language model that is asked through files, as OpenAI's Batch API takes them: half the price, and no server.

    requests-1.jsonl    {"custom_id", "method", "url", "body": {"model", "messages", "temperature", ...}}
    any other *.jsonl   {"custom_id", "response": {"status_code", "body": a chat completion}, "error"}, as a batch gives
                        it back, or {"custom_id", "text"} of whoever answers otherwise

An answer is found by its request's id, a hash of what is asked, in whatever run and order it is asked for again. What
is not answered yet raises `MissingAnswer`; `write_requests` writes down what a run has collected of these.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.client import HTTPMessage
from pathlib import Path
from typing import Any

from understudy.errors import InputError, MissingAnswer
from understudy.language.backends import Completion, estimate_tokens
from understudy.language.backends.answers import (
    CompletionResponse,
    Failure,
    Failures,
    ServerFault,
    WrongAnswer,
    error_message,
)
from understudy.language.backends.chat_endpoint import PATH, request_body
from understudy.language.backends.settings import LLMSettings
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling, Usage

REQUESTS = re.compile(r"requests-(\d+)\.jsonl")
MAX_REQUESTS, MAX_BYTES = 50_000, 200_000_000  # of one file: OpenAI takes no more
ID_LENGTH = 32  # hexadecimal digits
OK = 200
FORMS = 'an answer is {"custom_id", "response", "error"}, or {"custom_id", "text"}'
SHOWN = 3  # files or failures that a message names


class BatchBackend:
    """One model, whose answers are looked up in a folder."""

    def __init__(self, folder: Path, settings: LLMSettings) -> None:
        self._folder, self._settings = folder, settings
        self._files = _BatchFiles(folder, settings)
        self.name, self.context_tokens = f"batch:{folder}", settings.context_tokens

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        """The whole text in one piece."""
        (completion,) = self.complete(messages, replace(sampling, n=1), cancellation)
        yield completion.text
        return completion

    def complete(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        cancellation: Cancellation | None = None,  # noqa: ARG002 - there is no waiting
    ) -> list[Completion]:
        """Each completion is a request of its own: not every model gives several, or several seeds one text."""
        completions, missing = list[Completion](), dict[tuple[Path, str], Mapping[str, Any]]()
        for number in range(sampling.n):
            seed = None if sampling.seed is None else sampling.seed + number
            single = replace(sampling, n=1, seed=seed)
            request_id = _request_id(request_body(self._settings, messages, single), number)
            if (answer := self._files.answers.get(request_id)) is not None:
                prompt = answer.usage.prompt_tokens or sum(estimate_tokens(message.content) for message in messages)
                completions.append(replace(answer, usage=replace(answer.usage, prompt_tokens=prompt)))
            else:
                body = request_body(self._settings, messages, single, self._files.refused_fields)
                missing[self._folder, request_id] = body
        if missing:
            raise MissingAnswer(missing)
        return completions


def write_requests(missing: Mapping[tuple[Path, str], Mapping[str, Any]]) -> str:
    """Write those requests into their folders that are not there yet, or whose answers failed; says what to do."""
    by_folder: dict[Path, dict[str, Mapping[str, Any]]] = {}
    for (folder, request_id), body in missing.items():
        by_folder.setdefault(folder, {})[request_id] = body
    return "; ".join(_write_into(folder, bodies) for folder, bodies in by_folder.items())


def _write_into(folder: Path, bodies: Mapping[str, Mapping[str, Any]]) -> str:
    model = str(next(iter(bodies.values()))["model"])
    files = _BatchFiles(folder, LLMSettings(model, "", model))
    due = [
        {"custom_id": request_id, "method": "POST", "url": f"/v1{PATH}", "body": body}
        for request_id, body in bodies.items()
        if len(files.sent.get(request_id, ())) <= len(files.failures.get(request_id, ()))
    ]
    new = [files.add(chunk) for chunk in _chunks(due)]
    sent = dict.fromkeys(files.sent[request_id][-1] for request_id in bodies)
    what = f"send {_listed(new)}, put the answers" if new else f"put those to {_listed(list(sent))}"
    text = (
        f"{len(bodies):,} answers are missing ({len(files.sent.keys() & files.answers):,} of {len(files.sent):,} are "
        f"there): {what} beside it (any *.jsonl), run the same command again"
    )
    failures = [each for request_id in bodies for each in files.failures.get(request_id, ())[-1:]]
    if failures:
        text += f". {len(failures):,} answers failed: {_listed(failures)}"
    if strangers := (files.answers.keys() | files.failures.keys()) - files.sent.keys():
        text += f". {len(strangers):,} answers are to no request of {folder}"
    return text


@dataclass(slots=True)
class _BatchFiles:
    """What a folder has: requests that were written, answers, and answers that are none."""

    folder: Path
    settings: LLMSettings
    sent: dict[str, list[Path]] = field(default_factory=dict)
    """The files that each request was written into."""
    answers: dict[str, Completion] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)
    refused_fields: set[str] = field(default_factory=set)
    """Fields of requests that the model was found not to take."""
    _last: int = 0

    def __post_init__(self) -> None:
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError("is a file: name a folder for requests and answers, as in batch:FOLDER", self.folder)
        for path in sorted(self.folder.glob("*.jsonl")):
            match = REQUESTS.fullmatch(path.name)
            if match:
                self._last = max(self._last, int(match[1]))
            for number, request_id, line in _lines(path):
                if match:
                    self.sent.setdefault(request_id, []).append(path)
                else:
                    self._add_answer(request_id, line, path, number)

    def add(self, requests: Sequence[bytes]) -> Path:
        """Write a new file of requests, which is never seen half written."""
        self.folder.mkdir(parents=True, exist_ok=True)
        partial = self.folder / f".requests.{os.getpid()}.partial"
        try:
            with partial.open("wb") as file:
                file.writelines(requests)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path := self._next_path())
        finally:
            partial.unlink(missing_ok=True)
        for _, request_id, _ in _lines(path):
            self.sent.setdefault(request_id, []).append(path)
        return path

    def _next_path(self) -> Path:
        """A new name, taken by an empty file: another process may write into the folder too."""
        while True:
            self._last += 1
            path = self.folder / f"requests-{self._last}.jsonl"
            with suppress(FileExistsError):
                path.touch(exist_ok=False)
                return path

    def _add_answer(self, request_id: str, line: Mapping[str, Any], path: Path, number: int) -> None:
        if isinstance(text := line.get("text"), str):
            self.answers[request_id] = Completion(text, usage=Usage(1, 0, estimate_tokens(text)))
            return
        failures = Failures(f"request {request_id}", f"{path}:{number}", self.settings)
        try:
            self.answers[request_id] = _completion(line, failures)
        except WrongAnswer as error:
            raise InputError(f"{error}: {FORMS}", path, number) from None
        except Failure as failure:
            self.failures.setdefault(request_id, []).append(str(failure))
            self.refused_fields |= {failure.refused_field} - {""}


def _completion(line: Mapping[str, Any], failures: Failures) -> Completion:
    """The completion that a line of a batch's output holds."""
    response = line.get("response")
    if not isinstance(response, dict):
        if line.get("error"):
            raise failures.server_fault(error_message(line) or json.dumps(line["error"]))
        raise WrongAnswer("has neither a text nor a response nor an error")
    status, body = response.get("status_code", OK), response.get("body", response)  # of vLLM it may be the completion
    if not isinstance(status, int):
        raise WrongAnswer("has a status_code that is no number")
    if status != OK:
        raise failures.status(status, HTTPMessage(), json.dumps(body))
    answer = CompletionResponse()
    try:
        answer.add(body, is_whole=True)
    except ServerFault as fault:
        raise failures.server_fault(str(fault)) from None
    except WrongAnswer as wrong:
        raise WrongAnswer(f"has a body that {wrong}") from None
    if not answer.choices:
        raise WrongAnswer("has a body that has no choices")
    choice = answer.choices[min(answer.choices)]
    usage = Usage(1, answer.prompt_tokens or 0, answer.completion_tokens or estimate_tokens(choice.text))
    return Completion(choice.text, "length" if choice.is_cut else "stop", usage, tuple(choice.log_probs) or None)


def _request_id(body: Mapping[str, Any], number: int) -> str:
    return hashlib.sha256(json.dumps([body, number], sort_keys=True).encode()).hexdigest()[:ID_LENGTH]


def _chunks(requests: Sequence[Mapping[str, Any]]) -> Iterator[list[bytes]]:
    """Lines of one file each."""
    chunk, size = list[bytes](), 0
    for request in requests:
        line = json.dumps(request).encode("ascii") + b"\n"
        if chunk and (len(chunk) == MAX_REQUESTS or size + len(line) > MAX_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        yield chunk


def _lines(path: Path) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """The objects of a file of JSON lines, with their line numbers and ids."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                document = json.loads(line.decode("utf-8-sig"))
            except (ValueError, RecursionError) as error:
                raise InputError(f"is not JSON ({error}): is the file whole?", path, number) from None
            if not isinstance(document, dict) or not isinstance(request_id := document.get("custom_id"), str):
                raise InputError(f"has no custom_id: {FORMS}", path, number)
            yield number, request_id, document


def _listed(items: Sequence[object]) -> str:
    more = f" and {len(items) - SHOWN:,} more" if len(items) > SHOWN else ""
    return ", ".join(map(str, items[:SHOWN])) + more
