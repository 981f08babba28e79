"""A chat request: which character is meant, at which moment, whom it faces, what was said so far, and how to write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from understudy.dialogue import USER_NAME, Sampling, Turn
from understudy.errors import StoryError
from understudy.server.names import ModelName
from understudy.server.openai.schemas import ChatRequest, RequestMessage
from understudy.server.problems import Refused, problem_of
from understudy.server.story_registry import ServedCharacter, StoryRegistry

__all__ = ["ParsedRequest", "model_not_found", "parse_request"]

SENTENCE = re.compile(r"[^\n.!?。！？]*[.!?。！？]*[\"'”’」』)]*(?:\s+|$)|[^\n]+")
MAX_SENTENCES = 200
INSTRUCTION_ROLES = frozenset({"system", "developer"})
ROLES = INSTRUCTION_ROLES | {"user", "assistant"}

UNSUPPORTED = {
    "tools": "characters use no tools",
    "functions": "characters call no functions",
    "audio": "characters answer in text",
    "prediction": "a character says what it says, and no prediction of it is used",
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
    """The character that is to reply, the history, the text of every message, and how the reply is to be written."""

    character: ServedCharacter
    history: tuple[Turn, ...]
    texts: list[str]
    sampling: Sampling


async def parse_request(request: ChatRequest, registry: StoryRegistry) -> ParsedRequest:
    _refuse_unsupported(request)
    messages = request.messages
    texts = [_text_of(message, index) for index, message in enumerate(messages)]
    name = ModelName.parse(request.model)
    instructions = [text for text, message in zip(texts, messages) if message.role in INSTRUCTION_ROLES]
    extra_profile = tuple(_sentences(instructions))
    with model_not_found():
        character = await _find_character(registry, name, extra_profile, _last_user_name(messages))
    return ParsedRequest(character, tuple(_turns(messages, texts, character)), texts, _sampling(request))


def _sampling(request: ChatRequest) -> Sampling:
    limits = [limit for limit in (request.max_tokens, request.max_completion_tokens) if limit is not None]
    return Sampling(
        temperature=request.temperature,
        top_p=request.top_p,
        max_tokens=min(limits) if limits else None,
        stop=(request.stop,) if isinstance(request.stop, str) else tuple(request.stop or ()),
        seed=request.seed,
        n=request.n or 1,
    )


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
