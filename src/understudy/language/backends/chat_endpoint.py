"""One request for a chat completion: what is sent, and the answer as it comes."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from itertools import chain
from time import monotonic
from typing import Any, Final

from understudy.language.backends.answers import (
    MAX_LETTERS,
    CompletionResponse,
    Failure,
    Failures,
    ServerFault,
    ThoughtTooLong,
    WrongAnswer,
)
from understudy.language.backends.exchange import HttpExchange, parse_url
from understudy.language.backends.settings import LLMSettings
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling

PATH = "/chat/completions"
LARGEST_ANSWER = 32 * 1024 * 1024
LARGEST_ERROR = 64 * 1024
ERROR_TIMEOUT_S = 5.0
USAGE_TIMEOUT_S = 2.0
LETTERS_PER_TOKEN, LEAST_LETTERS = 32, 1_000  # what a text may have, where a server does not heed `max_tokens`
THOUGHT_TIMEOUTS = 10  # times `timeout_s`, in which a model that thinks must have said its first word
ENOUGH_TO_TELL = 8  # bytes that suffice to tell events from JSON


class Cancelled(Exception):
    """The request was cancelled before its answer was whole."""


class ChatEndpoint:
    """Sends requests to one model of one server. Thread-safe; each request has a connection of its own."""

    def __init__(self, settings: LLMSettings) -> None:
        self._settings = settings
        self._endpoint = parse_url(settings.url)
        self._failures = Failures(f"llm:{settings.name}", self._endpoint.url, settings)
        self._refused_fields = set[str]()

    @property
    def url(self) -> str:
        return self._endpoint.url

    def leave_out(self, field: str) -> None:
        """Leave a field out of all further requests: the server does not support it."""
        self._refused_fields.add(field)

    def send(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        cancellation: Cancellation,
        answer: CompletionResponse,
    ) -> Iterator[str]:
        """One request. Fills `answer`, and gives the pieces of its first choice as they come.

        Raises `Failure`, or `Cancelled` where the answer is not whole.
        """
        if cancellation.is_cancelled:
            raise Cancelled
        has_begun, failure = False, None
        answer.max_letters = self._max_letters(sampling)
        thinks_until = monotonic() + THOUGHT_TIMEOUTS * self._settings.timeout_s
        try:
            with (
                HttpExchange(self._endpoint, self._settings.connect_timeout_s) as exchange,
                cancellation.callback(exchange.abort),
            ):
                exchange.deadline = monotonic() + self._settings.timeout_s
                response = exchange.request("POST", PATH, self._body(messages, sampling), self._headers())
                if response.status != HTTPStatus.OK:
                    raise self._status_failure(exchange, response)
                for document, is_whole in self._documents(exchange):
                    if cancellation.is_cancelled:
                        raise Cancelled
                    pieces, has_progress = self._add(answer, document, is_whole)
                    yield from pieces
                    if answer.is_finished and len(answer.choices) >= sampling.n:  # only the usage may follow
                        if answer.is_full:
                            break
                        exchange.deadline = monotonic() + min(USAGE_TIMEOUT_S, self._settings.token_timeout_s)
                    elif has_progress:  # a keep-alive comment is not progress
                        has_begun = True
                        exchange.deadline = monotonic() + self._settings.token_timeout_s
                        if not answer.has_begun and monotonic() > thinks_until:
                            raise self._failures.thought_too_long()
        except (OSError, HTTPException, NotEvents, Failure) as error:
            failure = self._as_failure(error, has_begun)
        if not answer.is_finished and cancellation.is_cancelled:
            raise Cancelled
        if not answer.is_finished and failure is not None:
            raise failure  # here, without its context: what a server sent may hold the key
        self._check(answer)

    def _max_letters(self, sampling: Sampling) -> int:
        tokens = self._settings.max_tokens if sampling.max_tokens is None else sampling.max_tokens
        return MAX_LETTERS if tokens is None else min(MAX_LETTERS, LEAST_LETTERS + LETTERS_PER_TOKEN * tokens)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream, application/json",
            "Connection": "close",
            "User-Agent": "understudy",
        }
        return headers if self._settings.key is None else {**headers, "Authorization": f"Bearer {self._settings.key}"}

    def _body(self, messages: Sequence[ChatMessage], sampling: Sampling) -> bytes:
        body = request_body(self._settings, messages, sampling, self._refused_fields) | {"stream": True}
        if "stream_options" not in self._refused_fields:
            body["stream_options"] = {"include_usage": True}
        return json.dumps(body).encode("ascii")

    def _documents(self, exchange: HttpExchange) -> Iterator[tuple[Any, bool]]:
        """The documents of a response; with each, whether it is a whole answer: not every server can stream."""
        pieces = self._bounded(exchange.pieces())
        start = b""
        for piece in pieces:
            start += piece
            if b":" in start or len(start.strip()) >= ENOUGH_TO_TELL:
                break
        if looks_like_events(start):
            for document in event_documents(chain([start], pieces)):
                yield document, False
                if document is DONE:
                    return
            return
        body = b"".join(chain([start], pieces)).decode("utf-8", "replace")
        if not body.strip():
            raise self._failures.empty(None)
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            raise NotEvents(body) from None
        yield document, True

    def _bounded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > LARGEST_ANSWER:
                raise self._failures.too_long()
            yield piece

    def _add(self, answer: CompletionResponse, document: Any, is_whole: bool) -> tuple[list[str], bool]:
        if document is DONE:
            answer.finish()
            return [], False
        try:
            return answer.add(document, is_whole)
        except ServerFault as fault:
            raise self._failures.server_fault(str(fault)) from None
        except ThoughtTooLong:
            raise self._failures.thought_too_long() from None
        except WrongAnswer as wrong:
            raise self._failures.wrong_answer(str(wrong), document) from None

    def _check(self, answer: CompletionResponse) -> None:
        choices = list(answer.choices.values())
        if not choices and answer.stray is not None:
            raise self._failures.wrong_answer("has no choices", answer.stray)
        if choices and not answer.is_finished:
            raise self._failures.cut_off()
        if not any(choice.text.strip() for choice in choices):
            raise self._failures.empty(choices[0] if choices else None)

    def _as_failure(self, error: Exception, has_begun: bool) -> Failure:
        if isinstance(error, Failure):
            return error
        if isinstance(error, TimeoutError):
            return self._failures.timeout(has_begun)
        if isinstance(error, NotEvents):
            return self._failures.not_json(str(error))
        return self._failures.connection(error)

    def _status_failure(self, exchange: HttpExchange, response: HTTPResponse) -> Failure:
        exchange.deadline = min(exchange.deadline, monotonic() + ERROR_TIMEOUT_S)
        body = exchange.body(LARGEST_ERROR)  # or some of it: the status is what counts
        return self._failures.status(response.status, response.headers, body.decode("utf-8", "replace"))


def request_body(
    settings: LLMSettings, messages: Sequence[ChatMessage], sampling: Sampling, refused_fields: Collection[str] = ()
) -> dict[str, Any]:
    """A request for completions that are sent whole, without the fields that a model is known to refuse."""
    limit = settings.max_tokens if sampling.max_tokens is None else sampling.max_tokens
    optional: dict[str, Any] = {
        "temperature": settings.temperature if sampling.temperature is None else sampling.temperature,
        "top_p": settings.top_p if sampling.top_p is None else sampling.top_p,
        "max_tokens": limit,
        "max_completion_tokens": limit if "max_tokens" in refused_fields else None,
        "stop": list(sampling.stop) or None,
        "seed": sampling.seed,
        "n": sampling.n if sampling.n > 1 else None,
        "logprobs": True if settings.logprobs else None,
    }
    return {
        **settings.extra,
        "model": settings.model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        **{field: value for field, value in optional.items() if value is not None and field not in refused_fields},
    }


# Server-sent events as OpenAI-compatible servers send them: one JSON document each, and '[DONE]' at the end.

DONE: Final = object()
FIELD = re.compile(rb"\s*(?:data|event|id|retry)?:")
LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
LONGEST_EVENT = 4 * 1024 * 1024


class NotEvents(ValueError):
    """Something else than events; its text is what came."""


def looks_like_events(start: bytes) -> bool:
    """Whether a body that starts so is a stream of events, whatever its content type says."""
    return FIELD.match(start) is not None


def event_documents(pieces: Iterable[bytes]) -> Iterator[Any]:
    """The documents of a stream, as soon as each is whole; `DONE` where the server says that it is through.

    A document that is whole does not wait for the empty line after it: some servers send none. Comments and other
    fields are passed over.
    """
    pending = b""
    for line in _lines(pieces):
        name, _, value = line.partition(b":")
        if not line.strip():
            if pending.strip():
                raise NotEvents(pending.decode("utf-8", "replace"))
            pending = b""
        elif name == b"data":
            pending = pending + b"\n" + value if pending else value
            if pending.strip() == b"[DONE]":
                yield DONE
                pending = b""
            elif (document := _parsed(pending)) is not None:
                yield document
                pending = b""
            elif len(pending) > LONGEST_EVENT:
                raise NotEvents(pending[:1000].decode("utf-8", "replace"))
        elif name not in (b"", b"event", b"id", b"retry"):
            raise NotEvents(line.decode("utf-8", "replace"))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    buffer = b""
    for piece in pieces:
        buffer += piece
        *lines, buffer = LINE_END.split(buffer)
        yield from lines
        if len(buffer) > LONGEST_EVENT:
            raise NotEvents(buffer[:1000].decode("utf-8", "replace"))
    if buffer.startswith(b"data:"):  # cut off, or a server that ends without a line end
        yield buffer.removesuffix(b"\r")


def _parsed(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
