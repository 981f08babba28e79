"""A story's timeline as a page shows it: a slider whose stops are the starts of scenes, and the end.

At a stop, everything before the scene has happened. Names of chapters and settings are told only as far as the moment
has come; the rest is bare ticks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from understudy.spoiler_free import Stop, timeline
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["Cell", "Timeline", "moment_asked", "timeline_at"]

MOST_CELLS = 240  # more than that cannot be told apart on a screen: a cell is then a chapter, or a part


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of the track: so many scenes, how far they have been reached, and what they begin ('part', 'chapter')."""

    scenes: int
    reached: str
    begins: str


@dataclass(frozen=True, slots=True)
class Timeline:
    at: str
    """The moment, dotted."""
    name: str
    """The moment in the story's own words."""
    title: str
    """The title of the chapter it lies in, where that is known."""
    setting: str
    """Where the last scene before it took place."""
    place: float
    """Between which scenes it lies: 0 before the first, 3.5 in the middle of the fourth."""
    stops: tuple[dict[str, Any], ...]
    """One a scene and one for the end: its moment, its name, and chapter and setting where they may be told."""
    cells: tuple[Cell, ...]


def moment_asked(story: Story, text: str | None) -> Moment:
    """The moment a page is asked for; where none is, the end of the first chapter: enough to have met somebody."""
    if text:
        return story.moment(text)
    scenes = [scene for scene, _, _ in story.outline()]
    return next((scene for scene in scenes if _chapter(scene) != _chapter(scenes[0])), Moment.end(story.levels))


def timeline_at(story: Story, moment: Moment) -> Timeline:
    stops = list(timeline(story, moment))
    deepest = max((len(stop.moment.numbers) for stop in stops), default=0)
    scenes = [stop for stop in stops if len(stop.moment.numbers) == deepest]
    titles = {stop.moment.numbers: stop.title for stop in stops if stop.title}
    before = [stop for stop in scenes if stop.reached]
    begun = {_chapter(stop.moment) for stop in scenes if Moment(_chapter(stop.moment) or (0,)) <= moment}
    current = next((scene.moment for scene in reversed(scenes) if scene.moment <= moment), moment)
    return Timeline(
        at=moment.dotted,
        name=named(moment),
        title=_title(titles, current if not moment.is_end else moment),
        setting=before[-1].setting if before else "",
        place=_place(scenes, moment, {scene: lines for scene, _, lines in story.outline()}),
        stops=(
            *(
                {
                    "at": stop.moment.dotted,
                    "name": named(stop.moment),
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


def named(moment: Moment) -> str:
    """A moment in the story's own words: 'Part 2, chapter 3'."""
    if moment.is_end:
        return "The end"
    words = str(moment) if moment.numbers[0] else "The start"
    return words[:1].upper() + words[1:]


def _chapter(scene: Moment) -> tuple[int, ...]:
    return scene.numbers[:-1]


def _title(titles: dict[tuple[int, ...], str], moment: Moment) -> str:
    """The title of the innermost part or chapter that has one."""
    above = (moment.numbers[:depth] for depth in range(len(moment.numbers), 0, -1))
    return next((titles[place] for place in above if place in titles), "")


def _place(scenes: list[Stop], moment: Moment, lines: dict[Moment, int]) -> float:
    begun = [stop for stop in scenes if stop.reached]
    if not begun or begun[-1].lines is None:
        return float(len(begun))
    last = begun[-1]
    share = last.lines / max(lines.get(last.moment, 0), 1) if moment.within(last.moment) and last.lines else 1.0
    return len(begun) - 1 + min(share, 1.0)


def _cells(scenes: list[Stop], moment: Moment) -> list[Cell]:
    depth = max((len(stop.moment.numbers) for stop in scenes), default=0)
    while depth > 1 and len({stop.moment.numbers[:depth] for stop in scenes}) > MOST_CELLS:
        depth -= 1
    cells, part, chapter = list[Cell](), None, None
    for numbers, group in groupby(scenes, key=lambda stop: stop.moment.numbers[:depth]):
        held = list(group)
        begins = "part" if numbers[:1] != part else "chapter" if numbers[:-1] != chapter else ""
        part, chapter = numbers[:1], numbers[:-1]
        inside = held[-1].reached and moment.within(held[-1].moment)
        reached = "whole" if held[-1].reached and not inside else "partly" if held[0].reached else ""
        cells.append(Cell(len(held), reached, begins))
    return cells
