"""From an agent's reply to a chat completion: choices, truncated where requested, whole or streamed word by word."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import UNSET
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from understudy.dialogue import Reply
from understudy.server.openai.encoder import count_tokens, truncate
from understudy.server.openai.requests import ParsedRequest
from understudy.server.openai.schemas import (
    AssistantMessage,
    ChatCompletion,
    ChatRequest,
    Choice,
    ChunkChoice,
    CompletionChunk,
    Delta,
    ReplyDetails,
    TokenUsage,
)
from understudy.server.schemas import reply_struct
from understudy.server.story_registry import ServedCharacter

__all__ = ["EventStream", "completion", "events"]

ENCODER = msgspec.json.Encoder()
UNSPACED = r"\u3001-\u30ff\u3400-\u9fff\uff00-\uffef"
WORDS = re.compile(rf"[{UNSPACED}]{{1,2}}\s*|[^\s{UNSPACED}]+\s*|\s+")
"""A word with the space after it; two characters at a time in scripts without spaces."""
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class FinishedText:
    """A choice's text, and its finish reason."""

    text: str
    reason: str


def completion(request: ChatRequest, parsed: ParsedRequest, reply: Reply, fingerprint: str) -> ChatCompletion:
    """`reply` has shown names already."""
    texts = _choices(request, reply)
    details = _details(parsed.character, reply, len(texts))
    return ChatCompletion(
        id=f"chatcmpl-{secrets.token_hex(12)}",
        created=int(time.time()),
        model=request.model,
        choices=[
            Choice(index, AssistantMessage(finished.text), finished.reason, detail)  # type: ignore[arg-type]
            for index, (finished, detail) in enumerate(zip(texts, details))
        ],
        usage=_usage(parsed.texts, [finished.text for finished in texts]),
        system_fingerprint=fingerprint,
    )


def events(whole: ChatCompletion, include_usage: bool) -> Iterator[bytes]:
    """The same as events of a word each; the last event of a choice has its finish reason and details."""
    no_usage = None if include_usage else UNSET

    def event(choices: list[ChunkChoice], usage: TokenUsage | msgspec.UnsetType | None = no_usage) -> bytes:
        chunk = CompletionChunk(whole.id, whole.created, whole.model, choices, whole.system_fingerprint, usage)
        return b"data: " + ENCODER.encode(chunk) + b"\n\n"

    for choice in whole.choices:
        yield event([ChunkChoice(choice.index, Delta("assistant", ""))])
        for word in WORDS.findall(choice.message.content):
            yield event([ChunkChoice(choice.index, Delta(content=word))])
        yield event([ChunkChoice(choice.index, Delta(), choice.finish_reason, choice.understudy)])
    if include_usage:
        yield event([], whole.usage)
    yield DONE


class EventStream(Response):
    """Server-sent events, each sent on its own; a slow client delays only its own stream."""

    media_type = "text/event-stream"

    def __init__(self, encoded_events: Iterator[bytes]) -> None:
        self._events = encoded_events
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})

    def init_headers(self, headers: object = None) -> None:
        super().init_headers(headers)  # type: ignore[arg-type]
        self.raw_headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for event in self._events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _choices(request: ChatRequest, reply: Reply) -> list[FinishedText]:
    """The reply and the best candidates that differ from it, `n` in all."""
    distinct = dict.fromkeys((reply.text, *(candidate.text for candidate in reply.candidates)))
    return [_finish(text, request) for text in list(distinct)[: request.n or 1]]


def _finish(text: str, request: ChatRequest) -> FinishedText:
    stops = [request.stop] if isinstance(request.stop, str) else request.stop or []
    ends = [index for index in (text.find(stop) for stop in stops) if index >= 0]
    if ends:
        text = text[: min(ends)]
    limits = [limit for limit in (request.max_tokens, request.max_completion_tokens) if limit is not None]
    if limits:
        text, is_truncated = truncate(text, min(limits))
        return FinishedText(text, "length" if is_truncated else "stop")
    return FinishedText(text, "stop")


def _usage(prompts: Sequence[str], replies: Sequence[str]) -> TokenUsage:
    counts = count_tokens([*prompts, *replies])
    prompt_tokens, completion_tokens = sum(counts[: len(prompts)]), sum(counts[len(prompts) :])
    return TokenUsage(prompt_tokens, completion_tokens, prompt_tokens + completion_tokens)


def _details(character: ServedCharacter, reply: Reply, choices: int) -> Iterator[ReplyDetails]:
    """The evidence is that of the reply, which is the first choice; the others have none."""
    document = reply_struct(reply)
    moment, faced = character.situation.persona.moment, character.shown_situation.faced
    for index in range(choices):
        yield ReplyDetails(
            character.shown_name,
            moment.dotted,
            None if faced is None else faced.name,
            [] if index else document.evidence,
            document.candidates,
        )
