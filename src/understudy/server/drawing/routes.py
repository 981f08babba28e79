"""What can be asked of the pictures: a portrait, the ties, the course of a feeling. Each stands alone, to be kept."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote

import msgspec
from anyio import to_thread
from markupsafe import Markup
from starlette.responses import Response

from understudy.names import shown_names_at
from understudy.server.drawing.portraits import portrait
from understudy.server.drawing.portrayal import LEVELS, portrayed
from understudy.server.lookup import situation_of
from understudy.server.operations import Call, Operation
from understudy.server.problems import Refused
from understudy.storyfile import Story

__all__ = ["OPERATIONS"]

SVG = "image/svg+xml"
KEPT = {"Cache-Control": "private, max-age=86400"}  # a portrait depends on the name alone

Name = Annotated[str, msgspec.Meta(max_length=200)]


class TiesAsked(msgspec.Struct):
    at: Name = "end"
    facing: Name | None = None


class CourseAsked(msgspec.Struct):
    at: Name = "end"
    to: Name | None = None
    kind: Literal["both", "affection", "familiarity"] = "both"


async def draw_portrait(call: Call) -> Response:
    call.context.stories.story(call.path("story"))
    return Response(portrait(call.path("name")), media_type=SVG, headers=KEPT)


async def draw_ties(call: Call) -> Response:
    story, name, asked = call.context.stories.story(call.path("story")), call.path("name"), call.query
    assert isinstance(asked, TiesAsked)
    return _file(await to_thread.run_sync(_ties, story, name, asked), f"{name} ties {asked.at}")


async def draw_course(call: Call) -> Response:
    story, name, asked = call.context.stories.story(call.path("story")), call.path("name"), call.query
    assert isinstance(asked, CourseAsked)
    picture = await to_thread.run_sync(_course, story, name, asked)
    return _file(picture, f"{name} towards {asked.to or 'others'} {asked.at}")


def _file(picture: Markup, name: str) -> Response:
    """A file to keep: its style is its own, which the pages' content policy would not let a browser show in place."""
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}.svg"
    return Response(picture, media_type=SVG, headers={"Content-Disposition": disposition})


def _ties(story: Story, name: str, asked: TiesAsked) -> Markup:
    situation = situation_of(story, name, story.moment(asked.at), asked.facing)
    return portrayed(story, situation.persona).graph(alone=True)


def _course(story: Story, name: str, asked: CourseAsked) -> Markup:
    at = story.moment(asked.at)
    kinds = LEVELS if asked.kind == "both" else (asked.kind,)
    shown = portrayed(story, situation_of(story, name, at).persona)
    to = shown.watched() if asked.to is None else asked.to
    if asked.to is not None and not shown.has_course(asked.to, kinds):  # called otherwise, or only stood before
        situation = situation_of(story, name, at, asked.to)
        shown = portrayed(story, situation.persona)
        to = None if situation.faced is None else shown_names_at(story, at).of(situation.faced.name)
    if to is None or not shown.has_course(to, kinds):
        whom = "anybody" if to is None else to
        raise Refused(f"nothing is told of such a feeling of {shown.shown} towards {whom} so far", 404, "to")
    return shown.chart(to, kinds, alone=True)


OPERATIONS = (
    Operation(
        "GET", "/api/stories/{story}/characters/{name}/portrait.svg", draw_portrait,
        "A portrait drawn from a name's initials", media=SVG, refuses=(404,), tag="pictures",
    ),
    Operation(
        "GET", "/api/stories/{story}/characters/{name}/relations.svg", draw_ties,
        "The graph of a character's ties at a moment (the end, if none is given)", media=SVG, query=TiesAsked,
        refuses=(404,), tag="pictures",
    ),
    Operation(
        "GET", "/api/stories/{story}/characters/{name}/course.svg", draw_course,
        "How affection and familiarity towards somebody went, up to a moment (the end, if none is given)", media=SVG,
        query=CourseAsked, refuses=(404,), tag="pictures",
    ),
)  # fmt: skip
