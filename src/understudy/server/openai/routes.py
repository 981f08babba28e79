"""The routes: models, chat completions, embeddings."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from hashlib import blake2b

import msgspec
from starlette.responses import Response

from understudy import __version__
from understudy.dialogue import Agent
from understudy.server.naming import ModelName
from understudy.server.openai.answering import EventStream, completion, events
from understudy.server.openai.asking import naming_the_model, question_of, text_of
from understudy.server.openai.embedding import embedded
from understudy.server.openai.types import (
    ChatCompletion,
    ChatRequest,
    EmbeddingsAnswer,
    EmbeddingsRequest,
    Model,
    Models,
)
from understudy.server.operations import Call, Operation
from understudy.server.standing import heard_so_far, shown_names
from understudy.server.story_registry import StoryRegistry
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["OPERATIONS"]

OWNER = "understudy"
STARTED = int(time.time())
SHORT = 8_000  # characters whose tokens are counted in no time


class WhichModels(msgspec.Struct):
    """`story` and `at` ask for the characters of one story, as of a moment of it."""

    story: str | None = None
    at: str = "end"


async def models(call: Call) -> Models:
    """Every character of every story at its end; or those of one story who have spoken before a moment."""
    asked: WhichModels = call.query
    registry = call.context.stories
    wanted = [asked.story] if asked.story is not None else [name for name, _ in registry]
    found = await asyncio.to_thread(lambda: [_models(registry, name, asked.at) for name in wanted])
    return Models([model for some in found for model in some])


def _models(registry: StoryRegistry, name: str, at: str) -> list[Model]:
    story = registry.story(name)
    moment = story.moment(at)
    people = _speakers(story, moment) if moment.is_end else [shown for shown, _ in heard_so_far(story, moment)]
    return [_model(ModelName(name, person, moment.dotted)) for person in people]


def _speakers(story: Story, end: Moment) -> list[str]:
    names, cast = shown_names(story, end), story.cast()
    speakers = [member for member in cast if member.lines] or cast  # a character card has a cast and no lines
    return [names.get(member.character.name, member.character.name) for member in speakers]


def _model(name: ModelName) -> Model:
    return Model(str(name), STARTED, OWNER)


async def model(call: Call) -> Model:
    name = ModelName.parse(call.path("model"))
    with naming_the_model():
        role = await call.context.stories.role_soon(name)
    moment, faced = role.situation.persona.moment, role.shown_situation.faced
    return _model(ModelName(name.story, role.shown, moment.dotted, None if faced is None else faced.name))


async def chat(call: Call) -> ChatCompletion | Response:
    asked: ChatRequest = call.body
    question = await question_of(asked, call.context.stories)
    executor, lines = call.context.executor, call.context.utterances
    version = 0 if lines is None else await asyncio.to_thread(lines.version)
    reply = question.role.outward(await executor.reply(question.role.situation, question.history, call.gone))
    prompts = [text_of(message, place) for place, message in enumerate(asked.messages)]
    make = partial(completion, asked, prompts, question.role, reply, fingerprint_of(executor.agent, version))
    whole = make() if sum(map(len, prompts)) < SHORT else await asyncio.to_thread(make)
    if not asked.stream:
        return whole
    options = asked.stream_options
    return EventStream(events(whole, bool(options and options.include_usage)))


def fingerprint_of(agent: Agent, version: int = 0) -> str:
    """Tells apart servers that might answer the same request differently; `version` is that of what may be said."""
    kind = f"{type(agent).__module__}.{type(agent).__qualname__} {getattr(agent, 'description', '')}"
    told = f"{__version__} {kind.strip()} {version or ''}".strip()
    return f"fp_{blake2b(told.encode(), digest_size=6).hexdigest()}"


async def embeddings(call: Call) -> EmbeddingsAnswer:
    asked: EmbeddingsRequest = call.body
    return await call.context.executor.run(partial(embedded, asked), call.gone)


OPERATIONS = (
    Operation(
        "POST", "/v1/chat/completions", chat, "What a character answers", answers=ChatCompletion, body=ChatRequest,
        refuses=(503,), tag="OpenAI", streams=True,
    ),
    Operation("GET", "/v1/models", models, "Who can be spoken to", answers=Models, query=WhichModels, tag="OpenAI"),
    Operation("GET", "/v1/models/{model:path}", model, "Whether one can be spoken to", answers=Model, tag="OpenAI"),
    Operation(
        "POST", "/v1/embeddings", embeddings, "Texts as vectors of the shipped encoder", answers=EmbeddingsAnswer,
        body=EmbeddingsRequest, refuses=(503,), tag="OpenAI",
    ),
)  # fmt: skip
