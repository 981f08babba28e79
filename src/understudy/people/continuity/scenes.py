"""The scenes of a story in order, with who is there at each line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from understudy.progress import Progress
from understudy.story import Line, Scene
from understudy.storyfile import Story

__all__ = ["WatchedScene", "directions_in", "watched_scenes"]

BRACKETS = re.compile(r"[(\[<{*]([^)\]>}*]*)")


@dataclass(frozen=True, slots=True)
class WatchedScene:
    number: int
    """Counted from 0 over the whole story."""
    scene: Scene
    intervals: tuple[tuple[str, int, int], ...]
    """Who is there from which to which line, counted from 1."""
    present: tuple[frozenset[str], ...]
    """Who is there, line by line."""

    def lines(self) -> Iterator[tuple[int, Line, frozenset[str]]]:
        """Each line with its number, counted from 1, and those who are there for it, its speaker included."""
        for number, (line, present) in enumerate(zip(self.scene.lines, self.present, strict=True), 1):
            yield number, line, present


def watched_scenes(story: Story, progress: Progress) -> Iterator[WatchedScene]:
    """All scenes, one in memory at a time."""
    total, _ = story.count()
    for number, scene in enumerate(story.scenes()):
        progress("Looking at scenes", number, total)
        intervals = story.presence_intervals(scene.moment)
        yield WatchedScene(number, scene, intervals, tuple(_present(intervals, len(scene.lines))))


def directions_in(line: Line) -> str:
    """The author's words in a line: all of a description; of a speech, what stands in brackets, as sentences."""
    return line.text if line.speaker is None else ". ".join(BRACKETS.findall(line.text))


def _present(intervals: tuple[tuple[str, int, int], ...], lines: int) -> Iterator[frozenset[str]]:
    changes = {first for _, first, _ in intervals} | {last + 1 for _, _, last in intervals}
    present = frozenset[str]()
    for number in range(1, lines + 1):
        if number == 1 or number in changes:
            present = frozenset(who for who, first, last in intervals if first <= number <= last)
        yield present
