"""Finding a line again among those that were read: every word of a query must stand in it, whatever its case or width.

    GET /api/stories/{story}/search?q=brass+key&at=2.1

The Story view shows the same, with what was looked for marked.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated

import msgspec
from anyio import to_thread

from understudy.server.lookup import shown_names
from understudy.server.operations import Call, Operation
from understudy.story import Line, Moment
from understudy.storyfile import Story

__all__ = ["OPERATIONS", "Findings", "Hit", "Marked", "marked", "query_words", "search"]

MOST = 100
LONGEST = 200  # characters of a query that are looked at

Marked = list[tuple[str, bool]]
"""A text in pieces, with which of them were looked for."""


@dataclass(frozen=True, slots=True)
class Hit:
    line: Line
    speaker: str | None
    """The name by which a reader knows who speaks."""
    text: Marked


@dataclass(frozen=True, slots=True)
class Findings:
    hits: tuple[Hit, ...]
    total: int


def search(story: Story, query: str, at: Moment, most: int = MOST) -> Findings:
    """Lines and descriptions before a moment that hold every word of a query, in story order."""
    words = query_words(query)
    if not words:
        return Findings((), 0)
    names = shown_names(story, at)
    hits: list[Hit] = []
    total = 0
    for line in story.lines_with(lambda text: _holds(text, words), at):
        total += 1
        if total <= most:
            speaker = None if line.speaker is None else names.get(line.speaker, line.speaker)
            hits.append(Hit(line, speaker, marked(line.text, words)))
    return Findings(tuple(hits), total)


def query_words(query: str) -> tuple[str, ...]:
    """What is looked for, in the form in which texts are compared."""
    return tuple(dict.fromkeys(_plain(query[:LONGEST]).split()))


def marked(text: str, words: Sequence[str]) -> Marked:
    """The text in pieces, those that were looked for marked. Letters may change in number when they are compared, so
    each is followed to where it came from."""
    letters = [(plain, place) for place, mark in enumerate(text) for plain in _plain(mark)]
    compared = "".join(plain for plain, _ in letters)
    found = {
        place for word in words for start in _places(compared, word) for _, place in letters[start : start + len(word)]
    }
    pieces = groupby(enumerate(text), key=lambda one: one[0] in found)
    return [("".join(mark for _, mark in piece), is_found) for is_found, piece in pieces]


def _holds(text: str, words: Sequence[str]) -> bool:
    plain = _plain(text)
    return all(word in plain for word in words)


def _plain(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def _places(text: str, word: str) -> Iterator[int]:
    start = text.find(word)
    while start >= 0:
        yield start
        start = text.find(word, start + 1)


class SearchAsked(msgspec.Struct):
    q: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST)]
    at: Annotated[str, msgspec.Meta(max_length=200)] = "end"
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = MOST


class FoundLine(msgspec.Struct):
    moment: str
    speaker: str | None
    text: str


class FoundLines(msgspec.Struct):
    story: str
    moment: str
    query: str
    total: int
    """All that were found; `lines` holds the first of them."""
    lines: list[FoundLine]


async def answer_search(call: Call) -> FoundLines:
    name, asked = call.path("story"), call.query
    assert isinstance(asked, SearchAsked)
    story = call.context.stories.story(name)
    at = await to_thread.run_sync(story.moment, asked.at)
    found = await to_thread.run_sync(search, story, asked.q, at, asked.limit)
    lines = [FoundLine(hit.line.moment.dotted, hit.speaker, hit.line.text) for hit in found.hits]
    return FoundLines(name, at.dotted, asked.q, found.total, lines)


OPERATIONS = (
    Operation(
        "GET", "/api/stories/{story}/search", answer_search,
        "Lines before a moment (the end, if none is given) that hold every word of a query",
        answers=FoundLines, query=SearchAsked, refuses=(404,),
    ),
)  # fmt: skip
