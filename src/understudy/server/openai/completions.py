"""Chat completions: choices that are written or chosen, whole or as chunks while they are written.

An agent that writes gives each of `n` choices with a run of its own. An agent that chooses gives its reply and the
best candidates that differ from it.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import msgspec
from msgspec import UNSET

from understudy.cancellation import Cancellation
from understudy.dialogue import Reply, Sampling, StreamingAgent, Usage
from understudy.errors import UnderstudyError
from understudy.server.executor import AgentExecutor, Disconnected, cancelled
from understudy.server.openai.encoder import count_tokens, truncate
from understudy.server.openai.requests import ParsedRequest
from understudy.server.openai.schemas import (
    AssistantMessage,
    ChatCompletion,
    Choice,
    ChoiceLogProbs,
    ChunkChoice,
    CompletionChunk,
    Delta,
    ReplyDetails,
    TokenLogProb,
    TokenUsage,
)
from understudy.server.pieces import ShownPieces, StopSequences
from understudy.server.problems import ProblemDocument, problem_of
from understudy.server.schemas import reply_struct
from understudy.server.story_registry import ServedCharacter

__all__ = ["Completing", "FinishedChoice"]

ENCODER = msgspec.json.Encoder()
UNSPACED = r"\u3001-\u30ff\u3400-\u9fff\uff00-\uffef"
WORDS = re.compile(rf"[{UNSPACED}]{{1,2}}\s*|[^\s{UNSPACED}]+\s*|\s+")
"""A word with the space after it; two characters at a time in scripts without spaces."""
DONE = b"data: [DONE]\n\n"
SHORT = 8_000  # characters whose tokens are counted fast enough for the event loop


@dataclass(frozen=True, slots=True)
class FinishedChoice:
    text: str
    reason: Literal["stop", "length"]
    details: ReplyDetails
    usage: Usage | None = None
    log_probs: ChoiceLogProbs | None = None


Item = tuple[int, str | FinishedChoice]
"""A piece of a choice, or the choice once it is finished; with the choice's index."""


class Completing:
    """One completion under way. `cancellation` stops its writing."""

    def __init__(
        self, executor: AgentExecutor, parsed: ParsedRequest, model: str, fingerprint: str, agent: str | None = None
    ) -> None:
        self.cancellation = Cancellation()
        self._executor, self._parsed, self._agent = executor, parsed, agent
        self._model, self._fingerprint = model, fingerprint
        self._id, self._created = f"chatcmpl-{secrets.token_hex(12)}", int(time.time())

    @asynccontextmanager
    async def watching(self, disconnected: Disconnected) -> AsyncIterator[None]:
        """Inside the block, a client that disconnects stops the writing."""

        async def watch() -> None:
            await disconnected()
            self.cancellation.cancel()

        task = asyncio.ensure_future(watch())
        try:
            yield
        finally:
            task.cancel()

    async def items(self) -> AsyncGenerator[Item, None]:
        agent = self._executor.named(self._agent)
        has_alternatives = self._parsed.sampling.n > 1 and getattr(agent, "offers_alternatives", False)
        is_written = isinstance(agent, StreamingAgent) and not has_alternatives
        async with aclosing(self._written() if is_written else self._chosen()) as items:
            async for item in items:
                yield item

    async def whole(self, log_probs: bool) -> ChatCompletion:
        finished: dict[int, FinishedChoice] = {}
        async with aclosing(self.items()) as items:
            async for index, item in items:
                if isinstance(item, FinishedChoice):
                    finished[index] = item
        choices = [finished[index] for index in sorted(finished)]
        return ChatCompletion(
            id=self._id,
            created=self._created,
            model=self._model,
            choices=[
                Choice(
                    index,
                    AssistantMessage(choice.text),
                    choice.reason,
                    choice.details,
                    choice.log_probs if log_probs else None,
                )
                for index, choice in enumerate(choices)
            ],
            usage=await self._usage(choices),
            system_fingerprint=self._fingerprint,
        )

    async def events(self, include_usage: bool, log_probs: bool) -> AsyncGenerator[bytes, None]:
        """Chunks as they come. An error before the first piece is raised here: the response has not begun yet."""
        items = self.items()
        first = await anext(items)
        return self._events_from(first, items, include_usage, log_probs)

    async def _events_from(
        self, first: Item, items: AsyncGenerator[Item, None], include_usage: bool, log_probs: bool
    ) -> AsyncGenerator[bytes, None]:
        started: set[int] = set()
        finished: list[FinishedChoice] = []
        no_usage = None if include_usage else UNSET

        def chunk(choice: ChunkChoice) -> bytes:
            return self._event([choice], no_usage)

        def chunks_of(index: int, item: str | FinishedChoice) -> Iterator[bytes]:
            if index not in started:
                started.add(index)
                yield chunk(ChunkChoice(index, Delta("assistant", "")))
            if isinstance(item, str):
                yield chunk(ChunkChoice(index, Delta(content=item)))
            else:
                finished.append(item)
                token_log_probs = item.log_probs if log_probs else None
                yield chunk(ChunkChoice(index, Delta(), item.reason, item.details, token_log_probs))

        async with aclosing(items):
            for encoded in chunks_of(*first):
                yield encoded
            try:
                async for item in items:
                    for encoded in chunks_of(*item):
                        yield encoded
            except UnderstudyError as error:
                yield b"data: " + ENCODER.encode(ProblemDocument(problem_of(error))) + b"\n\n"
                return
        if include_usage:
            yield self._event([], await self._usage(finished))
        yield DONE

    def _event(self, choices: list[ChunkChoice], usage: TokenUsage | msgspec.UnsetType | None) -> bytes:
        chunk = CompletionChunk(self._id, self._created, self._model, choices, self._fingerprint, usage)
        return b"data: " + ENCODER.encode(chunk) + b"\n\n"

    async def _chosen(self) -> AsyncGenerator[Item, None]:
        """The choices of an agent that does not stream, a word a piece."""
        parsed = self._parsed
        reply = await self._executor.reply(
            parsed.character.situation, parsed.history, partial(cancelled, self.cancellation), self._agent
        )
        reply = parsed.character.redact(reply)
        passing = (candidate.text for candidate in reply.candidates if candidate.text and not candidate.rejected)
        texts = list(dict.fromkeys((reply.text, *passing)))[: parsed.sampling.n]
        for index, text in enumerate(texts):
            text, reason = _truncated(text, parsed.sampling)
            for word in WORDS.findall(text):
                yield index, word
            details = _details(parsed.character, reply, is_first=index == 0)
            yield index, FinishedChoice(text, reason, details, None if index else reply.usage)

    async def _written(self) -> AsyncGenerator[Item, None]:
        """The choices of an agent that writes, each with a run of its own, as their pieces come."""
        sampling, queue = self._parsed.sampling, asyncio.Queue[Item | Exception | None]()

        async def write(index: int) -> None:
            seed = None if sampling.seed is None else sampling.seed + index
            try:
                async with aclosing(self._choice(replace(sampling, n=1, seed=seed))) as items:
                    async for item in items:
                        queue.put_nowait((index, item))
                queue.put_nowait(None)
            except Exception as error:
                queue.put_nowait(error)

        writing = [asyncio.ensure_future(write(index)) for index in range(sampling.n)]
        try:
            unfinished = len(writing)
            while unfinished:
                item = await queue.get()
                if isinstance(item, Exception):
                    raise item
                if item is None:
                    unfinished -= 1
                else:
                    yield item
        finally:
            for task in writing:
                task.cancel()
            await asyncio.wait(writing)

    async def _choice(self, sampling: Sampling) -> AsyncGenerator[str | FinishedChoice, None]:
        character, pieces, text = self._parsed.character, list[str](), ""
        shown, stops = ShownPieces(character.names), StopSequences(sampling.stop)
        reply: Reply | None = None
        async with aclosing(
            self._executor.stream(
                character.situation, self._parsed.history, sampling, cancellation=self.cancellation, agent=self._agent
            )
        ) as items:
            async for item in items:
                if isinstance(item, Reply):
                    reply = character.redact(item)
                    sent = stops.feed(shown.finish()) + stops.finish()
                else:
                    pieces.append(item)
                    sent = stops.feed(shown.feed(item))
                text += sent
                if sent:
                    yield sent
                if stops.is_stopped:
                    break
        if reply is None:  # a stop sequence came before the agent's own end
            yield FinishedChoice(text, "stop", _details(character, Reply(text), is_first=True))
            return
        reason: Literal["stop", "length"] = "stop"
        if not pieces:
            text, reason = _truncated(reply.text, sampling)
            for word in WORDS.findall(text):
                yield word
        elif _is_full(reply.usage, sampling):
            reason = "length"
        log_probs = _log_probs(pieces, reply.log_probs) if "".join(pieces) == text else None
        yield FinishedChoice(text, reason, _details(character, reply, is_first=True), reply.usage, log_probs)

    async def _usage(self, choices: Sequence[FinishedChoice]) -> TokenUsage:
        """What the back end counted; else the tokens of the texts by the shipped tokenizer."""
        counted = [choice.usage for choice in choices if choice.usage is not None and choice.usage.calls]
        if counted:
            total = sum(counted, Usage())
            prompt, completion = total.prompt_tokens, total.completion_tokens
        else:
            prompts, texts = self._parsed.texts, [choice.text for choice in choices]
            is_short = sum(map(len, prompts)) < SHORT
            every = [*prompts, *texts]
            counts = count_tokens(every) if is_short else await asyncio.to_thread(count_tokens, every)
            prompt, completion = sum(counts[: len(prompts)]), sum(counts[len(prompts) :])
        return TokenUsage(prompt, completion, prompt + completion)


def _truncated(text: str, sampling: Sampling) -> tuple[str, Literal["stop", "length"]]:
    """A text that was not written for this request, as far as the request lets it go."""
    ends = [index for index in map(text.find, sampling.stop) if index >= 0]
    text = text[: min(ends)] if ends else text
    if sampling.max_tokens is None:
        return text, "stop"
    text, is_truncated = truncate(text, sampling.max_tokens)
    return text, "length" if is_truncated else "stop"


def _is_full(usage: Usage | None, sampling: Sampling) -> bool:
    """Whether a text that one call wrote ended because it had reached `max_tokens`."""
    if usage is None or usage.calls != 1 or sampling.max_tokens is None:
        return False
    return usage.completion_tokens >= sampling.max_tokens


def _log_probs(tokens: Sequence[str], log_probs: tuple[float, ...] | None) -> ChoiceLogProbs | None:
    """Where the pieces of a reply are its tokens, one by one."""
    if log_probs is None or len(log_probs) != len(tokens):
        return None
    pairs = zip(tokens, log_probs)
    return ChoiceLogProbs([TokenLogProb(token, value, list(token.encode())) for token, value in pairs])


def _details(character: ServedCharacter, reply: Reply, is_first: bool) -> ReplyDetails:
    """The evidence is that of the reply; other choices that were taken from its candidates have none."""
    document = reply_struct(reply)
    moment, faced = character.situation.persona.moment, character.shown_situation.faced
    return ReplyDetails(
        character.shown_name,
        moment.dotted,
        None if faced is None else faced.name,
        document.evidence if is_first else [],
        document.candidates,
    )
