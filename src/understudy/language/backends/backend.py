"""What every back end can do, and what it gives back."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Protocol, runtime_checkable

from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling, Usage

__all__ = ["Backend", "Completion", "ScoringBackend", "estimate_tokens"]

CHARACTERS_PER_TOKEN = 4
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
