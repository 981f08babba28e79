"""The endpoints of OpenAI's API: models, chat completions, embeddings."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from hashlib import blake2b

import msgspec
from starlette.responses import Response

from understudy import __version__
from understudy.dialogue import Agent
from understudy.server.event_stream import EventStream
from understudy.server.names import ModelName, shown_names, speakers_before
from understudy.server.openai.completions import Completing
from understudy.server.openai.encoder import embed
from understudy.server.openai.requests import model_not_found, parse_request
from understudy.server.openai.schemas import (
    ChatCompletion,
    ChatRequest,
    EmbeddingList,
    EmbeddingsRequest,
    Model,
    ModelList,
    ModelsQuery,
)
from understudy.server.operations import Call, Operation
from understudy.server.story_registry import StoryRegistry
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["OPERATIONS"]

OWNER = "understudy"
STARTED = int(time.time())


async def list_models(call: Call) -> ModelList:
    """Every character of every story at its end; or those of a story who have spoken before a moment."""
    query: ModelsQuery = call.query
    registry = call.context.stories
    stories = [query.story] if query.story is not None else [name for name, _ in registry]
    models = await asyncio.to_thread(lambda: [_models_of(registry, name, query.at) for name in stories])
    return ModelList([model for of_story in models for model in of_story])


def _models_of(registry: StoryRegistry, name: str, at: str) -> list[Model]:
    story = registry.story(name)
    moment = story.moment(at)
    people = _all_speakers(story, moment) if moment.is_end else [shown for shown, _ in speakers_before(story, moment)]
    return [_model(ModelName(name, person, moment.dotted)) for person in people]


def _all_speakers(story: Story, end: Moment) -> list[str]:
    names, cast = shown_names(story, end), story.cast()
    speakers = [member for member in cast if member.lines] or cast  # a character card has a cast and no lines
    return [names.get(member.character.name, member.character.name) for member in speakers]


def _model(name: ModelName) -> Model:
    return Model(str(name), STARTED, OWNER)


async def get_model(call: Call) -> Model:
    name = ModelName.parse(call.path("model"))
    with model_not_found():
        character = await call.context.stories.character_async(name)
    moment, faced = character.situation.persona.moment, character.shown_situation.faced
    return _model(ModelName(name.story, character.shown_name, moment.dotted, None if faced is None else faced.name))


async def create_completion(call: Call) -> ChatCompletion | Response:
    request: ChatRequest = call.body
    parsed = await parse_request(request, call.context.stories)
    executor, lines = call.context.executor, call.context.utterances
    agent = executor.named(request.agent)
    version = 0 if lines is None else await asyncio.to_thread(lines.version)
    asked = msgspec.json.encode((request.model, request.agent, request.messages))
    again = None if parsed.is_fixed else executor.repetitions.again(asked)
    completing = Completing(executor, parsed, request.model, fingerprint_of(agent, version), request.agent, again)
    async with completing.watching(call.disconnected):
        if not request.stream:
            return await completing.whole(bool(request.logprobs))
        options = request.stream_options
        events = await completing.events(bool(options and options.include_usage), bool(request.logprobs))
    return EventStream(events, completing.cancellation.cancel)


def fingerprint_of(agent: Agent, version: int = 0) -> str:
    """Differs between servers that may reply differently; `version` is that of the utterance database."""
    kind = f"{type(agent).__module__}.{type(agent).__qualname__} {getattr(agent, 'description', '')}"
    identity = f"{__version__} {kind.strip()} {version or ''}".strip()
    return f"fp_{blake2b(identity.encode(), digest_size=6).hexdigest()}"


async def create_embeddings(call: Call) -> EmbeddingList:
    request: EmbeddingsRequest = call.body
    return await call.context.executor.run(partial(embed, request), call.disconnected)


OPERATIONS = (
    Operation(
        "POST", "/v1/chat/completions", create_completion, "What a character answers",
        answers=ChatCompletion, body=ChatRequest, refuses=(502, 503), tag="OpenAI", streams=True,
    ),
    Operation(
        "GET", "/v1/models", list_models, "Who can be spoken to", answers=ModelList, query=ModelsQuery, tag="OpenAI"
    ),
    Operation("GET", "/v1/models/{model:path}", get_model, "A model, if it exists", answers=Model, tag="OpenAI"),
    Operation(
        "POST", "/v1/embeddings", create_embeddings, "Texts as vectors of the shipped encoder",
        answers=EmbeddingList, body=EmbeddingsRequest, refuses=(503,), tag="OpenAI",
    ),
)  # fmt: skip
