"""What the headings of a Markdown file stand for: a title, chapters (parts, acts, episodes) or scenes.

    # The Quarrel            one heading above all others: the title
    ## Chapter 1: Low Water  a heading above others, or with a word for a larger part: a level of its own
    ### The chandlery        the deepest heading: a scene, its text the setting
    ### Scene 2: The yard

Headings that number themselves keep their numbers; others are counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["MarkdownHeading", "Outline", "OutlineSurvey"]

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
    word: str | None = None
    """The word they are all numbered by."""
    last: int = 0

    def add(self, heading: MarkdownHeading) -> None:
        self.count += 1
        numbered = heading.numbered()
        word = numbered[0] if numbered is not None and numbered[1] > self.last else None
        self.word = word if self.count == 1 or word == self.word else None
        self.last = numbered[1] if numbered is not None else self.last


class OutlineSurvey:
    """Takes the headings of a file one by one; what it keeps does not grow with them."""

    def __init__(self) -> None:
        self._depths: dict[int, _Depth] = {}
        self._first: MarkdownHeading | None = None

    def add(self, heading: MarkdownHeading) -> None:
        self._first = self._first or heading
        for depth, deeper in self._depths.items():
            if depth > heading.depth:
                deeper.last = 0
        self._depths.setdefault(heading.depth, _Depth()).add(heading)

    def outline(self) -> Outline:
        known, first = self._depths, self._first
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
        numbered = frozenset(depth for depth in depths if known[depth].word is not None)
        return Outline(_names([known[depth].word for depth in outer]), outer, scene_depth, title, numbered)


def _names(words: list[str | None]) -> tuple[str, ...]:
    """A name for each level: its word, else one that is not used yet."""
    used = {word for word in words if word}
    if len(used) < sum(word is not None for word in words):
        words, used = [None for _ in words], set()
    free = [name for name in (*UNNAMED, *(f"level {depth}" for depth in range(1, 7))) if name not in used]
    names = [word or free.pop(0) for word in reversed(words)]
    return tuple(reversed(names))
