"""A story cut into pages: a chapter each, a long one several, so that the longest story stays light to open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from understudy.spoiler_free import Stop
from understudy.story import Moment

__all__ = ["Leaf", "Piece", "leaf_with", "leaves", "reading_address"]

MOST_LINES = 400
"""A page is turned after the scene that reaches this many lines; a longer scene goes over several pages."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A scene, or lines `first` to `last` of it."""

    scene: Stop
    first: int
    last: int

    @property
    def start(self) -> Moment:
        scene = self.scene.moment
        return scene if self.first == 1 else Moment((*scene.numbers, self.first), scene.levels)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page. `above` are the parts and chapters that begin on it, each before the scene of the same place."""

    pieces: tuple[Piece, ...]
    above: tuple[tuple[Stop, ...], ...]

    @property
    def start(self) -> Moment:
        return self.pieces[0].start

    @property
    def title(self) -> Stop | None:
        """The chapter that begins here."""
        return self.above[0][-1] if self.above[0] else None


def leaves(stops: Sequence[Stop]) -> list[Leaf]:
    """The pages of what was reached, from a story's timeline."""
    found: list[Leaf] = []
    pieces: list[Piece] = []
    above: list[tuple[Stop, ...]] = []
    lines = 0
    for headings, scene in _scenes(stops):
        for number, piece in enumerate(_pieces(scene)):
            if pieces and (headings or number or lines >= MOST_LINES):
                found.append(Leaf(tuple(pieces), tuple(above)))
                pieces, above, lines = [], [], 0
            pieces.append(piece)
            above.append(() if number else headings)
            lines += piece.last - piece.first + 1
    if pieces:
        found.append(Leaf(tuple(pieces), tuple(above)))
    return found


def leaf_with(pages: Sequence[Leaf], moment: Moment | None) -> int:
    """The place of the page on which a moment is read; of the last where none is given."""
    if moment is None:
        return len(pages) - 1
    inside = (number for number, leaf in enumerate(pages) if any(p.start.within(moment) for p in leaf.pieces))
    before = (number for number in reversed(range(len(pages))) if pages[number].start <= moment)
    return next(inside, next(before, 0))


def reading_address(story: str, at: Moment, moment: Moment | None = None, query: str = "") -> str:
    """Where a line, scene or chapter is read by somebody who has come as far as a moment."""
    asked = {"at": at.dotted, **({"see": moment.dotted} if moment else {}), **({"q": query} if query else {})}
    place = "" if moment is None else f"#m-{moment.dotted}" if moment < at else "#read-on"
    return f"/story/{quote(story, safe='')}?{urlencode(asked, quote_via=quote)}{place}"


def _scenes(stops: Sequence[Stop]) -> Iterator[tuple[tuple[Stop, ...], Stop]]:
    """The scenes that were reached, each with the headings it comes under for the first time."""
    headings: list[Stop] = []
    for stop in stops:
        if stop.reached and stop.lines is None:
            headings.append(stop)
        elif stop.reached:
            yield tuple(headings), stop
            headings = []


def _pieces(scene: Stop) -> Iterator[Piece]:
    lines = scene.lines or 0
    if lines <= 2 * MOST_LINES:
        yield Piece(scene, 1, lines)
        return
    for first in range(1, lines + 1, MOST_LINES):
        yield Piece(scene, first, min(first + MOST_LINES - 1, lines))
