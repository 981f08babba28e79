"""Chat completions: choices that are written or chosen, whole or as chunks while they are written.

An agent that writes gives each of `n` choices with a run of its own. An agent that chooses gives its reply and the
best candidates that differ from it.

The first reply to a request is the best. Who sends the very same again without a seed wants another one: an agent that
writes does so with another seed until it begins differently, one that chooses gives its next best. With a seed, or at
temperature 0, it is the same again.
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

from understudy.errors import UnderstudyError
from understudy.progress import Cancellation
from understudy.server.chats.schemas import reply_struct
from understudy.server.executor import OPENING, AgentExecutor, Asked, Disconnected, cancelled
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
    TextChoice,
    TextCompletion,
    TokenLogProb,
    TokenUsage,
)
from understudy.server.problems import ProblemDocument, problem_of
from understudy.server.story_registry import ServedCharacter
from understudy.server.streaming import ShownPieces, StopSequences, TokenLimit, cut, total_tokens
from understudy.story.dialogue import Evidence, Reply, Sampling, StreamingAgent, Usage
from understudy.text import fold

ENCODER = msgspec.json.Encoder()
UNSPACED = r"\u3001-\u30ff\u3400-\u9fff\uff00-\uffef"
WORDS = re.compile(rf"[{UNSPACED}]{{1,2}}\s*|[^\s{UNSPACED}]+\s*|\s+")
"""A word with the space after it; two characters at a time in scripts without spaces."""
DONE = b"data: [DONE]\n\n"
LARGEST_SEED = 2**31
ANOTHER_TEMPERATURE = 1.0  # of a second try, where the request leaves it open
TRIES = 5  # with other seeds, for a reply that was not given before
STOPPED_AT_ONCE = Evidence("notice", "a stop sequence came before anything was said: nothing is kept")
NO_LOG_PROBS = "logprobs is null: this agent does not tell how probable its tokens are"


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
    """One completion under way. `cancellation` stops its writing; `asked` tells of the same request before it."""

    def __init__(
        self,
        executor: AgentExecutor,
        parsed: ParsedRequest,
        model: str,
        fingerprint: str,
        agent: str | None = None,
        asked: Asked | None = None,
        is_text: bool = False,
    ) -> None:
        """`is_text` says that the client knows prompts and texts, and no messages."""
        self.cancellation = Cancellation()
        self._executor, self._parsed, self._agent = executor, parsed, agent
        self._asked = asked or Asked()
        self._model, self._fingerprint = model, fingerprint
        self._is_text = is_text
        self._id, self._created = f"{'cmpl' if is_text else 'chatcmpl'}-{secrets.token_hex(12)}", int(time.time())

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
        agent, sampling = self._executor.named(self._agent), self._parsed.sampling
        is_varied = sampling.n > 1 or self._asked.times > 0
        has_alternatives = is_varied and getattr(agent, "offers_alternatives", False)
        is_written = isinstance(agent, StreamingAgent) and not has_alternatives
        if self._parsed.answer is not None:
            making = self._given(self._parsed.answer)
        else:
            making = self._written() if is_written else self._chosen(isinstance(agent, StreamingAgent))
        async with aclosing(making) as items:
            async for item in items:
                if isinstance(item[1], FinishedChoice):
                    self._asked.add(item[1].text)
                yield item

    async def whole(self, log_probs: bool) -> ChatCompletion | TextCompletion:
        finished: dict[int, FinishedChoice] = {}
        async with aclosing(self.items()) as items:
            async for index, item in items:
                if isinstance(item, FinishedChoice):
                    finished[index] = item
        choices = [finished[index] for index in sorted(finished)]
        usage, notices = await self._usage(choices), self._notices(choices, log_probs)
        if self._is_text:
            texts = [TextChoice(index, each.text, each.reason, each.details) for index, each in enumerate(choices)]
            return TextCompletion(self._id, self._created, self._model, texts, self._fingerprint, usage, notices)
        answers = [
            Choice(index, AssistantMessage(each.text), each.reason, each.details, each.log_probs if log_probs else None)
            for index, each in enumerate(choices)
        ]
        return ChatCompletion(self._id, self._created, self._model, answers, usage, self._fingerprint, notices)

    def _notices(self, choices: Sequence[FinishedChoice], log_probs: bool) -> list[str] | msgspec.UnsetType:
        notices = list(self._parsed.notices)
        if log_probs and any(choice.log_probs is None for choice in choices):
            notices.append(NO_LOG_PROBS)
        return notices or UNSET

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
                last = ChunkChoice(index, Delta(), item.reason, item.details, token_log_probs)
                yield self._event([last], no_usage, self._notices([item], log_probs))

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

    def _event(
        self,
        choices: list[ChunkChoice],
        usage: TokenUsage | msgspec.UnsetType | None,
        notices: list[str] | msgspec.UnsetType = UNSET,
    ) -> bytes:
        chunk: CompletionChunk | TextCompletion
        if self._is_text:
            texts = [
                TextChoice(each.index, each.delta.content or "", each.finish_reason, each.understudy)
                for each in choices
            ]
            chunk = TextCompletion(self._id, self._created, self._model, texts, self._fingerprint, usage, notices)
        else:
            chunk = CompletionChunk(self._id, self._created, self._model, choices, self._fingerprint, usage, notices)
        return b"data: " + ENCODER.encode(chunk) + b"\n\n"

    async def _given(self, reply: Reply) -> AsyncGenerator[Item, None]:
        """An answer that no agent had to find."""
        yield 0, reply.text
        yield 0, FinishedChoice(reply.text, "stop", _details(self._parsed.character, reply, is_first=True))

    async def _chosen(self, writes: bool) -> AsyncGenerator[Item, None]:
        """The choices of an agent that has several at once, a word a piece: the best, or the next best."""
        parsed, asked = self._parsed, self._asked
        reply = await self._reply(parsed.sampling)
        texts, tries = _choices(reply), TRIES if writes and asked.times else 0
        while not any(map(self._is_new, texts)) and tries:  # all of them were given: it is to write others
            reply, tries = await self._reply(replace(parsed.sampling, seed=secrets.randbelow(LARGEST_SEED))), tries - 1
            texts = _choices(reply)
        first = next((index for index, text in enumerate(texts) if self._is_new(text)), asked.times % len(texts))
        for index, whole in enumerate([*texts[first:], *texts[:first]][: parsed.sampling.n]):
            text, reason = cut(whole, parsed.sampling)
            for word in WORDS.findall(text):
                yield index, word
            details = _details(parsed.character, _with_stop(reply, whole, text), is_first=whole == reply.text)
            yield index, FinishedChoice(text, reason, details, None if index else reply.usage)

    def _is_new(self, text: str) -> bool:
        return not self._asked.times or self._asked.is_new(cut(text, self._parsed.sampling)[0])

    async def _reply(self, sampling: Sampling) -> Reply:
        parsed, left = self._parsed, partial(cancelled, self.cancellation)
        reply = await self._executor.reply(
            parsed.character.situation, parsed.history, left, self._agent, replace(sampling, n=1)
        )
        return parsed.character.redact(reply)

    async def _written(self) -> AsyncGenerator[Item, None]:
        """The choices of an agent that writes, each with a run of its own, as their pieces come."""
        sampling, queue = self._parsed.sampling, asyncio.Queue[Item | Exception | None]()
        first = secrets.randbelow(LARGEST_SEED) if self._asked.times else sampling.seed

        async def write(index: int) -> None:
            seed = None if first is None else first + index
            try:
                async with aclosing(self._new_choice(replace(sampling, n=1, seed=seed))) as items:
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

    async def _new_choice(self, sampling: Sampling) -> AsyncGenerator[str | FinishedChoice, None]:
        """A choice; where the same was asked for before, its first words are held back until they are new."""
        for attempt in range(TRIES):
            pending, text = list[str](), ""
            is_new = not self._asked.times or attempt == TRIES - 1
            if attempt:
                hotter = ANOTHER_TEMPERATURE if sampling.temperature is None else sampling.temperature
                sampling = replace(sampling, seed=secrets.randbelow(LARGEST_SEED), temperature=hotter)
            async with aclosing(self._choice(sampling)) as items:
                async for item in items:
                    if not is_new:
                        text = text + item if isinstance(item, str) else item.text
                        if isinstance(item, str) and len(text) < OPENING:
                            pending.append(item)
                            continue
                        if not self._asked.is_new(text):
                            break
                        is_new = True
                        for piece in pending:
                            yield piece
                    yield item
            if is_new:
                return

    async def _choice(self, sampling: Sampling) -> AsyncGenerator[str | FinishedChoice, None]:
        character, pieces, text = self._parsed.character, list[str](), ""
        shown, stops = ShownPieces(character.names), StopSequences(sampling.stop)
        limit = TokenLimit(sampling.max_tokens)
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
                sent = limit.feed(sent)
                text += sent
                if sent:
                    yield sent
                if stops.is_stopped or limit.is_reached:
                    break
        reason: Literal["stop", "length"] = "length" if limit.is_reached else "stop"
        if reply is None:  # a stop sequence or the limit came before the agent's own end
            stopped = Reply(text, evidence=() if text or limit.is_reached else (STOPPED_AT_ONCE,))
            yield FinishedChoice(text, reason, _details(character, stopped, is_first=True))
            return
        if not pieces:
            whole, (text, reason) = reply.text, cut(reply.text, sampling)
            reply = _with_stop(reply, whole, text)
            for word in WORDS.findall(text):
                yield word
        elif _is_full(reply.usage, sampling):
            reason = "length"
        log_probs = _log_probs(pieces, reply.log_probs) if "".join(pieces) == text else None
        yield FinishedChoice(text, reason, _details(character, reply, is_first=True), reply.usage, log_probs)

    async def _usage(self, choices: Sequence[FinishedChoice]) -> TokenUsage:
        """What the back end counted, the prompt once however often it was sent; else what the encoder counts."""
        counted = [choice.usage for choice in choices if choice.usage is not None and choice.usage.calls]
        if counted:
            total = sum(counted, Usage())
            prompt, completion = round(total.prompt_tokens / total.calls), total.completion_tokens
        else:
            prompt = await total_tokens(self._parsed.texts)
            completion = await total_tokens([choice.text for choice in choices])
        return TokenUsage(prompt, completion, prompt + completion)


def _choices(reply: Reply) -> list[str]:
    """What a reply offers to say, the best first, without what is a part of a better one."""
    passing = (candidate.text for candidate in reply.candidates if candidate.text and not candidate.rejected)
    texts = list[str]()
    for text in (reply.text, *passing):
        if not any(fold(text) in fold(better) for better in texts):
            texts.append(text)
    return texts


def _with_stop(reply: Reply, whole: str, text: str) -> Reply:
    """The reply with a notice where a stop sequence left nothing of it."""
    return reply if text or not whole else replace(reply, evidence=(*reply.evidence, STOPPED_AT_ONCE))


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
    document, faced = reply_struct(reply), character.shown_situation.faced
    facing, evidence = None if faced is None else faced.name, document.evidence if is_first else []
    moment = character.situation.persona.moment.dotted
    return ReplyDetails(character.shown_name, moment, facing, evidence, document.candidates)
