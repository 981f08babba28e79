"""Back ends that complete a prompt: an OpenAI-compatible server, files of requests, or a GGUF model in this process.

What every back end can do and gives back; one with a log of its prompts, and one that is scripted, for tests.

A log is kept only where UNDERSTUDY_LOG_PROMPTS names a file for it. One JSON object a line: {time, backend, messages,
text, usage}, and `error` where there was one. Only the user can read the file. Keys are no part of a prompt, and no
back end tells its key.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Generator, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Protocol, runtime_checkable

from understudy.errors import BackendError, InputError
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling, Streamed, Usage

__all__ = [
    "Backend", "Completion", "ScoringBackend", "ScriptedBackend", "estimate_tokens", "open_batch", "open_llm",
    "open_local",
]  # fmt: skip


CHARACTERS_PER_TOKEN = 4
PIECE = re.compile(r"\s*\S+|\s+")
VARIABLE = "UNDERSTUDY_LOG_PROMPTS"
FIRST_WIDE = "\u2e80"  # from here on the scripts of East Asia, whose characters are about a token each


@dataclass(frozen=True, slots=True)
class Completion:
    """A text that completes a prompt. `finish_reason` is 'stop', 'length' or, where it was cancelled, 'cancelled'."""

    text: str
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    log_probs: tuple[float, ...] | None = None
    """Of each token, where the back end gives them."""


class Backend(Protocol):
    """A language model. Thread-safe; every failure is a `BackendError` that says what to do."""

    @property
    def name(self) -> str:
        """How `--agent` names it: 'llm:MODEL', 'local:MODEL', 'batch:FOLDER'."""

    @property
    def context_tokens(self) -> int:
        """How many tokens prompt and reply may have together."""

    def count_tokens(self, text: str) -> int:
        """The length of a text in tokens; an estimate where the model's tokenizer is out of reach."""

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        """One completion, piece by piece; the pieces joined are its text."""

    def complete(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> list[Completion]:
        """`sampling.n` completions of one prompt."""


@runtime_checkable
class ScoringBackend(Protocol):
    """A back end that can also tell how probable a given reply is."""

    def reply_log_probs(self, messages: Sequence[ChatMessage], text: str) -> list[float]:
        """The log-probability of each token of a reply to a prompt; the last token is the end of the reply."""


def estimate_tokens(text: str) -> int:
    """How many tokens a text is, about: four characters a token, East Asian ones one each."""
    wide = 0 if text.isascii() else sum(character >= FIRST_WIDE for character in text)
    return wide + ceil((len(text) - wide) / CHARACTERS_PER_TOKEN)


class ScriptedBackend:
    """Gives the n-th of its texts where the prompt has n - 1 assistant messages, beginning again after the last.

    Further completions of the same prompt are the texts that follow. A token is a word. `requests` keeps every prompt
    with its sampling; what is asked does not depend on what was asked before.
    """

    def __init__(
        self,
        texts: Iterable[str],
        finish_reason: str = "stop",
        context_tokens: int = 8192,
        error: BackendError | None = None,
        name: str = "scripted",
    ) -> None:
        """`error` is raised after the first piece of a stream, and instead of a completion."""
        self.texts = tuple(texts) or ("",)
        self.requests: list[tuple[tuple[ChatMessage, ...], Sampling]] = []
        self.name, self.context_tokens = name, context_tokens
        self._finish_reason, self._error = finish_reason, error

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        self.requests.append((tuple(messages), sampling))
        whole = self._completion(messages, sampling, 0)
        written = ""
        for piece in PIECE.findall(whole.text):
            if cancellation is not None and cancellation.is_cancelled:
                return Completion(written, "cancelled", whole.usage)
            yield piece
            written += piece
            if self._error is not None:
                raise self._error
        return whole

    def complete(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> list[Completion]:
        self.requests.append((tuple(messages), sampling))
        if self._error is not None:
            raise self._error
        if cancellation is not None and cancellation.is_cancelled:
            return [Completion("", "cancelled")]
        return [self._completion(messages, sampling, number) for number in range(sampling.n)]

    def _completion(self, messages: Sequence[ChatMessage], sampling: Sampling, number: int) -> Completion:
        due = sum(message.role == "assistant" for message in messages) + number
        pieces = PIECE.findall(self.texts[due % len(self.texts)])
        is_cut = sampling.max_tokens is not None and len(pieces) > sampling.max_tokens
        pieces = pieces[: sampling.max_tokens]
        usage = Usage(1, sum(self.count_tokens(message.content) for message in messages), len(pieces))
        return Completion("".join(pieces), "length" if is_cut else self._finish_reason, usage)


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
        self.name = backend.name
        self._backend, self._path = backend, path
        try:
            self._append("")
        except OSError as error:
            raise InputError(f"{VARIABLE} names a file that cannot be written to: {error.strerror}", path) from error

    @property
    def context_tokens(self) -> int:
        return self._backend.context_tokens

    def count_tokens(self, text: str) -> int:
        return self._backend.count_tokens(text)

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancellation: Cancellation | None = None
    ) -> Generator[str, None, Completion]:
        pieces, usage, problem = list[str](), Usage(), "closed before its end"
        streamed = Streamed(self._backend.stream(messages, sampling, cancellation))
        try:
            for piece in streamed:
                pieces.append(piece)
                yield piece
            usage, problem = streamed.value.usage, ""
            return streamed.value
        except BackendError as error:
            problem = str(error)
            raise
        finally:
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


def open_batch(folder: str) -> Backend:
    """A model that is asked through files of a folder, which need not be there yet; the answers it has are read."""
    from understudy.language.backends.batch_files import BatchBackend
    from understudy.language.backends.settings import model_settings

    return BatchBackend(Path(folder), model_settings())


def open_llm(name: str | None = None) -> Backend:
    """The back end of an entry of models.toml, of a model on the server that is set up, or of the default."""
    from understudy.language.backends.openai_api import OpenAIBackend  # HTTP and TLS are slow to import
    from understudy.language.backends.settings import llm_settings

    return logged(OpenAIBackend(llm_settings(name)))


def open_local(model: str, adapter: Path | None = None) -> Backend:
    """The GGUF model of a name that `understudy models` knows, or of a path; one for all of this process.

    :raises BackendError: it is not on this machine.
    :raises MissingExtra: xllamacpp is not installed.
    """
    from understudy.language.backends.catalog import find_model
    from understudy.language.backends.llamacpp import shared_backend

    return logged(shared_backend(find_model(model), adapter, model))
