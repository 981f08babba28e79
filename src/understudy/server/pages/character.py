"""The Character view: who somebody is at a moment, how they stand to others, and what they know from where."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from anyio import to_thread
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from understudy.dialogue import Situation
from understudy.errors import Dead, StoryError
from understudy.names import shown_names_at
from understudy.server.context import context_of
from understudy.server.drawing.bonds import Bond
from understudy.server.drawing.course_chart import sparkline
from understudy.server.drawing.portrayal import portray
from understudy.server.drawing.ties_graph import signed
from understudy.server.outward import situation_as_shown
from understudy.server.pages import address, page
from understudy.server.pages.knowledge import (
    Acquaintance,
    Known,
    Memory,
    about_others,
    acquaintances,
    dated_attributes,
    memories,
)
from understudy.server.pages.leaves import reading_address
from understudy.server.pages.timeline import Timeline, moment_asked, timeline_at
from understudy.server.problems import Refused
from understudy.server.standing import heard_so_far, person, situation_of
from understudy.story import Moment, holding_at
from understudy.storyfile import Story

__all__ = ["ROUTES"]

LATEST = 8  # scenes that are remembered at first sight


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address says."""

    story: str
    name: str
    at: str | None
    facing: str | None
    to: str | None
    """Towards whom the course is wanted, if not towards the one faced."""
    all_scenes: bool


@dataclass(frozen=True, slots=True)
class Tie:
    """A row of the list of ties; the course of affection where there is one."""

    bond: Bond
    spark: Markup | None
    charted: bool


@dataclass(frozen=True, slots=True)
class Portrait:
    """Everything the page shows of the character."""

    situation: Situation
    name: str
    graph: Markup
    towards: str | None
    chart: Markup | None
    ties: list[Tie]
    attributes: list[Known]
    told: list[Known]
    memories: list[Memory]
    more: bool
    """Whether there are earlier scenes than those shown."""
    known: list[Acquaintance]
    heard: set[str]
    """Who of all these can be visited in their turn."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen at a moment: the cast heard so far, and the character, or why there is nobody to see."""

    at: Moment
    line: Timeline
    cast: list[tuple[str, int]]
    portrait: Portrait | None
    refusal: str = ""
    alive_at: Moment | None = None
    """Of somebody who is dead by now: when they could last be met."""


async def show_character(request: Request) -> Response:
    query = request.query_params
    asked = Asked(
        request.path_params["story"], request.path_params["name"], query.get("at"), query.get("facing") or None,
        query.get("to") or None, query.get("scenes") == "all",
    )  # fmt: skip
    story = context_of(request).stories.story(asked.story)
    sight = await to_thread.run_sync(_seen, story, asked)

    def read_at(moment: Moment) -> str:
        return reading_address(asked.story, sight.at, moment)

    def picture(file: str, query: dict[str, str]) -> str:
        given = urlencode({key: value for key, value in query.items() if value}, quote_via=quote)
        who = quote(sight.portrait.name if sight.portrait else asked.name, safe="")
        return f"/api/stories/{quote(asked.story, safe='')}/characters/{who}/{file}?{given}"

    def of(name: str, to: str | None = None, scenes: str | None = None) -> str:
        same = name == (sight.portrait and sight.portrait.name)
        return character_address(asked.story, sight.at, name, asked.facing if same else None, to, scenes)

    def at_moment(moment: Moment) -> str:
        return character_address(asked.story, moment, asked.name)

    found = sight.portrait is not None or sight.alive_at is not None
    return page(
        request, "character.html", "character", 200 if found else 404, story=asked.story, at=sight.at.dotted,
        who=sight.portrait.name if sight.portrait else asked.name, sight=sight, portrait=sight.portrait, asked=asked,
        title=story.title, language=story.language, read_at=read_at, of=of, picture=picture, at_moment=at_moment,
        signed=signed,
    )  # fmt: skip


async def choose_character(request: Request) -> Response:
    """Whoever has been heard most by then."""
    name = request.path_params["story"]
    story = context_of(request).stories.story(name)
    at = await to_thread.run_sync(moment_asked, story, request.query_params.get("at"))
    cast = await to_thread.run_sync(heard_so_far, story, at)
    if not cast:
        return RedirectResponse(address("story", name, at.dotted), 303)
    return RedirectResponse(address("character", name, at.dotted, cast[0][0]), 303)


def character_address(
    story: str, at: Moment, name: str, facing: str | None = None, to: str | None = None, scenes: str | None = None
) -> str:
    asked = {"at": at.dotted, "facing": facing, "to": to, "scenes": scenes}
    given = {key: value for key, value in asked.items() if value}
    return f"/character/{quote(story, safe='')}/{quote(name, safe='')}?{urlencode(given, quote_via=quote)}"


def _seen(story: Story, asked: Asked) -> Sight:
    at = moment_asked(story, asked.at)
    line = timeline_at(story, at)
    cast = [(name, member.lines) for name, member in heard_so_far(story, at)]
    try:
        situation = situation_of(story, asked.name, at, asked.facing)
    except Dead:
        refusal = f"{asked.name} is dead by now. Go back to an earlier moment to meet them."
        return Sight(at, line, cast, None, refusal, _last_alive(story, person(story, asked.name, at), at))
    except (Refused, StoryError) as error:
        return Sight(at, line, cast, None, str(error))
    return Sight(at, line, cast, _portrait(story, situation, asked, {name for name, _ in cast}))


def _last_alive(story: Story, who: str, at: Moment) -> Moment | None:
    """The start of the last scene before somebody's death, which lies before now."""
    died = next((fact.since for fact in holding_at(story.facts(who), at) if fact.attribute == "died"), at)
    return max((scene for scene, _, _ in story.outline() if scene < died), default=None)


def _portrait(story: Story, situation: Situation, asked: Asked, heard: set[str]) -> Portrait:
    """`heard` are those who can be visited in their turn."""
    persona = situation.persona
    drawn = portray(story, persona)
    shown = situation_as_shown(situation, shown_names_at(story, persona.moment))
    towards = shown.faced.name if shown.faced else drawn.default_target()
    if asked.to is not None and drawn.has_course(asked.to):
        towards = asked.to
    remembered = memories(drawn.persona, None if asked.all_scenes else LATEST + 1)
    return Portrait(
        shown,
        drawn.shown,
        drawn.graph(lambda other: character_address(asked.story, persona.moment, other) if other in heard else None),
        towards,
        None
        if towards is None or not drawn.has_course(towards)
        else drawn.chart(towards, link=lambda moment: reading_address(asked.story, persona.moment, moment)),
        [
            Tie(
                bond,
                sparkline(bond.name, drawn.courses["affection"][bond.name], drawn.axis)
                if bond.name in drawn.courses["affection"]
                else None,
                drawn.has_course(bond.name),
            )
            for bond in drawn.bonds
        ],
        dated_attributes(story, persona),
        about_others(story, persona, drawn.known),
        remembered if asked.all_scenes else remembered[:LATEST],
        len(remembered) > LATEST and not asked.all_scenes,
        list(acquaintances(story, persona, drawn.known)),
        heard,
    )


ROUTES = [Route("/character/{story}", choose_character), Route("/character/{story}/{name:path}", show_character)]
