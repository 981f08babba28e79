"""From a chat request to a question for an agent: who is spoken to, when, by whom, and what was said so far."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from understudy.dialogue import Turn
from understudy.errors import StoryError
from understudy.server.naming import ModelName
from understudy.server.openai.types import ChatRequest, Message
from understudy.server.problems import Refused, problem_of
from understudy.server.story_registry import Role, StoryRegistry

__all__ = ["Question", "naming_the_model", "question_of", "text_of"]

SOMEBODY = "You"  # speaks to the character when nobody of the story does
SENTENCE = re.compile(r"[^\n.!?。！？]*[.!?。！？]*[\"'”’」』)]*(?:\s+|$)|[^\n]+")
MOST_SENTENCES = 200
TELLING = frozenset({"system", "developer"})
ROLES = TELLING | {"user", "assistant"}

TAKES_NONE = {
    "tools": "characters use no tools",
    "functions": "characters call no functions",
    "top_logprobs": "replies are chosen whole, so tokens have no probabilities",
    "audio": "characters answer in text",
    "prediction": "replies are chosen whole, so there is nothing to predict them from",
    "web_search_options": "characters know their story, and nothing of the web",
}
"""Fields that must be left out or null, and why; a list may also be empty."""
LISTS = frozenset({"tools", "functions"})


@contextmanager
def naming_the_model() -> Iterator[None]:
    """Who cannot be asked for is a model that was not found."""
    try:
        yield
    except (StoryError, Refused) as error:
        raise Refused(problem_of(error).message, 404, param="model", code="model_not_found") from error


@dataclass(frozen=True, slots=True)
class Question:
    role: Role
    history: tuple[Turn, ...]


async def question_of(asked: ChatRequest, registry: StoryRegistry) -> Question:
    _refuse_what_characters_cannot_do(asked)
    texts = [text_of(message, place) for place, message in enumerate(asked.messages)]
    name = ModelName.parse(asked.model)
    told = tuple(_sentences([text for text, message in zip(texts, asked.messages) if message.role in TELLING]))
    with naming_the_model():
        role = await _role(registry, name, told, _last_speaker(asked.messages))
    return Question(role, tuple(_turns(asked.messages, texts, role)))


async def _role(registry: StoryRegistry, name: ModelName, told: tuple[str, ...], speaker: str | None) -> Role:
    """Whoever a message is from is faced, where the model's name says nobody and the story knows them by then."""
    if name.facing is None and speaker is not None:
        try:
            return await registry.role_soon(replace(name, facing=speaker), told=told)
        except (StoryError, Refused):
            pass  # somebody who is not of the story, or not yet
    return await registry.role_soon(name, told=told)


def _last_speaker(messages: list[Message]) -> str | None:
    for message in reversed(messages):
        if message.role == "user":
            return message.name
    return None


def _turns(messages: list[Message], texts: list[str], role: Role) -> Iterator[Turn]:
    own, situation = role.situation.persona.name, role.situation
    faced = situation.faced.name if situation.faced else SOMEBODY
    for message, text in zip(messages, texts):
        if message.role == "assistant":
            yield Turn(own, text)
        elif message.role == "user":
            speaker = role.speaker(message.name, faced) if message.name else faced
            yield Turn(faced if speaker == own else speaker, text)


def text_of(message: Message, place: int) -> str:
    """What a message says; pictures, sounds and files are refused."""
    where = f"messages[{place}]"
    if message.role not in ROLES:
        raise Refused(f"'{message.role[:40]}' is no role here: use {', '.join(sorted(ROLES))}", 400, f"{where}.role")
    if message.tool_calls not in (None, []) or message.function_call is not None or message.audio is not None:
        raise Refused("a message holds text alone: characters use no tools and no audio", 400, where)
    if isinstance(message.content, str):
        return message.content
    for number, part in enumerate(message.content or ()):
        if part.type != "text":
            told = f"characters read text alone, not '{part.type[:40]}': leave that part out"
            raise Refused(told, 400, f"{where}.content[{number}]", "unsupported_content")
    return "\n".join(part.text for part in message.content or ())


def _sentences(texts: list[str]) -> Iterator[str]:
    """What a system message tells, a sentence at a time, as a profile has them."""
    found = (sentence.strip() for text in texts for sentence in SENTENCE.findall(text))
    for number, sentence in enumerate(filter(None, found)):
        if number == MOST_SENTENCES:
            raise Refused(f"system messages may add at most {MOST_SENTENCES} sentences", 400, "messages")
        yield sentence


def _refuse_what_characters_cannot_do(asked: ChatRequest) -> None:
    for field, why in TAKES_NONE.items():
        value = getattr(asked, field)
        if value is not None and not (value == [] and field in LISTS):
            raise _unsupported(field, why)
    if asked.logprobs is not None and asked.logprobs is not False:
        raise _unsupported("logprobs", "replies are chosen whole, so tokens have no probabilities")
    shape = asked.response_format
    if shape is not None and not (isinstance(shape, dict) and shape.get("type") == "text"):
        raise _unsupported("response_format", "characters answer in plain text: leave it out, or say {'type': 'text'}")
    if asked.modalities not in (None, [], ["text"]):
        raise _unsupported("modalities", "characters answer in text")
    for field in ("tool_choice", "function_call"):
        if getattr(asked, field) not in (None, "none", "auto"):
            raise _unsupported(field, "characters use no tools")


def _unsupported(field: str, why: str) -> Refused:
    return Refused(f"{field} is not supported: {why}", 400, param=field, code="unsupported_parameter")
