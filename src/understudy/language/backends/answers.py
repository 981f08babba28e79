"""Parses chat completions, whole or as chunks, and recognises what servers send instead of one.

A server may go on for ever: a text is cut at `max_letters`, and a thought is given up at `MAX_THOUGHT`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, TypeGuard

__all__ = [
    "MAX_LETTERS",
    "CompletionChoice",
    "CompletionResponse",
    "ServerFault",
    "ThoughtTooLong",
    "WrongAnswer",
    "error_message",
]

SURROGATE = re.compile("[\ud800-\udfff]")
LOG_PROBS = (-1e6, 1e-3)  # rounding may put one above zero
LENGTH = ("length", "max_tokens")
THINK, END_THINK = "<think>", "</think>"
MAX_LETTERS = 100_000  # of a text
MAX_THOUGHT = 400_000  # letters before the text begins
MAX_CHOICES = 128
MAX_TOKENS = 10_000_000  # of a prompt or a text that a server may say it has counted


class WrongAnswer(ValueError):
    """JSON that is no chat completion."""


class ServerFault(ValueError):
    """An error the server reports inside its answer."""


class ThoughtTooLong(ValueError):
    """Much was thought, and nothing said."""


@dataclass(slots=True)
class CompletionChoice:
    """One completion, filled chunk by chunk. Leading blanks and a <think> block are no part of its text."""

    max_letters: int = MAX_LETTERS
    texts: list[str] = field(default_factory=list)
    finish_reason: str = ""
    log_probs: list[float] = field(default_factory=list)
    refusal: str = ""
    has_thought: bool = False
    _start: str | None = ""
    """Blanks, what may be a <think> block, or the end of one that is open; None once the text has begun."""
    _is_thinking: bool = False
    _letters: int = 0
    """Of the text, or of what came before it while that has not begun."""

    @property
    def has_begun(self) -> bool:
        return self._start is None

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def is_full(self) -> bool:
        """Whether it was cut here: nothing more of it is taken."""
        return self.has_begun and self._letters >= self.max_letters

    @property
    def is_lost_in_thought(self) -> bool:
        return not self.has_begun and self._letters > MAX_THOUGHT

    @property
    def is_cut(self) -> bool:
        """Whether it ran into the limit of tokens."""
        return self.finish_reason in LENGTH

    def take(self, item: dict[str, Any], message: dict[str, Any]) -> tuple[str, bool]:
        """Take in a choice as it was sent; returns what is new of its text, and whether there is progress: a model may
        think before its text begins, but not for ever while it should be saying something."""
        content = message.get("content")
        if content is not None and not isinstance(content, str):
            raise WrongAnswer("has a content that is no text")
        thoughts = [message[key] for key in ("reasoning_content", "reasoning") if isinstance(message.get(key), str)]
        self.has_thought = self.has_thought or any(thoughts)
        if isinstance(refusal := message.get("refusal"), str):
            self.refusal += refusal
        self.log_probs += _log_probs(item.get("logprobs"))
        if isinstance(reason := item.get("finish_reason"), str) and not self.is_full:
            self.finish_reason = reason
        before_text = 0 if self.has_begun else len(content or "") + sum(map(len, thoughts))
        self._letters += before_text
        text = self._speak(SURROGATE.sub("\ufffd", content)) if content else ""
        return text, bool(text) or before_text > 0

    def _speak(self, text: str) -> str:
        """Append to the text; returns the part that is outside a <think> block, as far as it may go."""
        if self._start is not None:
            start = (self._start + text).lstrip()
            if self._is_thinking or start.startswith(THINK):
                self.has_thought = self._is_thinking = True
                thought, end, start = start.partition(END_THINK)
                self._is_thinking, start = not end, start.lstrip()
                is_open, self._start = not start, "" if end else thought[1 - len(END_THINK) :]
            else:
                is_open, self._start = THINK.startswith(start), start
            if is_open:
                self.log_probs.clear()  # they belong to the thought, not to the text
                return ""
            text, self._start, self._letters = start, None, 0
        text = text[: self.max_letters - self._letters]
        self._letters += len(text)
        if self._letters >= self.max_letters:
            self.finish_reason = LENGTH[0]
        if text:
            self.texts.append(text)
        return text


@dataclass(slots=True)
class CompletionResponse:
    """The choices of one response, filled by its documents."""

    max_letters: int = MAX_LETTERS
    choices: dict[int, CompletionChoice] = field(default_factory=dict)
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    stray: Any = None
    """A document without choices: quoted in the error message if nothing else came."""

    @property
    def has_begun(self) -> bool:
        """Whether a text has: until then all is thought."""
        return any(choice.has_begun for choice in self.choices.values())

    @property
    def is_finished(self) -> bool:
        return bool(self.choices) and all(choice.finish_reason for choice in self.choices.values())

    @property
    def is_full(self) -> bool:
        """Whether a text was cut here, whose server may go on for ever."""
        return any(choice.is_full for choice in self.choices.values())

    def finish(self) -> None:
        """Called where the server signals the end of its response."""
        for choice in self.choices.values():
            choice.finish_reason = choice.finish_reason or "stop"

    def add(self, document: Any, is_whole: bool) -> tuple[list[str], bool]:
        """Take in a chunk, or a whole response.

        Returns pieces of text of the first choice, and whether the model has made progress: said or thought something.
        """
        if not isinstance(document, dict):
            raise WrongAnswer("is no object")
        if document.get("error"):
            raise ServerFault(error_message(document) or "it does not say which")
        self._take_usage(document.get("usage"))
        choices = document.get("choices")
        if choices is None and not is_whole:
            self.stray = document
            return [], False
        if not isinstance(choices, list):
            raise WrongAnswer("has no choices" if choices is None else "has choices that are no list")
        pieces, has_progress = list[str](), False
        for position, item in enumerate(choices):
            index, message = _choice(item, position, "message" if is_whole else "delta")
            if len(self.choices) == MAX_CHOICES and index not in self.choices:
                raise WrongAnswer(f"has over {MAX_CHOICES} choices")
            text, has_changed = self.choices.setdefault(index, CompletionChoice(self.max_letters)).take(item, message)
            has_progress = has_progress or has_changed
            if not is_whole and self.choices[index].is_lost_in_thought:
                raise ThoughtTooLong
            if text and index == next(iter(self.choices)):
                pieces.append(text)
        if is_whole:
            self.finish()
        return pieces, has_progress

    def _take_usage(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self.prompt_tokens = _token_count(usage.get("prompt_tokens"), self.prompt_tokens)
            self.completion_tokens = _token_count(usage.get("completion_tokens"))


def _token_count(value: Any, default: int | None = None) -> int | None:
    is_likely = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS
    return value if is_likely else default


def _choice(item: Any, position: int, key: str) -> tuple[int, dict[str, Any]]:
    if not isinstance(item, dict):
        raise WrongAnswer("has a choice that is no object")
    index = item.get("index", position)
    message = item.get(key, item.get("message"))
    if message is None and item.get("finish_reason"):  # the last chunk of some servers has only the reason
        message = {}
    if not isinstance(index, int) or not isinstance(message, dict):
        raise WrongAnswer(f"has a choice without {key} or with a wrong index")
    return index, message


def _log_probs(logprobs: Any) -> list[float]:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return []
    values = [token.get("logprob") if isinstance(token, dict) else None for token in content]
    numbers = [float(value) for value in values if _is_log_prob(value)]
    # where one is NaN or missing, the others would not match their tokens
    return numbers if len(numbers) == len(values) else []


def _is_log_prob(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and LOG_PROBS[0] <= value <= LOG_PROBS[1]


def error_message(document: Any) -> str:
    """The message of an error document, in the forms in which servers send it."""
    if not isinstance(document, dict):
        return ""
    for value in (document.get("error"), document):
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            for key in ("message", "detail", "error"):
                if isinstance(value.get(key), str):
                    return str(value[key])
    return ""
