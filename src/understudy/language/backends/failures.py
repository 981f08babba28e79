"""What can go wrong with a request to a language model: the error message, and whether a retry may help."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPMessage
from typing import Any
from urllib.parse import unquote

from understudy.errors import BackendError
from understudy.language.backends.answers import CompletionChoice, error_message
from understudy.language.backends.exchange import CertificateRefused, ConnectFailed
from understudy.language.backends.models_file import LLMSettings

__all__ = ["OPTIONAL_FIELDS", "Failure", "Failures"]

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
