"""The HTML pages, rendered from templates with autoescaping, and the timeline slider that those of stories have.

Scripts of a page use the same HTTP operations as any other client. The content security policy forbids inline scripts
and styles, so a template passes data in `data-` attributes and classes.

The slider's stops are the starts of scenes, and the end of the story. At a stop, everything before that scene has
happened. Titles of chapters and settings are shown up to the moment only; what comes later is ticks without text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from understudy.errors import UnderstudyError
from understudy.server.context import context_of
from understudy.server.problems import problem_of, status_of
from understudy.story.spoiler_free import Stop, timeline
from understudy.story.storyfile import Story
from understudy.story.types import Moment

MAX_CELLS = 240  # more cannot be distinguished on a screen: a cell is then a chapter, or a part


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("understudy.server"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals |= {"address": address, "portrait_address": portrait_address}
    return templates


def page(
    request: Request,
    template: str,
    view: str,
    status: int = 200,
    story: str | None = None,
    at: str | None = None,
    who: str | None = None,
    problem: UnderstudyError | None = None,
    **values: Any,
) -> HTMLResponse:
    """A page of one of the views (talk, character, story, stories, people, review); `story`, `at` and `who` make the
    header link to the same story, moment and character in the other views. A `problem` that it tells of is its status.
    """
    context = context_of(request)
    values |= {
        "request": request, "view": view, "story": story, "at": at, "who": who, "problem": problem,
        "stories": context.stories.labels(), "reviewing": context.utterances is not None,
    }  # fmt: skip
    return bare_page(template, status if problem is None else status_of(problem), **values)


def problem_page(request: Request, view: str, error: UnderstudyError) -> HTMLResponse:
    """An error as a page, with links to go on from there."""
    return page(request, "problem.html", view, problem=error, message=problem_of(error).message)


def bare_page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page without the site's header, which names the stories: for people who have not logged in."""
    return HTMLResponse(_templates().get_template(template).render(**values), status)


def address(view: str, story: str | None = None, at: str | None = None, who: str | None = None) -> str:
    """The URL of a view."""
    if view == "stories" or story is None:
        return "/" if view == "talk" else "/stories"
    if view == "talk":
        return with_query("/", {"story": story, "who": who, "at": at})
    path = f"/{view}/{quote(story, safe='')}"
    return with_query(f"{path}/{quote(who, safe='')}" if view == "character" and who else path, {"at": at})


def with_query(path: str, parameters: Mapping[str, object]) -> str:
    """A URL with those parameters that have a value."""
    query = urlencode({name: value for name, value in parameters.items() if value}, doseq=True, quote_via=quote)
    return f"{path}?{query}" if query else path


async def redirected(
    work: Awaitable[object], target: str, failed: Callable[[UnderstudyError], Awaitable[Response]]
) -> Response:
    """What a form is answered with: another page once the work is done, else the page that says why it is not."""
    try:
        await work
    except UnderstudyError as error:
        return await failed(error)
    return RedirectResponse(target, 303)


def portrait_address(story: str, name: str, tone: int | None = None) -> str:
    """The URL of somebody's portrait, in the colour of their place in the cast (`names.tones`)."""
    path = f"/api/stories/{quote(story, safe='')}/characters/{quote(name.replace('/', ' '), safe='')}/portrait.svg"
    return path if tone is None else f"{path}?tone={tone}"


async def form_fields(request: Request) -> dict[str, str]:
    """The texts of a small form, without zero bytes; files are refused."""
    async with request.form(max_files=0, max_fields=8, max_part_size=4096) as form:
        return {key: value.replace("\0", "") for key, value in form.items() if isinstance(value, str)}


@dataclass(frozen=True, slots=True)
class TrackCell:
    """A cell of the track: its number of scenes, whether they were reached ('whole', 'partly'), and whether a part or
    chapter begins here ('part', 'chapter')."""

    scenes: int
    reached: str
    begins: str


@dataclass(frozen=True, slots=True)
class TimelineSlider:
    at: str
    """The moment, dotted."""
    name: str
    """The moment in words."""
    title: str
    """The title of its chapter, if that has begun."""
    setting: str
    """The setting of the last scene before it."""
    position: float
    """In scenes: 0 before the first, 3.5 in the middle of the fourth."""
    stops: tuple[dict[str, Any], ...]
    """One for each scene and one for the end: moment, name, and chapter and setting if they may be shown."""
    cells: tuple[TrackCell, ...]


def requested_moment(story: Story, text: str | None) -> Moment:
    """The moment in a page's query; the default is the end of the first chapter, when some characters have spoken.

    Character cards alone have no time that passes: all that they hold is there from the beginning."""
    if text:
        return story.moment(text)
    if story.is_of_cards:
        return Moment.end(story.levels)
    scenes = [scene for scene, _, _ in story.outline()]
    return next((scene for scene in scenes if _chapter(scene) != _chapter(scenes[0])), Moment.end(story.levels))


def slider_at(story: Story, moment: Moment) -> TimelineSlider:
    stops = list(timeline(story, moment))
    deepest = max((len(stop.moment.numbers) for stop in stops), default=0)
    scenes = [stop for stop in stops if len(stop.moment.numbers) == deepest]
    titles = {stop.moment.numbers: stop.title for stop in stops if stop.title}
    before = [stop for stop in scenes if stop.reached]
    begun = {_chapter(stop.moment) for stop in scenes if Moment(_chapter(stop.moment) or (0,)) <= moment}
    return TimelineSlider(
        at=moment.dotted,
        name=moment_name(moment),
        title=_title(titles, moment),
        setting=before[-1].setting if before else "",
        position=_position(scenes, moment, {scene: lines for scene, _, lines in story.outline()}),
        stops=(
            *(
                {
                    "at": stop.moment.dotted,
                    "name": moment_name(stop.moment),
                    "title": _title(titles, stop.moment) if _chapter(stop.moment) in begun else "",
                    "setting": stop.setting,
                    "chapter": ".".join(map(str, _chapter(stop.moment))),
                }
                for stop in scenes
            ),
            {"at": "end", "name": "The end", "title": "", "setting": "", "chapter": "end"},
        ),
        cells=tuple(_cells(scenes, moment)),
    )


def moment_name(moment: Moment) -> str:
    """A moment in words: 'Part 2, chapter 3'."""
    if moment.is_end:
        return "The end"
    words = str(moment) if moment.numbers[0] else "The start"
    return words[:1].upper() + words[1:]


def _chapter(scene: Moment) -> tuple[int, ...]:
    return scene.numbers[:-1]


def _title(titles: dict[tuple[int, ...], str], moment: Moment) -> str:
    """The title of the innermost part or chapter that has one."""
    above = (moment.numbers[:depth] for depth in range(len(moment.numbers), 0, -1))
    return next((titles[numbers] for numbers in above if numbers in titles), "")


def _position(scenes: list[Stop], moment: Moment, lines: dict[Moment, int]) -> float:
    begun = [stop for stop in scenes if stop.reached]
    if not begun or begun[-1].lines is None:
        return float(len(begun))
    last = begun[-1]
    share = last.lines / max(lines.get(last.moment, 0), 1) if moment.within(last.moment) and last.lines else 1.0
    return len(begun) - 1 + min(share, 1.0)


def _cells(scenes: list[Stop], moment: Moment) -> list[TrackCell]:
    depth = max((len(stop.moment.numbers) for stop in scenes), default=0)
    while depth > 1 and len({stop.moment.numbers[:depth] for stop in scenes}) > MAX_CELLS:
        depth -= 1
    cells, part, chapter = list[TrackCell](), None, None
    for numbers, group in groupby(scenes, key=lambda stop: stop.moment.numbers[:depth]):
        stops = list(group)
        begins = "part" if numbers[:1] != part else "chapter" if numbers[:-1] != chapter else ""
        part, chapter = numbers[:1], numbers[:-1]
        is_inside = stops[-1].reached and moment.within(stops[-1].moment)
        reached = "whole" if stops[-1].reached and not is_inside else "partly" if stops[0].reached else ""
        cells.append(TrackCell(len(stops), reached, begins))
    return cells
