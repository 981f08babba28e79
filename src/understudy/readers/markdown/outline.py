"""What the headings of a Markdown file stand for: a title, chapters (parts, acts, episodes) or scenes.

    # The Quarrel            one heading above all others: the title
    ## Chapter 1: Low Water  a heading above others, or with a word for a larger part: a level of its own
    ### The chandlery        the deepest heading: a scene, its text the setting
    ### Scene 2: The yard

Headings that number themselves keep their numbers; others are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["MarkdownHeading", "Outline", "outline_of"]

NUMBERED = re.compile(r"([^\W\d_]+)\s+(\d{1,9})\s*(?:(?:[:：.]|[–—-]\s)\s*(.*))?")
LARGER = frozenset("book volume part season episode act chapter canto day week letter".split())
SCENE = "scene"
UNNAMED = ("chapter", "part", "book", "volume")  # levels without a word of their own, from the lowest up


class MarkdownHeading(NamedTuple):
    """A heading: its depth, and its text with the marks taken off."""

    depth: int
    text: str

    def numbered(self) -> tuple[str, int, str] | None:
        """(word, number, title) of `Chapter 2: The Keys`."""
        match = NUMBERED.fullmatch(self.text)
        return (match[1].lower(), int(match[2]), match[3] or "") if match else None


@dataclass(frozen=True, slots=True)
class Outline:
    """The names of the levels above scenes, the depth of headings at which each stands, and which are numbered."""

    levels: tuple[str, ...] = ()
    depths: tuple[int, ...] = ()
    scene_depth: int | None = None
    title: str | None = None
    numbered: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Depth:
    """What is known of the headings of one depth."""

    count: int = 0
    first: str = ""
    words: set[str] = field(default_factory=set)
    ascending: bool = True
    last: int = 0

    @property
    def word(self) -> str | None:
        """The word they are all numbered by."""
        return next(iter(self.words)) if self.ascending and len(self.words) == 1 else None


def outline_of(headings: Iterable[MarkdownHeading]) -> Outline:
    """One pass over all headings of a file."""
    known: dict[int, _Depth] = {}
    first: MarkdownHeading | None = None
    for heading in headings:
        first = first or heading
        _count(known, heading)
    if first is None:
        return Outline()
    title = None
    depths = sorted(known)
    if first.depth == depths[0] and known[depths[0]].count == 1 and len(depths) > 1 and not first.numbered():
        title, depths = first.text, depths[1:]
    scene_depth = next((depth for depth in depths if known[depth].word == SCENE), None)
    if scene_depth is None and known[depths[-1]].word not in LARGER:
        scene_depth = depths[-1]
    outer = tuple(depth for depth in depths if scene_depth is None or depth < scene_depth)
    return Outline(
        _names([known[depth].word for depth in outer]),
        outer,
        scene_depth,
        title,
        frozenset(depth for depth in depths if known[depth].word is not None),
    )


def _count(known: dict[int, _Depth], heading: MarkdownHeading) -> None:
    for depth in known:
        if depth > heading.depth:
            known[depth].last = 0
    here = known.setdefault(heading.depth, _Depth(first=heading.text))
    here.count += 1
    numbered = heading.numbered()
    if numbered is None or numbered[1] <= here.last:
        here.ascending = False
        return
    here.words.add(numbered[0])
    here.last = numbered[1]


def _names(words: list[str | None]) -> tuple[str, ...]:
    """A name for each level: its word, else one that is not used yet."""
    used = {word for word in words if word}
    if len(used) < sum(word is not None for word in words):
        words, used = [None for _ in words], set()
    free = [name for name in (*UNNAMED, *(f"level {depth}" for depth in range(1, 7))) if name not in used]
    names = [word or free.pop(0) for word in reversed(words)]
    return tuple(reversed(names))
