"""The pictures of a character at a moment: what they show, gathered once, and their HTTP operations.

Each operation returns a standalone SVG file, or the picture of a card.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import quote

import msgspec
from anyio import to_thread
from starlette.responses import RedirectResponse, Response

from understudy.server.drawing import portrait
from understudy.server.drawing.charts import TimeAxis, course_chart, time_axis
from understudy.server.drawing.ties_graph import Bond, bonds_of, known_since, ties_graph
from understudy.server.operations import Call, Operations, attachment
from understudy.server.problems import Refused
from understudy.server.story_registry import persona_as_shown, situation_of, tones
from understudy.story.names import shown_names_at
from understudy.story.persona import Persona
from understudy.story.spoiler_free import Course, courses_so_far, most_changed, timeline
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.svg import Markup

LEVELS = ("affection", "familiarity")


@dataclass(frozen=True, slots=True)
class Portrayal:
    persona: Persona
    """With the names a reader is shown."""
    known: Mapping[str, Moment]
    """Since which scene the character has known each person."""
    bonds: Sequence[Bond]
    axis: TimeAxis
    courses: Mapping[str, Mapping[str, Course]]
    """By kind of level, then by person."""
    tones: Mapping[str, int]
    """The tones of portraits, by the names that are shown."""

    @property
    def shown(self) -> str:
        """The name the character is shown by, which may be a false one."""
        return self.persona.name

    def default_target(self) -> str | None:
        """The person towards whom affection or familiarity has changed most; if none has, the best known."""
        changed = most_changed(dict(self.courses["affection"])) or most_changed(dict(self.courses["familiarity"]))
        charted = [bond for bond in self.bonds if self.has_course(bond.name)]
        best = max(charted, key=lambda bond: (bond.nearness or 0, abs(bond.feeling or 0)), default=None)
        return changed or (None if best is None else best.name)

    def has_course(self, to: str, kinds: Sequence[str] = LEVELS) -> bool:
        return any(to in self.courses[kind] for kind in kinds)

    def graph(self, link: Callable[[str], str | None] | None = None, standalone: bool = False) -> Markup:
        return ties_graph(self.shown, self.bonds, _when(self.persona.moment), link, standalone, self.tones)

    def chart(
        self,
        to: str,
        kinds: Sequence[str] = LEVELS,
        link: Callable[[Moment], str] | None = None,
        standalone: bool = False,
    ) -> Markup:
        towards = {kind: self.courses[kind].get(to, []) for kind in kinds}
        return course_chart(self.shown, to, towards, self.axis, _when(self.persona.moment), link, standalone)


def portray(story: Story, persona: Persona) -> Portrayal:
    known, names = known_since(story, persona), shown_names_at(story, persona.moment)
    shown = persona_as_shown(persona, names)
    courses = {
        kind: {names.of(name): course for name, course in courses_so_far(story, persona, kind).items()}
        for kind in LEVELS
    }
    axis = time_axis(list(timeline(story, persona.moment)), persona.moment)
    return Portrayal(shown, known, bonds_of(shown, known), axis, courses, tones(story, persona.moment))


def _when(moment: Moment) -> str:
    """A moment as part of a sentence."""
    return "at the end" if moment.is_end else f"at {moment}"


SVG, PNG = "image/svg+xml", "image/png"
SHORTLY_CACHED = {"Cache-Control": "private, max-age=300"}  # the story may be read again
CACHED = {"Cache-Control": "private, max-age=86400"}  # a portrait depends on the name and the tone alone

Name = Annotated[str, msgspec.Meta(max_length=200)]


class PortraitQuery(msgspec.Struct):
    tone: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=100_000)] | None,
        msgspec.Meta(description="the place in a cast whose colour it gets; null for the name's own"),
    ] = None


class TiesQuery(msgspec.Struct):
    at: Name = "end"
    facing: Name | None = None


class CourseQuery(msgspec.Struct):
    at: Name = "end"
    to: Name | None = None
    kind: Literal["both", "affection", "familiarity"] = "both"


CHARACTER = "/api/stories/{story}/characters/{name}"
OPERATIONS = Operations("pictures")


@OPERATIONS(
    "GET", f"{CHARACTER}/portrait.svg",
    "A portrait drawn from a name's initials, or the way to the picture of the card", media=SVG,
)  # fmt: skip
async def draw_portrait(call: Call, query: PortraitQuery) -> Response:
    story, name = call.context.stories.story(call.path("story")), call.path("name")
    if await to_thread.run_sync(_picture, story, name) is not None:
        address = f"/api/stories/{quote(call.path('story'), safe='')}/characters/{quote(name, safe='')}/portrait.png"
        return RedirectResponse(address, headers=SHORTLY_CACHED)
    return Response(portrait(name, query.tone), media_type=SVG, headers=CACHED)


@OPERATIONS("GET", f"{CHARACTER}/portrait.png", "The picture that a character's card came in", media=PNG)
async def get_picture(call: Call) -> Response:
    story, name = call.context.stories.story(call.path("story")), call.path("name")
    picture = await to_thread.run_sync(_picture, story, name)
    if picture is None:
        raise Refused(f"there is no picture of {name[:80]}: portrait.svg draws one", 404, "name")
    return Response(picture, media_type=PNG, headers=SHORTLY_CACHED)


def _picture(story: Story, name: str) -> bytes | None:
    return story.picture(name) if story.is_name(name) else None


@OPERATIONS(
    "GET", f"{CHARACTER}/relations.svg",
    "The graph of a character's ties at a moment (the end, if none is given)", media=SVG,
)  # fmt: skip
async def draw_ties(call: Call, query: TiesQuery) -> Response:
    story, name = call.context.stories.story(call.path("story")), call.path("name")

    def draw() -> Markup:
        situation = situation_of(story, name, story.moment(query.at), query.facing)
        return portray(story, situation.persona).graph(standalone=True)

    return _file(await to_thread.run_sync(draw), f"{name} ties {query.at}")


@OPERATIONS(
    "GET", f"{CHARACTER}/course.svg",
    "How affection and familiarity towards somebody went, up to a moment (the end, if none is given)", media=SVG,
)  # fmt: skip
async def draw_course(call: Call, query: CourseQuery) -> Response:
    story, name = call.context.stories.story(call.path("story")), call.path("name")
    picture = await to_thread.run_sync(_course, story, name, query)
    return _file(picture, f"{name} towards {query.to or 'others'} {query.at}")


def _file(picture: Markup, name: str) -> Response:
    """A download: the picture has an inline style sheet, which the content security policy forbids in a page."""
    return Response(picture, media_type=SVG, headers=attachment(f"{name}.svg"))


def _course(story: Story, name: str, query: CourseQuery) -> Markup:
    at = story.moment(query.at)
    kinds = LEVELS if query.kind == "both" else (query.kind,)
    portrayal = portray(story, situation_of(story, name, at).persona)
    to = portrayal.default_target() if query.to is None else query.to
    if query.to is not None and not portrayal.has_course(query.to, kinds):
        # `to` is another name of a person, or a person who can be faced but has no course yet
        situation = situation_of(story, name, at, query.to)
        portrayal = portray(story, situation.persona)
        to = None if situation.faced is None else shown_names_at(story, at).of(situation.faced.name)
    if to is None or not portrayal.has_course(to, kinds):
        whom = "anybody" if to is None else to
        raise Refused(f"nothing is told of such a feeling of {portrayal.shown} towards {whom} so far", 404, "to")
    return portrayal.chart(to, kinds, standalone=True)
