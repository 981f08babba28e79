"""The Story view: scenes to read up to a moment, the rest only after saying so; and search in what was read."""

from __future__ import annotations

from dataclasses import dataclass

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from understudy.errors import UnderstudyError
from understudy.server.context import context_of
from understudy.server.lookup import shown_names
from understudy.server.pages import page
from understudy.server.pages.leaves import Leaf, leaf_with, leaves, reading_address
from understudy.server.pages.search import Findings, Marked, marked, query_words, search
from understudy.server.pages.timeline import Timeline, moment_asked, timeline_at
from understudy.spoiler_free import Stop, scenes_before, timeline
from understudy.story import Line, Moment
from understudy.storyfile import Story

__all__ = ["ROUTES"]


@dataclass(frozen=True, slots=True)
class ShownLine:
    moment: str
    speaker: str | None
    text: Marked


@dataclass(frozen=True, slots=True)
class ShownScene:
    headings: tuple[Stop, ...]
    moment: str
    setting: str
    present: tuple[str, ...]
    lines: tuple[ShownLine, ...]
    begins: bool
    """Whether this is the scene's beginning, not a later page of it."""


@dataclass(frozen=True, slots=True)
class Next:
    """The scene that comes next: where it is, and the moment at which it has been read."""

    scene: str
    name: str
    begun: bool
    then: str
    address: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything the page shows."""

    at: Moment
    line: Timeline
    pages: list[Leaf]
    here: int
    scenes: tuple[ShownScene, ...]
    findings: Findings | None
    query: str
    next: Next | None
    language: str


async def show_story(request: Request) -> Response:
    name = request.path_params["story"]
    story = context_of(request).stories.story(name)
    asked = request.query_params
    reading = await to_thread.run_sync(_read, story, name, asked.get("at"), asked.get("see"), asked.get("q", ""))

    def address(moment: Moment | None = None, query: str = "") -> str:
        return reading_address(name, reading.at, moment, query)

    return page(
        request, "story.html", "story", story=name, at=reading.at.dotted, reading=reading, title=story.title,
        read_at=address,
    )  # fmt: skip


def _read(story: Story, name: str, at: str | None, see: str | None, query: str) -> Reading:
    moment = moment_asked(story, at)
    stops = list(timeline(story, moment))
    pages = leaves(stops)
    wanted = None if see is None else _place(story, see)
    here = leaf_with(pages, wanted)
    query = " ".join(query.split())
    results = search(story, query, moment) if query and see is None else None
    scenes = () if results is not None or not pages else tuple(_scenes(story, moment, pages[here], query_words(query)))
    return Reading(
        moment, timeline_at(story, moment), pages, here, scenes, results, query, _next(story, name, moment),
        story.language,
    )  # fmt: skip


def _place(story: Story, see: str) -> Moment | None:
    """Where in the story to open it; a place that is none opens it where reading stopped."""
    try:
        return Moment.parse(see, story.levels)
    except UnderstudyError:
        return None


def _scenes(story: Story, at: Moment, leaf: Leaf, words: tuple[str, ...]) -> list[ShownScene]:
    names = shown_names(story, at)
    pieces = {piece.scene.moment: (piece, above) for piece, above in zip(leaf.pieces, leaf.above)}
    shown = []
    for scene in scenes_before(story, at, since=leaf.pieces[0].scene.moment):
        if scene.moment not in pieces:
            break  # that is the next page's
        piece, above = pieces[scene.moment]
        lines = scene.lines[piece.first - 1 : piece.last]
        shown.append(
            ShownScene(
                above,
                scene.moment.dotted,
                scene.setting,
                tuple(names.get(name, name) for name in scene.present),
                tuple(_line(line, names, words) for line in lines),
                piece.first == 1,
            )
        )
    return shown


def _line(line: Line, names: dict[str, str], words: tuple[str, ...]) -> ShownLine:
    speaker = None if line.speaker is None else names.get(line.speaker, line.speaker)
    return ShownLine(line.moment.dotted, speaker, marked(line.text, words) if words else [(line.text, False)])


def _next(story: Story, name: str, at: Moment) -> Next | None:
    scenes = [scene for scene, _, _ in story.outline()]
    unread = next((place for place, scene in enumerate(scenes) if scene >= at or _under_way(scene, at)), None)
    if unread is None:
        return None
    scene = scenes[unread]
    then = scenes[unread + 1] if unread + 1 < len(scenes) else Moment.end(story.levels)
    return Next(
        scene.dotted, str(scene), scene < at, then.dotted, reading_address(name, then, at if scene < at else scene)
    )


def _under_way(scene: Moment, at: Moment) -> bool:
    return at.within(scene) and at > scene


ROUTES = [Route("/story/{story}", show_story)]
