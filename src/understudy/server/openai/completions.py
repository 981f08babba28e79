"""A chat completion: the request parsed into a character and a history, and the agent's reply as choices.

The request says which character is meant, at which moment, whom it faces, and what was said so far. Choices are
truncated where requested, and sent whole or streamed word by word.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import msgspec
from msgspec import UNSET
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from understudy.dialogue import USER_NAME, Reply, Turn
from understudy.errors import StoryError
from understudy.server.names import ModelName
from understudy.server.openai.encoder import count_tokens, truncate
from understudy.server.openai.schemas import (
    AssistantMessage,
    ChatCompletion,
    ChatRequest,
    Choice,
    ChunkChoice,
    CompletionChunk,
    Delta,
    ReplyDetails,
    RequestMessage,
    TokenUsage,
)
from understudy.server.problems import Refused, problem_of
from understudy.server.schemas import reply_struct
from understudy.server.story_registry import ServedCharacter, StoryRegistry

__all__ = ["EventStream", "ParsedRequest", "completion", "events", "model_not_found", "parse_request"]

SENTENCE = re.compile(r"[^\n.!?。！？]*[.!?。！？]*[\"'”’」』)]*(?:\s+|$)|[^\n]+")
MAX_SENTENCES = 200
INSTRUCTION_ROLES = frozenset({"system", "developer"})
ROLES = INSTRUCTION_ROLES | {"user", "assistant"}

UNSUPPORTED = {
    "tools": "characters use no tools",
    "functions": "characters call no functions",
    "top_logprobs": "replies are chosen whole, so tokens have no probabilities",
    "audio": "characters answer in text",
    "prediction": "replies are chosen whole, so there is nothing to predict them from",
    "web_search_options": "characters know their story, and nothing of the web",
}
"""Fields that must be left out or null, and why; those in `LISTS` may also be empty."""
LISTS = frozenset({"tools", "functions"})


@contextmanager
def model_not_found() -> Iterator[None]:
    """Turns errors about a story, character or moment into OpenAI's `model_not_found`."""
    try:
        yield
    except (StoryError, Refused) as error:
        raise Refused(problem_of(error).message, 404, param="model", code="model_not_found") from error


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """The character that is to reply, the history, and the text of every message."""

    character: ServedCharacter
    history: tuple[Turn, ...]
    texts: list[str]


async def parse_request(request: ChatRequest, registry: StoryRegistry) -> ParsedRequest:
    _refuse_unsupported(request)
    messages = request.messages
    texts = [_text_of(message, index) for index, message in enumerate(messages)]
    name = ModelName.parse(request.model)
    instructions = [text for text, message in zip(texts, messages) if message.role in INSTRUCTION_ROLES]
    extra_profile = tuple(_sentences(instructions))
    with model_not_found():
        character = await _find_character(registry, name, extra_profile, _last_user_name(messages))
    return ParsedRequest(character, tuple(_turns(messages, texts, character)), texts)


async def _find_character(
    registry: StoryRegistry, name: ModelName, extra_profile: tuple[str, ...], user: str | None
) -> ServedCharacter:
    """The character faces the user's `name` where the model's name has no facing and the story knows them by then."""
    if name.facing is None and user is not None:
        try:
            return await registry.character_async(replace(name, facing=user), extra_profile=extra_profile)
        except (StoryError, Refused):
            pass  # not somebody of the story, or not yet
    return await registry.character_async(name, extra_profile=extra_profile)


def _last_user_name(messages: list[RequestMessage]) -> str | None:
    for message in reversed(messages):
        if message.role == "user":
            return message.name
    return None


def _turns(messages: list[RequestMessage], texts: list[str], character: ServedCharacter) -> Iterator[Turn]:
    own, faced = character.situation.persona.name, character.situation.faced
    user = faced.name if faced else USER_NAME
    for message, text in zip(messages, texts):
        if message.role == "assistant":
            yield Turn(own, text)
        elif message.role == "user":
            speaker = character.speaker(message.name, user) if message.name else user
            yield Turn(user if speaker == own else speaker, text)


def _text_of(message: RequestMessage, index: int) -> str:
    """The text of a message; pictures, sounds and files are refused."""
    field = f"messages[{index}]"
    if message.role not in ROLES:
        raise Refused(f"'{message.role[:40]}' is no role here: use {', '.join(sorted(ROLES))}", 400, f"{field}.role")
    if message.tool_calls not in (None, []) or message.function_call is not None or message.audio is not None:
        raise Refused("a message holds text alone: characters use no tools and no audio", 400, field)
    if isinstance(message.content, str):
        return message.content
    for number, part in enumerate(message.content or ()):
        if part.type != "text":
            problem = f"characters read text alone, not '{part.type[:40]}': leave that part out"
            raise Refused(problem, 400, f"{field}.content[{number}]", "unsupported_content")
    return "\n".join(part.text for part in message.content or ())


def _sentences(texts: list[str]) -> Iterator[str]:
    """The sentences of system messages, which are added to the profile."""
    sentences = (sentence.strip() for text in texts for sentence in SENTENCE.findall(text))
    for number, sentence in enumerate(filter(None, sentences)):
        if number == MAX_SENTENCES:
            raise Refused(f"system messages may add at most {MAX_SENTENCES} sentences", 400, "messages")
        yield sentence


def _refuse_unsupported(request: ChatRequest) -> None:
    for field, reason in UNSUPPORTED.items():
        value = getattr(request, field)
        if value is not None and not (value == [] and field in LISTS):
            raise _unsupported(field, reason)
    if request.logprobs is not None and request.logprobs is not False:
        raise _unsupported("logprobs", "replies are chosen whole, so tokens have no probabilities")
    format_ = request.response_format
    if format_ is not None and not (isinstance(format_, dict) and format_.get("type") == "text"):
        raise _unsupported("response_format", "characters answer in plain text: leave it out, or say {'type': 'text'}")
    if request.modalities not in (None, [], ["text"]):
        raise _unsupported("modalities", "characters answer in text")
    for field in ("tool_choice", "function_call"):
        if getattr(request, field) not in (None, "none", "auto"):
            raise _unsupported(field, "characters use no tools")


def _unsupported(field: str, reason: str) -> Refused:
    return Refused(f"{field} is not supported: {reason}", 400, param=field, code="unsupported_parameter")


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
