"""Parses chat completions, whole or as chunks, and recognises what servers send instead of one; what can go wrong.

A server may go on for ever: a text is cut at `max_letters`, and a thought is given up at `MAX_THOUGHT`.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPMessage
from typing import Any, TypeGuard
from urllib.parse import unquote

from understudy.errors import BackendError
from understudy.language.backends.exchange import CertificateRefused, ConnectFailed
from understudy.language.backends.settings import LLMSettings

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


# What can go wrong with a request to a language model: the error message, and whether a retry may help.


NEVER, ONCE, ALWAYS = 0, 1, 1_000
TRANSIENT = {408, 409, 425, 429}
SHOWN = 200
WORD = re.compile(r"[^\s\"'{}\[\](),:;<>]+")
KEY_PART = 6  # so many letters of a key in a row are not shown, in whatever case or encoding
HTML = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|title)\b", re.IGNORECASE | re.DOTALL)
TITLE = re.compile(r"<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
OPTIONAL_FIELDS = tuple(  # of a request: what a server may refuse and still answer without
    "stream_options max_completion_tokens max_tokens logprobs seed temperature top_p stop n".split()
)
QUOTED_N = re.compile(r"""(['"`])n\1""")
UNSUPPORTED = re.compile(
    r"un(?:supported|recogni[sz]ed|known|expected)|not (?:supported|permitted|allowed)|extra", re.I
)


class Failure(BackendError):
    """A request that failed; `retries` is how often another try is worth it."""

    def __init__(
        self, message: str, retries: int = NEVER, retry_after_s: float | None = None, refused_field: str = ""
    ) -> None:
        super().__init__(message)
        self.retries, self.retry_after_s, self.refused_field = retries, retry_after_s, refused_field


class Failures:
    """Creates the failures of one back end. Messages never contain the key, even where the server echoes it."""

    def __init__(self, name: str, url: str, settings: LLMSettings) -> None:
        self._start, self._settings = f"{name} at {url}", settings
        self._key_parts = _key_parts(settings.key or "")

    def connection(self, error: Exception) -> Failure:
        if isinstance(error, CertificateRefused):
            return self._failure(f"its certificate is not trusted ({self.excerpt(str(error))}): is the URL right?")
        if isinstance(error, ConnectFailed):
            reason = self.excerpt(str(error))
            return self._failure(f"cannot be reached ({reason}): is the server running, and the URL right?", ALWAYS)
        return self._failure(f"the connection broke off ({self._reason(error)}): is it a server of this kind?", ALWAYS)

    def timeout(self, has_begun: bool) -> Failure:
        if has_begun:
            waited, setting = self._settings.token_timeout_s, "token_timeout_s"
            return self._failure(f"sent nothing more for {waited:g} s ({setting} in models.toml)", ONCE)
        waited, setting = self._settings.timeout_s, "timeout_s"
        return self._failure(f"did not answer within {waited:g} s: is it overloaded? ({setting} in models.toml)", ONCE)

    def cut_off(self) -> Failure:
        return self._failure("the answer ended in the middle", ALWAYS)

    def too_long(self) -> Failure:
        return self._failure("the answer does not end: set max_tokens")

    def thought_too_long(self) -> Failure:
        return self._failure("thought without end, and said nothing: let it think less, or use another model")

    def not_json(self, text: str) -> Failure:
        if HTML.match(text):
            title = TITLE.search(text)
            page_title = self.excerpt(title[1] if title else text)
            return self._failure(f"sent a web page ({page_title}) instead of an answer: does the URL end in /v1?")
        return self._failure(f"sent what is no answer: {self.excerpt(text)}", ALWAYS)

    def wrong_answer(self, problem: str, document: Any) -> Failure:
        text = self.excerpt(json.dumps(document, ensure_ascii=False))
        return self._failure(f"sent JSON that is no answer, it {problem}: {text}", ALWAYS)

    def server_fault(self, message: str) -> Failure:
        return self._failure(f"reports an error: {self.excerpt(message)}", ALWAYS)

    def empty(self, choice: CompletionChoice | None) -> Failure:
        if choice is not None and choice.refusal:
            return self._failure(f"refused to answer: {self.excerpt(choice.refusal)}")
        if choice is not None and choice.finish_reason == "content_filter":
            return self._failure("its content filter kept the answer back")
        if choice is not None and choice.has_thought:
            return self._failure(
                "thought, but said nothing: allow more tokens (max_tokens), or use another model", ONCE
            )
        return self._failure("answered with nothing", ALWAYS)

    def status(self, status: int, headers: HTTPMessage, body: str) -> Failure:
        if 300 <= status < 400:
            target = self.excerpt(headers.get("Location", "") or "somewhere else")
            return self._failure(f"redirects to {target}: redirects are not followed; set that URL if you trust it")
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            document = None
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):  # where servers quote the key, or parts of it
            return self._failure(f"HTTP {status} {_phrase(status)}" + self._advice(status, ""))
        page = TITLE.search(body) if HTML.match(body) else None
        message = self.excerpt(error_message(document) or (page[1] if page else body))
        text = f"HTTP {status} {_phrase(status)}".rstrip() + (f": {message}" if message else "")
        text += self._advice(status, message)
        if status in TRANSIENT or status >= 500:
            is_final = isinstance(document, dict) and "insufficient_quota" in json.dumps(document.get("error"))
            return self._failure(text, NEVER if is_final else ALWAYS, _retry_after_s(headers))
        return self._failure(text, refused_field=_refused_field(document, message) if status in (400, 422) else "")

    def excerpt(self, text: str) -> str:
        """The start of what a server sent, on one line, without control characters and without the key."""
        text = text[: 50 * SHOWN]
        if key := self._settings.key:
            for form in (key, json.dumps(key)[1:-1]):
                text = text.replace(form, "[key]")
            text = WORD.sub(lambda word: "[key]" if self._tells_of_key(word[0]) else word[0], text)
        text = "".join(character if character.isprintable() else " " for character in text)
        text = " ".join(text.split())
        return text if len(text) <= SHOWN else text[:SHOWN] + "..."

    def _tells_of_key(self, word: str) -> bool:
        """Whether a word has a part of the key, in whatever case or encoding."""
        parts = (_letters(form) for form in (word, unquote(word)))
        return any(part[start : start + KEY_PART] in self._key_parts for part in parts for start in range(len(part)))

    def _advice(self, status: int, message: str) -> str:
        if status in (401, 403):
            is_given = self._settings.key is not None
            return f" ({'is the key right?' if is_given else 'no key was sent: set UNDERSTUDY_LLM_KEY, or key_env'})"
        if status == 404:
            return f" (is there a model '{self._settings.model}', and does the URL end in /v1?)"
        if status in (400, 413, 422) and re.search(r"context|too (?:long|large)|maximum", message, re.IGNORECASE):
            return (
                f" (context_tokens is {self._settings.context_tokens:,}: write what the server takes into models.toml)"
            )
        return ""

    def _failure(
        self, text: str, retries: int = NEVER, retry_after_s: float | None = None, refused_field: str = ""
    ) -> Failure:
        return Failure(f"{self._start}: {text}", retries, retry_after_s, refused_field)

    def _reason(self, error: Exception) -> str:
        text = getattr(error, "strerror", None) or str(error)
        return self.excerpt(text) or type(error).__name__


def _key_parts(key: str) -> frozenset[str]:
    """What tells of a key: its parts of `KEY_PART` letters, and those of its usual encodings."""
    data = key.encode("utf-8", "replace")
    encoded = [b64encode(before + data).decode() for before in (b"", b" ", b"  ")]  # wherever in a text it stood
    forms = map(_letters, (key, data.hex(), key[::-1], *(text[4:-4] for text in encoded)))
    return frozenset(form[start : start + KEY_PART] for form in forms for start in range(len(form) - KEY_PART + 1))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _retry_after_s(headers: HTTPMessage) -> float | None:
    value = (headers.get("Retry-After") or "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, IndexError, OverflowError):
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _refused_field(document: Any, message: str) -> str:
    """The field of the request that the server does not support; blank where it objects to something else."""
    error = document.get("error") if isinstance(document, dict) else None
    error = error if isinstance(error, dict) else {}
    if error.get("param") == "n" or QUOTED_N.search(message):  # also where it is more than the server allows
        return "n"
    if not UNSUPPORTED.search(f"{error.get('code')} {message}"):
        return ""
    if error.get("param") in OPTIONAL_FIELDS:
        return str(error["param"])
    named = set(re.findall(r"\w+", message))
    return next((field for field in OPTIONAL_FIELDS if field in named), "")
