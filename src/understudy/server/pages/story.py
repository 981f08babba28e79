"""The Story view: the scenes before a moment, in pages, and search in their lines. Reading on means a later moment.

    GET /api/stories/{story}/search?q=brass+key&at=2.1

A match contains every word of the query, whatever their case or width; the page shows the words highlighted.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated
from urllib.parse import quote

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from understudy.errors import UnderstudyError
from understudy.server.api import AtMoment, LineDocument
from understudy.server.context import context_of
from understudy.server.operations import Call, Operations
from understudy.server.pages import TimelineSlider, page, requested_moment, slider_at, with_query
from understudy.server.story_registry import tones
from understudy.story.names import shown_names
from understudy.story.spoiler_free import Stop, scenes_before, timeline
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment

PAGE_LINES = 400
"""A page ends after the scene that reaches this many lines; a much longer scene is split over several pages."""
DEFAULT_LIMIT = 100
MAX_QUERY = 200  # characters
OPERATIONS = Operations("stories")

Highlighted = list[tuple[str, bool]]
"""A text in pieces, each with whether it matches the query."""


@dataclass(frozen=True, slots=True)
class SceneSegment:
    """A scene, or lines `first` to `last` of it."""

    scene: Stop
    first: int
    last: int

    @property
    def start(self) -> Moment:
        scene = self.scene.moment
        return scene if self.first == 1 else Moment((*scene.numbers, self.first), scene.levels)


@dataclass(frozen=True, slots=True)
class StoryPage:
    """One page. `headings` are the parts and chapters that begin before each of its segments."""

    segments: tuple[SceneSegment, ...]
    headings: tuple[tuple[Stop, ...], ...]

    @property
    def start(self) -> Moment:
        return self.segments[0].start

    @property
    def title(self) -> Stop | None:
        """The chapter that begins on it, if one does."""
        return self.headings[0][-1] if self.headings[0] else None


def paginate(stops: Sequence[Stop]) -> list[StoryPage]:
    """The pages of what was reached, from a story's timeline: one for each chapter, several for a long one."""
    pages: list[StoryPage] = []
    segments: list[SceneSegment] = []
    headings: list[tuple[Stop, ...]] = []
    lines = 0
    for scene_headings, scene in _reached_scenes(stops):
        for number, segment in enumerate(_segments(scene)):
            if segments and (scene_headings or number or lines >= PAGE_LINES):
                pages.append(StoryPage(tuple(segments), tuple(headings)))
                segments, headings, lines = [], [], 0
            segments.append(segment)
            headings.append(() if number else scene_headings)
            lines += segment.last - segment.first + 1
    if segments:
        pages.append(StoryPage(tuple(segments), tuple(headings)))
    return pages


def page_index(pages: Sequence[StoryPage], moment: Moment | None) -> int:
    """The index of the page that a moment is on; of the last page if there is no moment."""
    if moment is None:
        return len(pages) - 1
    inside = (index for index, page in enumerate(pages) if any(part.start.within(moment) for part in page.segments))
    before = (index for index in reversed(range(len(pages))) if pages[index].start <= moment)
    return next(inside, next(before, 0))


def story_address(story: str, at: Moment, moment: Moment | None = None, query: str = "") -> str:
    """The URL of a line, scene or chapter (`moment`) in the Story view as of `at`."""
    parameters = {"at": at.dotted, "see": moment.dotted if moment else "", "q": query}
    fragment = "" if moment is None else f"#m-{moment.dotted}" if moment < at else "#read-on"
    return with_query(f"/story/{quote(story, safe='')}", parameters) + fragment


def _reached_scenes(stops: Sequence[Stop]) -> Iterator[tuple[tuple[Stop, ...], Stop]]:
    """The scenes that were reached, each with the headings that come just before it."""
    headings: list[Stop] = []
    for stop in stops:
        if stop.reached and stop.lines is None:
            headings.append(stop)
        elif stop.reached:
            yield tuple(headings), stop
            headings = []


def _segments(scene: Stop) -> Iterator[SceneSegment]:
    lines = scene.lines or 0
    if lines <= 2 * PAGE_LINES:
        yield SceneSegment(scene, 1, lines)
        return
    for first in range(1, lines + 1, PAGE_LINES):
        yield SceneSegment(scene, first, min(first + PAGE_LINES - 1, lines))


@dataclass(frozen=True, slots=True)
class SearchHit:
    line: Line
    speaker: str | None
    """By the name a reader is shown."""
    text: Highlighted


@dataclass(frozen=True, slots=True)
class SearchResults:
    hits: tuple[SearchHit, ...]
    total: int


def search(story: Story, query: str, at: Moment, limit: int = DEFAULT_LIMIT) -> SearchResults:
    """Lines and descriptions before a moment that contain every word of a query, in story order."""
    words = query_words(query)
    if not words:
        return SearchResults((), 0)
    names = shown_names(story, at)
    hits: list[SearchHit] = []
    total = 0
    for line in story.lines_with(lambda text: _contains_all(text, words), at):
        total += 1
        if total <= limit:
            speaker = None if line.speaker is None else names.get(line.speaker, line.speaker)
            hits.append(SearchHit(line, speaker, highlight(line.text, words)))
    return SearchResults(tuple(hits), total)


def query_words(query: str) -> tuple[str, ...]:
    """The distinct words of a query, normalised."""
    return tuple(dict.fromkeys(_normalise(query[:MAX_QUERY]).split()))


def highlight(text: str, words: Sequence[str]) -> Highlighted:
    """The text in pieces, matches marked. Normalising can change the number of characters, so each normalised one is
    kept with the index of its source."""
    letters = [(letter, index) for index, char in enumerate(text) for letter in _normalise(char)]
    normalised = "".join(letter for letter, _ in letters)
    matching = {
        index
        for word in words
        for start in _occurrences(normalised, word)
        for _, index in letters[start : start + len(word)]
    }
    pieces = groupby(enumerate(text), key=lambda item: item[0] in matching)
    return [("".join(char for _, char in piece), matches) for matches, piece in pieces]


def _contains_all(text: str, words: Sequence[str]) -> bool:
    normalised = _normalise(text)
    return all(word in normalised for word in words)


def _normalise(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _occurrences(text: str, word: str) -> Iterator[int]:
    start = text.find(word)
    while start >= 0:
        yield start
        start = text.find(word, start + 1)


class SearchQuery(msgspec.Struct):
    q: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUERY)]
    at: Annotated[str, msgspec.Meta(max_length=200)] = "end"
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = DEFAULT_LIMIT


class FoundLines(AtMoment):
    query: str
    total: int
    """Number of all matches; `lines` holds the first of them."""
    lines: list[LineDocument]


@OPERATIONS(
    "GET", "/api/stories/{story}/search",
    "Lines before a moment (the end, if none is given) that hold every word of a query",
)  # fmt: skip
async def answer_search(call: Call, query: SearchQuery) -> FoundLines:
    name = call.path("story")
    story = call.context.stories.story(name)
    at = await to_thread.run_sync(story.moment, query.at)
    results = await to_thread.run_sync(search, story, query.q, at, query.limit)
    lines = [LineDocument(hit.line.moment.dotted, hit.speaker, hit.line.text) for hit in results.hits]
    return FoundLines(name, at.dotted, query.q, results.total, lines)


@dataclass(frozen=True, slots=True)
class PageLine:
    moment: str
    speaker: str | None
    text: Highlighted


@dataclass(frozen=True, slots=True)
class ShownScene:
    headings: tuple[Stop, ...]
    moment: str
    setting: str
    present: tuple[str, ...]
    lines: tuple[PageLine, ...]
    begins: bool
    """Whether this is the beginning of the scene, not a later segment."""


@dataclass(frozen=True, slots=True)
class NextScene:
    """The scene to read next, and the moment at which it has been read."""

    scene: str
    name: str
    begun: bool
    then: str
    address: str


@dataclass(frozen=True, slots=True)
class StoryContent:
    """Everything the page shows."""

    at: Moment
    slider: TimelineSlider
    pages: list[StoryPage]
    page_index: int
    scenes: tuple[ShownScene, ...]
    results: SearchResults | None
    query: str
    next: NextScene | None
    language: str
    tones: Mapping[str, int]


async def show_story(request: Request) -> Response:
    name = request.path_params["story"]
    story = context_of(request).stories.story(name)
    query = request.query_params
    content = await to_thread.run_sync(_content, story, name, query.get("at"), query.get("see"), query.get("q", ""))

    def address(moment: Moment | None = None, query: str = "") -> str:
        return story_address(name, content.at, moment, query)

    return page(
        request, "story.html", "story", story=name, at=content.at.dotted, content=content, title=story.title,
        read_at=address,
    )  # fmt: skip


def _content(story: Story, name: str, at: str | None, see: str | None, query: str) -> StoryContent:
    moment = requested_moment(story, at)
    stops = list(timeline(story, moment))
    pages = paginate(stops)
    index = page_index(pages, None if see is None else _parse_moment(story, see))
    query = " ".join(query.split())
    results = search(story, query, moment) if query and see is None else None
    scenes: Sequence[ShownScene] = ()
    if results is None and pages:
        scenes = _scenes(story, moment, pages[index], query_words(query))
    return StoryContent(
        moment, slider_at(story, moment), pages, index, tuple(scenes), results, query, _next(story, name, moment),
        story.language, tones(story, moment),
    )  # fmt: skip


def _parse_moment(story: Story, see: str) -> Moment | None:
    """The moment to show; None, which shows the last page, if it is not a moment."""
    try:
        return Moment.parse(see, story.levels)
    except UnderstudyError:
        return None


def _scenes(story: Story, at: Moment, page: StoryPage, words: tuple[str, ...]) -> list[ShownScene]:
    names = shown_names(story, at)
    segments = {segment.scene.moment: (segment, above) for segment, above in zip(page.segments, page.headings)}
    shown = []
    for scene in scenes_before(story, at, since=page.segments[0].scene.moment):
        if scene.moment not in segments:
            break  # it is on the next page
        segment, headings = segments[scene.moment]
        present = tuple(names.get(name, name) for name in scene.present)
        lines = tuple(_line(line, names, words) for line in scene.lines[segment.first - 1 : segment.last])
        shown.append(
            ShownScene(headings, scene.moment.dotted, scene.setting, present, lines, begins=segment.first == 1)
        )
    return shown


def _line(line: Line, names: dict[str, str], words: tuple[str, ...]) -> PageLine:
    speaker = None if line.speaker is None else names.get(line.speaker, line.speaker)
    return PageLine(line.moment.dotted, speaker, highlight(line.text, words) if words else [(line.text, False)])


def _next(story: Story, name: str, at: Moment) -> NextScene | None:
    scenes = [scene for scene, _, _ in story.outline()]
    unread = next((index for index, scene in enumerate(scenes) if scene >= at or at.within(scene)), None)
    if unread is None:
        return None
    scene = scenes[unread]
    then = scenes[unread + 1] if unread + 1 < len(scenes) else Moment.end(story.levels)
    return NextScene(scene.dotted, str(scene), scene < at, then.dotted, story_address(name, then, max(at, scene)))


ROUTES = [Route("/story/{story}", show_story)]
