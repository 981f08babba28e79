"""The project's own API. Everything comes from `spoiler_free`, a persona or a card, never from after the moment.

Every read takes `at`, a moment; by default it is the end, and the whole story is known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType
from starlette.responses import Response

from understudy import __version__
from understudy.formats.cards import Card, card_from_text, json_of
from understudy.formats.cards.export import card_at
from understudy.formats.cards.file import png_of
from understudy.formats.cards.png import portrait
from understudy.formats.documents import cast_document, persona_document, reply_document, scene_document
from understudy.server.chats.schemas import FindingDocument, ReplyDocument
from understudy.server.operations import Call, Operations, attachment
from understudy.server.story_registry import ModelName, scene_as_shown, speakers_before
from understudy.server.telemetry import METRICS_TYPE
from understudy.story.dialogue import USER_NAME, Situation, Turn
from understudy.story.names import people_at, shown_names_at
from understudy.story.spoiler_free import scenes_before, timeline
from understudy.story.storyfile import CastMember, Story
from understudy.story.types import Character, Moment, Scene

Name = Annotated[str, Meta(min_length=1, max_length=500)]
Text = Annotated[str, Meta(max_length=20_000)]
When = Annotated[
    str, Meta(description="A moment of the story: 2.3, S03E05, start or end. Nothing after it is returned.")
]


class MomentQuery(msgspec.Struct):
    at: When = "end"


class ScenesQuery(MomentQuery):
    since: Annotated[str, Meta(description="Begin with this moment.")] = "start"
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class PersonaQuery(MomentQuery):
    facing: Annotated[str, Meta(max_length=500, description="Whom the character stands before.")] | None = None
    last: Annotated[int, Meta(ge=0, le=500, description="How many of the last lines and scenes to return.")] = 20


class CardQuery(MomentQuery):
    facing: Annotated[str, Meta(max_length=500)] | None = None
    spec: Annotated[int, Meta(ge=2, le=3, description="Which version of the card format.")] = 3


class StoryDocument(msgspec.Struct):
    name: str
    title: str
    language: str
    levels: list[str]


class AtMoment(msgspec.Struct):
    """What is told of a story up to a moment."""

    story: str
    moment: str


class StoryList(msgspec.Struct):
    stories: list[StoryDocument]


class CastMemberDocument(msgspec.Struct):
    name: str
    aliases: list[str]
    lines: int
    first: str | None
    last: str | None


class CastDocument(AtMoment):
    cast: list[CastMemberDocument]


class StopDocument(msgspec.Struct):
    moment: str
    reached: bool
    title: str
    setting: str
    lines: int | None


class TimelineDocument(AtMoment):
    stops: list[StopDocument]


class LineDocument(msgspec.Struct):
    moment: str
    speaker: str | None
    text: str


class SceneDocument(msgspec.Struct):
    moment: str
    setting: str
    present: list[str]
    lines: list[LineDocument]


class ScenePage(AtMoment):
    """`next` is the `since` of the next page; null on the last page."""

    scenes: list[SceneDocument]
    next: str | None


class OwnLineDocument(msgspec.Struct):
    moment: str
    text: str


class TieDocument(msgspec.Struct):
    to: str
    kind: str
    level: int | None
    since: str
    sentence: str
    found: FindingDocument | UnsetType = UNSET


class FoundSentenceDocument(msgspec.Struct):
    """A sentence of a profile that nobody wrote: it was found in the text."""

    sentence: str
    found: FindingDocument


class OtherDocument(msgspec.Struct):
    name: str
    profile: list[str]
    relations: list[TieDocument]
    found: list[FoundSentenceDocument] | UnsetType = UNSET


class PersonaDocument(msgspec.Struct):
    character: str
    moment: str
    profile: list[str]
    attributes: dict[str, list[str]]
    relations: list[TieDocument]
    lines: list[OwnLineDocument]
    memory: list[SceneDocument]
    found: list[FoundSentenceDocument] | UnsetType = UNSET
    facing: OtherDocument | UnsetType = UNSET


class TurnDocument(msgspec.Struct):
    speaker: Name
    text: Text


class ReplyRequest(msgspec.Struct):
    """`history` is what was said before the message, the character's own lines under its name."""

    story: Name
    character: Name
    message: Text
    at: When = "end"
    facing: Annotated[str, Meta(max_length=500)] | None = None
    history: Annotated[list[TurnDocument], Meta(max_length=2000)] = []


class Health(msgspec.Struct):
    status: str
    version: str


Result = TypeVar("Result")
STORY = "/api/stories/{story}"
CHARACTER = STORY + "/characters/{name}"
OPERATIONS = Operations("stories")


@OPERATIONS("GET", "/api/stories", "The stories that are on")
async def list_stories(call: Call) -> StoryList:
    return StoryList(
        [StoryDocument(name, story.title, story.language, list(story.levels)) for name, story in call.context.stories]
    )


async def _query_story(call: Call, at: str, work: Callable[[Story, Moment], Result]) -> Result:
    """Run work on the requested story at the requested moment, in a thread: stories are long, and on a disk."""

    def run() -> Result:
        story = call.context.stories.story(call.path("story"))
        return work(story, story.moment(at))

    return await asyncio.to_thread(run)


@OPERATIONS("GET", f"{STORY}/cast", "Who has spoken before a moment", CastDocument)
async def get_cast(call: Call, query: MomentQuery) -> dict[str, Any]:
    """Those who have spoken before the moment; at the end everybody, with their aliases."""

    def read(story: Story, moment: Moment) -> dict[str, Any]:
        cast = cast_document(_cast_at(story, moment))
        return {"story": call.path("story"), "moment": moment.dotted, "cast": cast}

    return await _query_story(call, query.at, read)


def _cast_at(story: Story, moment: Moment) -> list[CastMember]:
    if not moment.is_end:
        return [replace(member, character=Character(name)) for name, member in speakers_before(story, moment)]
    people = {person.name: Character(person.shown, person.known_as[1:]) for person in people_at(story, moment)}
    return [replace(each, character=people.get(each.character.name, each.character)) for each in story.cast()]


@OPERATIONS("GET", f"{STORY}/timeline", "Parts, chapters and scenes up to a moment")
async def get_timeline(call: Call, query: MomentQuery) -> TimelineDocument:
    def read(story: Story, moment: Moment) -> TimelineDocument:
        stops = [
            StopDocument(stop.moment.dotted, stop.reached, stop.title, stop.setting, stop.lines)
            for stop in timeline(story, moment)
        ]
        return TimelineDocument(call.path("story"), moment.dotted, stops)

    return await _query_story(call, query.at, read)


@OPERATIONS("GET", f"{STORY}/scenes", "The scenes before a moment, a page at a time", ScenePage)
async def get_scenes(call: Call, query: ScenesQuery) -> dict[str, Any]:
    def read(story: Story, moment: Moment) -> dict[str, Any]:
        names = shown_names_at(story, moment)
        scenes: list[Scene] = []
        following = None
        for scene in scenes_before(story, moment, story.moment(query.since)):
            if len(scenes) == query.limit:
                following = scene.moment.dotted
                break
            scenes.append(scene_as_shown(story, scene, moment, names))
        return {
            "story": call.path("story"),
            "moment": moment.dotted,
            "scenes": [scene_document(scene) for scene in scenes],
            "next": following,
        }

    return await _query_story(call, query.at, read)


async def _situation(call: Call, query: PersonaQuery | CardQuery) -> Situation:
    name = ModelName(call.path("story"), call.path("name"), query.at, query.facing or None)
    return (await call.context.stories.character_async(name)).shown_situation


@OPERATIONS("GET", CHARACTER, "Who somebody is at a moment", PersonaDocument, tag="characters")
async def get_persona(call: Call, query: PersonaQuery) -> dict[str, Any]:
    return await asyncio.to_thread(persona_document, await _situation(call, query), query.last)


@OPERATIONS("GET", f"{CHARACTER}/card.json", "A character card as of a moment", dict[str, Any], tag="characters")
async def get_card_json(call: Call, query: CardQuery) -> Response:
    card = await _card(call, query)
    return Response(json_of(card), media_type="application/json", headers=attachment(f"{card.name}.json"))


@OPERATIONS("GET", f"{CHARACTER}/card.png", "The same inside a picture", media="image/png", tag="characters")
async def get_card_png(call: Call, query: CardQuery) -> Response:
    card = await _card(call, query)
    story = call.context.stories.story(call.path("story"))

    def render() -> bytes:
        own = story.picture(card.name) if story.is_name(card.name) else None
        return png_of(card, own or _portrait(card.name))

    picture = await asyncio.to_thread(render)
    return Response(picture, media_type="image/png", headers=attachment(f"{card.name}.png"))


_portrait = lru_cache(256)(portrait)  # slow to draw, and always the same for a name


async def _card(call: Call, query: CardQuery) -> Card:
    situation = await _situation(call, query)
    story = call.context.stories.story(call.path("story"))

    def export() -> Card:
        name = situation.persona.name
        original = card_from_text(story.card(name)) if story.is_name(name) else None
        return card_at(situation, story.title, query.spec, original)

    return await asyncio.to_thread(export)


@OPERATIONS(
    "POST", "/api/replies", "A reply, and what it was made from", ReplyDocument, refuses=(503,), tag="characters"
)
async def create_reply(call: Call, body: ReplyRequest) -> dict[str, Any]:
    name = ModelName(body.story, body.character, body.at, body.facing or None)
    character = await call.context.stories.character_async(name)
    situation = character.situation
    speaker = situation.faced.name if situation.faced else USER_NAME
    earlier = (Turn(character.speaker(turn.speaker, USER_NAME), turn.text) for turn in body.history)
    history = [*earlier, Turn(speaker, body.message)]
    reply = await call.context.executor.reply(situation, history, call.disconnected)
    return reply_document(character.redact(reply))


@OPERATIONS("GET", "/health", "Whether the server is up", tag="server")
async def get_health(_: Call) -> Health:
    return Health("ok", __version__)


@OPERATIONS("GET", "/metrics", "Figures for Prometheus", media="text/plain", tag="server")
async def get_metrics(call: Call) -> Response:
    return Response(call.context.telemetry.exposition(), headers={"Content-Type": METRICS_TYPE})
