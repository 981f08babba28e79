"""A back end with fixed texts, for tests of programs that talk to a language model."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Sequence

from understudy.errors import BackendError
from understudy.language.backends.backend import Completion
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling, Usage

__all__ = ["ScriptedBackend"]

PIECE = re.compile(r"\s*\S+|\s+")


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
        self._finish_reason, self._context_tokens, self._error, self._name = finish_reason, context_tokens, error, name

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_tokens(self) -> int:
        return self._context_tokens

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
