"""From an agent's reply to a chat completion: choices, cut off where asked, whole or streamed word by word."""

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
from understudy.server.openai.tokens import cut_off, tokens_in
from understudy.server.openai.types import (
    ChatCompletion,
    ChatRequest,
    Choice,
    Chunk,
    ChunkChoice,
    Delta,
    Said,
    Usage,
    Why,
    WhyCandidate,
    WhyEvidence,
)
from understudy.server.story_registry import Role

__all__ = ["EventStream", "completion", "events"]

ENCODER = msgspec.json.Encoder()
UNSPACED = r"\u3001-\u30ff\u3400-\u9fff\uff00-\uffef"
WORDS = re.compile(rf"[{UNSPACED}]{{1,2}}\s*|[^\s{UNSPACED}]+\s*|\s+")
"""A word with the space after it; two signs at a time where words are written without spaces."""
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Cut:
    """A choice's text, and how it came to end."""

    text: str
    finish: str


def completion(
    asked: ChatRequest, prompts: Sequence[str], role: Role, reply: Reply, fingerprint: str
) -> ChatCompletion:
    texts = _cut(asked, reply)
    usage = _usage(prompts, [one.text for one in texts])
    whys = _whys(role, reply, len(texts))
    return ChatCompletion(
        id=_id(),
        created=int(time.time()),
        model=asked.model,
        choices=[
            Choice(number, Said(one.text), one.finish, why)  # type: ignore[arg-type]
            for number, (one, why) in enumerate(zip(texts, whys))
        ],
        usage=usage,
        system_fingerprint=fingerprint,
    )


def events(whole: ChatCompletion, include_usage: bool) -> Iterator[bytes]:
    """The same, a word an event; the last event of a choice tells how it ended and why it was said."""
    usage = None if include_usage else UNSET

    def event(choices: list[ChunkChoice], told: Usage | msgspec.UnsetType | None = usage) -> bytes:
        chunk = Chunk(whole.id, whole.created, whole.model, choices, whole.system_fingerprint, told)
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
    """Server-sent events, each sent on its own; a client that reads slowly makes only its own stream wait."""

    media_type = "text/event-stream"

    def __init__(self, sent: Iterator[bytes]) -> None:
        self._sent = sent
        super().__init__(headers={"cache-control": "no-cache", "x-accel-buffering": "no"})

    def init_headers(self, headers: object = None) -> None:
        super().init_headers(headers)  # type: ignore[arg-type]
        self.raw_headers = [(name, value) for name, value in self.raw_headers if name != b"content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for event in self._sent:
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _cut(asked: ChatRequest, reply: Reply) -> list[Cut]:
    distinct = dict.fromkeys((reply.text, *(candidate.text for candidate in reply.candidates)))
    return [_ended(text, asked) for text in list(distinct)[: asked.n or 1]]


def _ended(text: str, asked: ChatRequest) -> Cut:
    stops = [asked.stop] if isinstance(asked.stop, str) else asked.stop or []
    ends = [place for place in (text.find(stop) for stop in stops) if place >= 0]
    if ends:
        text = text[: min(ends)]
    told = [most for most in (asked.max_tokens, asked.max_completion_tokens) if most is not None]
    if told:
        text, was_cut = cut_off(text, min(told))
        return Cut(text, "length" if was_cut else "stop")
    return Cut(text, "stop")


def _usage(prompts: Sequence[str], replies: Sequence[str]) -> Usage:
    counts = tokens_in([*prompts, *replies])
    asked, said = sum(counts[: len(prompts)]), sum(counts[len(prompts) :])
    return Usage(asked, said, asked + said)


def _whys(role: Role, reply: Reply, choices: int) -> Iterator[Why]:
    """The evidence is the reply's, which is the first choice."""
    candidates = [
        WhyCandidate(one.text, one.score, one.moment.dotted if one.moment else None) for one in reply.candidates
    ]
    evidence = [
        WhyEvidence(one.kind, one.text, one.moment.dotted if one.moment else None, list(one.words))
        for one in reply.evidence
    ]
    moment, faced = role.situation.persona.moment, role.shown_situation.faced
    for number in range(choices):
        yield Why(
            role.shown,
            moment.dotted,
            None if faced is None else faced.name,
            [] if number else evidence,
            candidates,
        )


def _id() -> str:
    return f"chatcmpl-{secrets.token_hex(12)}"
