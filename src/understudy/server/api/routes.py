"""The routes of the API. What they show comes from `spoiler_free`, a persona or a card, never from after the moment.

Every read takes `at`, a moment; without it the whole story is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.responses import Response

from understudy import __version__
from understudy.cards import Card, json_of, png_of, portrait
from understudy.dialogue import Situation, Turn
from understudy.documents import cast_document, persona_document, reply_document, scene_document
from understudy.export import card_at
from understudy.names import people_at, shown_names_at
from understudy.server.api.types import (
    At,
    Cast,
    Health,
    PersonaAnswer,
    ReplyAnswer,
    ReplyRequest,
    Scenes,
    Stories,
    StoryAnswer,
    Timeline,
    WhichCard,
    WhichPersona,
    WhichScenes,
)
from understudy.server.naming import ModelName
from understudy.server.operations import Call, Operation
from understudy.server.outward import scene_as_shown
from understudy.server.standing import heard_so_far
from understudy.server.telemetry import METRICS_TYPE
from understudy.spoiler_free import scenes_before, timeline
from understudy.story import Character, Moment, Scene
from understudy.storyfile import CastMember, Story

__all__ = ["OPERATIONS"]

SOMEBODY = "You"  # speaks to the character when nobody of the story does
Found = TypeVar("Found")


async def stories(call: Call) -> Stories:
    return Stories(
        [StoryAnswer(name, story.title, story.language, list(story.levels)) for name, story in call.context.stories]
    )


async def _looked_up(call: Call, look: Callable[[Story, Moment], Found]) -> Found:
    """Look something up in a story at a moment, in a thread: a story may be long, and lies on a disk."""
    name, at = call.path("story"), call.query.at

    def looking() -> Found:
        story = call.context.stories.story(name)
        return look(story, story.moment(at))

    return await asyncio.to_thread(looking)


async def cast(call: Call) -> dict[str, Any]:
    """Those who have spoken before the moment; at the end everybody, with what else they are called."""

    def look(story: Story, moment: Moment) -> dict[str, Any]:
        members = _everybody(story, moment) if moment.is_end else _shown(story, moment)
        return {"story": call.path("story"), "moment": moment.dotted, "cast": cast_document(members)}

    return await _looked_up(call, look)


def _everybody(story: Story, end: Moment) -> list[CastMember]:
    people = {one.name: one for one in people_at(story, end)}
    cast = [(member, people.get(member.character.name)) for member in story.cast()]
    return [
        member if one is None else replace(member, character=Character(one.shown, one.known_as[1:]))
        for member, one in cast
    ]


def _shown(story: Story, moment: Moment) -> list[CastMember]:
    return [replace(member, character=Character(name)) for name, member in heard_so_far(story, moment)]


async def stops(call: Call) -> dict[str, Any]:
    def look(story: Story, moment: Moment) -> dict[str, Any]:
        told = [
            {
                "moment": stop.moment.dotted,
                "reached": stop.reached,
                "title": stop.title,
                "setting": stop.setting,
                "lines": stop.lines,
            }
            for stop in timeline(story, moment)
        ]
        return {"story": call.path("story"), "moment": moment.dotted, "stops": told}

    return await _looked_up(call, look)


async def scenes(call: Call) -> dict[str, Any]:
    asked: WhichScenes = call.query

    def look(story: Story, moment: Moment) -> dict[str, Any]:
        names = shown_names_at(story, moment)
        found: list[Scene] = []
        following = None
        for scene in scenes_before(story, moment, story.moment(asked.since)):
            if len(found) == asked.limit:
                following = scene.moment.dotted
                break
            found.append(scene_as_shown(story, scene, moment, names))
        return {
            "story": call.path("story"),
            "moment": moment.dotted,
            "scenes": [scene_document(scene) for scene in found],
            "next": following,
        }

    return await _looked_up(call, look)


async def _situation(call: Call) -> Situation:
    name = ModelName(call.path("story"), call.path("name"), call.query.at, call.query.facing or None)
    return (await call.context.stories.role_soon(name)).shown_situation


async def persona(call: Call) -> dict[str, Any]:
    situation = await _situation(call)
    return await asyncio.to_thread(persona_document, situation, call.query.last)


async def card_json(call: Call) -> Response:
    card = await _card(call)
    return _file(json_of(card), "application/json", "json", card)


async def card_png(call: Call) -> Response:
    card = await _card(call)
    return _file(await asyncio.to_thread(_picture, card), "image/png", "png", card)


def _picture(card: Card) -> bytes:
    return png_of(card, _portrait(card.name))


_portrait = lru_cache(256)(portrait)  # drawing one takes a while, and a name's is always the same


async def _card(call: Call) -> Card:
    situation = await _situation(call)
    title = call.context.stories.story(call.path("story")).title
    return await asyncio.to_thread(card_at, situation, title, call.query.spec)


def _file(content: bytes, media: str, ending: str, card: Card) -> Response:
    name = quote(f"{card.name}.{ending}", safe="")
    return Response(content, media_type=media, headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}"})


async def reply(call: Call) -> dict[str, Any]:
    asked: ReplyRequest = call.body
    name = ModelName(asked.story, asked.character, asked.at, asked.facing or None)
    role = await call.context.stories.role_soon(name)
    situation = role.situation
    speaker = situation.faced.name if situation.faced else SOMEBODY
    earlier = (Turn(role.speaker(turn.speaker, SOMEBODY), turn.text) for turn in asked.history)
    history = [*earlier, Turn(speaker, asked.message)]
    return reply_document(role.outward(await call.context.executor.reply(situation, history, call.gone)))


async def health(_: Call) -> Health:
    return Health("ok", __version__)


async def metrics(call: Call) -> Response:
    return Response(call.context.telemetry.exposition(), headers={"Content-Type": METRICS_TYPE})


ONE = "/api/stories/{story}"
WHO = ONE + "/characters/{name}"
OPERATIONS = (
    Operation("GET", "/api/stories", stories, "The stories that are on", answers=Stories),
    Operation("GET", f"{ONE}/cast", cast, "Who has spoken before a moment", answers=Cast, query=At),
    Operation(
        "GET", f"{ONE}/timeline", stops, "Parts, chapters and scenes, told up to a moment", answers=Timeline, query=At
    ),
    Operation(
        "GET", f"{ONE}/scenes", scenes, "The scenes before a moment, a page at a time",
        answers=Scenes, query=WhichScenes,
    ),
    Operation(
        "GET", WHO, persona, "Who somebody is at a moment",
        answers=PersonaAnswer, query=WhichPersona, tag="characters",
    ),
    Operation(
        "GET", f"{WHO}/card.json", card_json, "A character card as of a moment",
        answers=dict[str, Any], query=WhichCard, tag="characters",
    ),
    Operation(
        "GET", f"{WHO}/card.png", card_png, "The same inside a picture",
        media="image/png", query=WhichCard, tag="characters",
    ),
    Operation(
        "POST", "/api/replies", reply, "A reply, and what it was made from",
        answers=ReplyAnswer, body=ReplyRequest, refuses=(503,), tag="characters",
    ),
    Operation("GET", "/health", health, "Whether the server is up", answers=Health, tag="server"),
    Operation("GET", "/metrics", metrics, "Figures for Prometheus", media="text/plain", tag="server"),
)  # fmt: skip
