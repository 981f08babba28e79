"""A log of prompts and replies, kept only where UNDERSTUDY_LOG_PROMPTS names a file for it.

One JSON object a line: {time, backend, messages, text, usage}, and `error` where there was one. Only the user can read
the file. Keys are no part of a prompt, and no back end tells its key.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Generator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from understudy.errors import BackendError, InputError
from understudy.language.backends.backend import Backend, Completion, ScoringBackend
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling, Usage

__all__ = ["LoggedBackend", "logged"]

VARIABLE = "UNDERSTUDY_LOG_PROMPTS"


def logged(backend: Backend) -> Backend:
    """The back end, wrapped in a log of prompts and replies if the user has switched it on."""
    path = os.environ.get(VARIABLE)
    if not path:
        return backend
    wrapper = LoggedScoringBackend if isinstance(backend, ScoringBackend) else LoggedBackend
    return wrapper(backend, Path(path))


class LoggedBackend:
    """A back end whose prompts and replies are appended to a file."""

    def __init__(self, backend: Backend, path: Path) -> None:
        self._backend, self._path = backend, path
        try:
            self._append("")
        except OSError as error:
            raise InputError(f"{VARIABLE} names a file that cannot be written to: {error.strerror}", path) from error

    @property
    def name(self) -> str:
        return self._backend.name

    @property
    def context_tokens(self) -> int:
        return self._backend.context_tokens

    def count_tokens(self, text: str) -> int:
        return self._backend.count_tokens(text)

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        pieces, usage, problem = list[str](), Usage(), "closed before its end"
        generator = self._backend.stream(messages, sampling, cancellation)
        try:
            while True:
                try:
                    piece = next(generator)
                except StopIteration as stop:
                    completion: Completion = stop.value
                    break
                pieces.append(piece)
                yield piece
            usage, problem = completion.usage, ""
            return completion
        except BackendError as error:
            problem = str(error)
            raise
        finally:
            generator.close()
            self._log(messages, "".join(pieces), usage, problem)

    def complete(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> list[Completion]:
        try:
            completions = self._backend.complete(messages, sampling, cancellation)
        except BackendError as error:
            self._log(messages, "", Usage(), str(error))
            raise
        for completion in completions:
            self._log(messages, completion.text, completion.usage)
        return completions

    def _log(self, messages: Sequence[ChatMessage], text: str, usage: Usage, error: str = "") -> None:
        entry = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "backend": self.name,
            "messages": [asdict(message) for message in messages],
            "text": text,
            "usage": asdict(usage),
            **({"error": error} if error else {}),
        }
        try:
            self._append(json.dumps(entry, ensure_ascii=False) + "\n")
        except OSError as failed:
            raise BackendError(
                f"the prompt log cannot be written ({failed.strerror}: {self._path}): mend that, or unset {VARIABLE}"
            ) from failed

    def _append(self, line: str) -> None:
        # One write to a file opened for appending: lines of several threads and processes do not mix.
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if hasattr(os, "fchmod") and stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.fchmod(descriptor, 0o600)
            os.write(descriptor, line.encode("utf-8", "replace"))
        finally:
            os.close(descriptor)


class LoggedScoringBackend(LoggedBackend):
    """One that can score replies as well: these are given, not written, and are not logged."""

    def reply_log_probs(self, messages: Sequence[ChatMessage], text: str) -> list[float]:
        assert isinstance(self._backend, ScoringBackend)
        return self._backend.reply_log_probs(messages, text)
