"""The endpoints of OpenAI's API: models, chat completions, completions of texts, embeddings."""

from __future__ import annotations

import asyncio
import base64
import time
from collections import Counter
from functools import cache, partial
from hashlib import blake2b

import msgspec
import numpy as np
from starlette.responses import Response

from understudy import __version__
from understudy.formats.cards import USER
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.server.context import Listed
from understudy.server.openai.completions import Completing
from understudy.server.openai.requests import ParsedRequest, model_not_found, parse_request, parse_text_request
from understudy.server.openai.schemas import (
    ChatCompletion,
    ChatRequest,
    Embedding,
    EmbeddingList,
    EmbeddingsRequest,
    EmbeddingsUsage,
    Model,
    ModelList,
    ModelsQuery,
    TextCompletion,
    TextRequest,
)
from understudy.server.operations import Call, Operations
from understudy.server.problems import Refused
from understudy.server.story_registry import ModelName, StoryRegistry, speakers_before
from understudy.server.streaming import EventStream, count_tokens
from understudy.story.dialogue import Agent
from understudy.story.names import shown_names
from understudy.story.persona import died_at
from understudy.story.storyfile import CastMember, Story
from understudy.story.types import Fact, Moment, Relation

OWNER = "understudy"
ENCODER = "encoder"
MAX_TEXTS = 256
MAIN, MAIN_SHARE = 12, 0.1  # characters of a story, and the least share of the lines of who speaks most
TURNS = 3  # moments between start and end
STARTED = int(time.time())
OPERATIONS = Operations("OpenAI")

Completed = ChatCompletion | TextCompletion | Response


@OPERATIONS("GET", "/v1/models", "Who can be spoken to")
async def list_models(call: Call, query: ModelsQuery) -> ModelList:
    """The characters of every story at a few moments, or those of a story who have spoken before a moment.

    Any other moment can be asked for all the same.
    """
    registry = call.context.stories
    stories = [query.story] if query.story is not None else [name for name, _ in registry]

    def of_stories() -> list[Model]:
        return [model for name in stories for model in _models_of(registry, name, query.at, call.context.listed)]

    return ModelList(await asyncio.to_thread(of_stories))


def _models_of(registry: StoryRegistry, name: str, at: str | None, listed: Listed) -> list[Model]:
    story = registry.story(name)
    if at is not None:
        moment = story.moment(at)
        shown = [shown for shown, _ in speakers_before(story, moment)]
        return [_model(ModelName(name, person, moment.dotted), f"{person}, {moment.dotted}") for person in shown]
    title = f" ({story.title or name})" if len(tuple(registry)) > 1 and not story.is_of_cards else ""
    cast = _speakers(story) if listed == "all" else _main_characters(story)
    return [
        _model(ModelName(name, _shown_at(story, member, moment), moment.dotted), f"{label}{title}")
        for member in cast
        for moment, label in _moments_of(story, member, "end" if listed == "end" else "all")
    ]


def _speakers(story: Story) -> list[CastMember]:
    cast = story.cast()
    speakers = [member for member in cast if member.lines] or list(cast)  # a card has a cast and no lines
    has_card = any(story.card(member.character.name) is not None for member in cast)
    return [member for member in speakers if not (has_card and member.character.name == USER)]


def _main_characters(story: Story) -> list[CastMember]:
    speakers = _speakers(story)
    most = max((member.lines for member in speakers), default=0)
    return [member for member in speakers if member.lines >= MAIN_SHARE * most][:MAIN]


def _moments_of(story: Story, member: CastMember, which: str) -> list[tuple[Moment, str]]:
    """Moments at which somebody can be spoken to: the end, the start, where much changes; a card has but one.

    What each is called begins with what tells it apart: programs cut a name after some 30 letters.
    """
    who = member.character.name
    if story.is_of_cards:
        return [(Moment.end(), who)]
    facts = story.facts(who)
    scenes = [moment for moment, _, _ in story.outline()]
    died = died_at(facts, Moment.end())
    end = Moment.end() if died is None else max((scene for scene in scenes if scene < died), default=None)
    found = [] if end is None else [(end, "end" if died is None else f"last ({end.dotted})")]
    start = next((scene for scene in scenes if member.first is not None and scene > member.first), None)
    if which == "all" and start is not None and end is not None and start < end:
        found.append((start, f"start ({start.dotted})"))
        dated: tuple[Fact | Relation, ...] = (*facts, *story.relations(of=who))
        changes = Counter(change.since for change in dated if start < change.since < end)
        by_chapter: dict[tuple[int, ...], list[Moment]] = {}
        for moment in changes or scenes[:: max(len(scenes) // (TURNS + 1), 1)]:
            if start < moment < end:
                by_chapter.setdefault(moment.numbers[:2], []).append(moment)
        weight = {part: sum(changes[moment] for moment in moments) for part, moments in by_chapter.items()}
        turns = sorted(weight, key=lambda part: (-weight[part], part))[:TURNS]
        for part in sorted(turns):
            turn = max(by_chapter[part], key=lambda moment: (changes[moment], moment))
            found.append((turn, turn.dotted))
    return [(moment, f"{_shown_at(story, member, moment)}, {label}") for moment, label in found]


def _shown_at(story: Story, member: CastMember, moment: Moment) -> str:
    return shown_names(story, moment).get(member.character.name, member.character.name)


def _model(name: ModelName, label: str) -> Model:
    return Model(str(name), STARTED, OWNER, label)


@OPERATIONS("GET", "/v1/models/{model:path}", "A model, if it exists")
async def get_model(call: Call) -> Model:
    name = ModelName.parse(call.path("model"))
    with model_not_found():
        character = await call.context.stories.character_async(name)
    moment, faced = character.situation.persona.moment, character.shown_situation.faced
    model = ModelName(name.story, character.shown_name, moment.dotted, None if faced is None else faced.name)
    is_of_cards = call.context.stories.story(name.story).is_of_cards
    return _model(model, character.shown_name if is_of_cards else f"{character.shown_name}, {moment.dotted}")


@OPERATIONS(
    "POST", "/v1/chat/completions", "What a character answers", ChatCompletion, refuses=(502, 503), streams=True
)
async def create_completion(call: Call, body: ChatRequest) -> Completed:
    parsed = await parse_request(body, call.context.stories)
    asked = msgspec.json.encode((body.model, body.agent, body.messages))
    return await _complete(call, body, parsed, asked, bool(body.logprobs))


@OPERATIONS(
    "POST", "/v1/completions", "How a character goes on with a text", TextCompletion, refuses=(502, 503), streams=True
)
async def create_text_completion(call: Call, body: TextRequest) -> Completed:
    parsed = await parse_text_request(body, call.context.stories)
    return await _complete(call, body, parsed, msgspec.json.encode((body.model, body.agent, body.prompt)))


async def _complete(
    call: Call, request: ChatRequest | TextRequest, parsed: ParsedRequest, asked: bytes, log_probs: bool = False
) -> Completed:
    """`asked` is what makes two requests the same."""
    executor, lines = call.context.executor, call.context.utterances
    agent = executor.named(request.agent)
    version = 0 if lines is None else await asyncio.to_thread(lines.version)
    again = None if parsed.is_fixed else executor.repetitions.again(asked)
    is_text, fingerprint = isinstance(request, TextRequest), fingerprint_of(agent, version)
    completing = Completing(executor, parsed, request.model, fingerprint, request.agent, again, is_text)
    async with completing.watching(call.disconnected):
        if not request.stream:
            return await completing.whole(log_probs)
        options = request.stream_options
        events = await completing.events(bool(options and options.include_usage), log_probs)
    return EventStream(events, completing.cancellation.cancel)


def fingerprint_of(agent: Agent, version: int = 0) -> str:
    """Differs between servers that may reply differently; `version` is that of the utterance database."""
    kind = f"{type(agent).__module__}.{type(agent).__qualname__} {getattr(agent, 'description', '')}"
    identity = f"{__version__} {kind.strip()} {version or ''}".strip()
    return f"fp_{blake2b(identity.encode(), digest_size=6).hexdigest()}"


@OPERATIONS("POST", "/v1/embeddings", "Texts as vectors of the shipped encoder", refuses=(503,))
async def create_embeddings(call: Call, body: EmbeddingsRequest) -> EmbeddingList:
    return await call.context.executor.run(partial(_embed, body), call.disconnected)


@cache
def _encoder() -> SentenceEncoder:
    return SentenceEncoder(cache=False)  # clients' texts are not stored


def _embed(request: EmbeddingsRequest) -> EmbeddingList:
    if request.model != ENCODER:
        problem = f"'{request.model[:80]}' makes no embeddings here: use '{ENCODER}', the encoder that ships"
        raise Refused(problem, 404, param="model", code="model_not_found")
    texts = _validated(request.input)
    encoder = _encoder()
    if request.dimensions not in (None, encoder.width):
        problem = f"vectors have {encoder.width} dimensions and are not shortened: leave dimensions out"
        raise Refused(problem, 400, param="dimensions", code="unsupported_parameter")
    vectors = encoder.encode(texts, keep=False)
    tokens = sum(count_tokens(texts))
    as_base64 = request.encoding_format == "base64"
    embeddings = [
        Embedding(index, base64.b64encode(vector.astype(np.float32)).decode() if as_base64 else vector.tolist())
        for index, vector in enumerate(vectors)
    ]
    return EmbeddingList(embeddings, request.model, EmbeddingsUsage(tokens, tokens))


def _validated(value: object) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        raise Refused("input must be a text, or a list of texts", 400, param="input")
    if any(isinstance(text, int | list) for text in texts):
        raise Refused("input cannot be tokens, which mean other words to other models: send the text", 400, "input")
    if len(texts) > MAX_TEXTS:
        raise Refused(f"input may hold at most {MAX_TEXTS} texts: send the rest in another request", 400, "input")
    for index, text in enumerate(texts):
        if not isinstance(text, str) or not text:
            raise Refused("a text to embed must be a string, and not empty", 400, param=f"input[{index}]")
    return texts
