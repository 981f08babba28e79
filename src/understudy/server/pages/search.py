"""Search in the lines before a moment: a match contains every word of the query, whatever their case or width.

    GET /api/stories/{story}/search?q=brass+key&at=2.1

The Story view shows the same matches, with the words highlighted.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

import msgspec
from anyio import to_thread

from understudy.server.names import shown_names
from understudy.server.operations import Call, Operation
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment

__all__ = ["OPERATIONS", "Highlighted", "SearchHit", "SearchResults", "highlight", "query_words", "search"]

DEFAULT_LIMIT = 100
MAX_QUERY = 200  # characters

Highlighted = list[tuple[str, bool]]
"""A text in pieces, each with whether it matches the query."""


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


class FoundLine(msgspec.Struct):
    moment: str
    speaker: str | None
    text: str


class FoundLines(msgspec.Struct):
    story: str
    moment: str
    query: str
    total: int
    """Number of all matches; `lines` holds the first of them."""
    lines: list[FoundLine]


async def answer_search(call: Call) -> FoundLines:
    name, query = call.path("story"), call.query
    assert isinstance(query, SearchQuery)
    story = call.context.stories.story(name)
    at = await to_thread.run_sync(story.moment, query.at)
    results = await to_thread.run_sync(search, story, query.q, at, query.limit)
    lines = [FoundLine(hit.line.moment.dotted, hit.speaker, hit.line.text) for hit in results.hits]
    return FoundLines(name, at.dotted, query.q, results.total, lines)


OPERATIONS = (
    Operation(
        "GET", "/api/stories/{story}/search", answer_search,
        "Lines before a moment (the end, if none is given) that hold every word of a query",
        answers=FoundLines, query=SearchQuery, refuses=(404,),
    ),
)  # fmt: skip
