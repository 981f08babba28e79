"""The scenes of a story in order, with who is there at each line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from understudy.people.continuity.terms import Term, TermFinder
from understudy.progress import Progress
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment, Scene
from understudy.text import fold

__all__ = [
    "KINDS",
    "Detector",
    "Fault",
    "Learning",
    "Mention",
    "Mentions",
    "WatchedScene",
    "directions_in",
    "learnings",
    "watched_scenes",
]

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


# Where each term of a story is mentioned, and who hears it first when.


class Mention(NamedTuple):
    scene: int
    line: Line
    present: frozenset[str]
    """Those who hear or see it, its speaker included."""


class Mentions:
    """Collects the mentions of every term, in story order, and who was in which scene.

    A stage direction is the author's word, which nobody hears; but those who are there see what it tells of.
    """

    def __init__(self, finder: TermFinder) -> None:
        self._finder = finder
        self.by_term: dict[Term, list[Mention]] = {}
        self.scenes_of: dict[str, list[int]] = {}
        """The numbers of the scenes that somebody was in."""
        self.scenes = 0

    def add(self, scene: WatchedScene) -> None:
        self.scenes = scene.number + 1
        for who in {who for who, _, _ in scene.intervals}:
            self.scenes_of.setdefault(who, []).append(scene.number)
        for term in self._finder.find(scene.scene.setting):
            everybody = frozenset(scene.scene.present)
            setting = Line(scene.scene.moment, None, scene.scene.setting)
            self.by_term.setdefault(term, []).append(Mention(scene.number, setting, everybody))
        for _, line, present in scene.lines():
            for term in self._finder.find(line.text):
                heard_by = present if line.speaker is None else present | {line.speaker}
                self.by_term.setdefault(term, []).append(Mention(scene.number, line, heard_by))


def first_hearings(mentions: Sequence[Mention]) -> Mapping[str, Moment]:
    """When everybody who comes to hear of a term first does, in story order."""
    hearings: dict[str, Moment] = {}
    for mention in mentions:
        for who in sorted(mention.present):
            hearings.setdefault(who, mention.line.moment)
    return hearings


# Who learns what when: of each name and thing, where everybody who comes to hear of it first does.
#
# What is worth a look is what people learn at different times: an item counts by the scenes in which somebody learns
# of it, times a weight. Who goes by another name, and things of which not everybody knows, are what stories turn on;
# people know each other's names anyway. What is mentioned in one scene only is left out.

FEWEST_PEOPLE = 3
WEIGHTS = {"true name": 3.0, "thing": 2.0, "name": 1.5, "person": 1.0}
LOOSE = 0.5


@dataclass(frozen=True, slots=True)
class Learning:
    item: str
    """A name or a thing."""
    hearings: Mapping[str, Moment]
    """When each person first hears of it, in story order."""

    @property
    def steps(self) -> int:
        """In how many scenes somebody learns of it."""
        return len({moment.numbers[:-1] for moment in self.hearings.values()})


def learnings(mentions: Mentions) -> dict[str, Learning]:
    found: dict[str, Learning] = {}
    worth: dict[str, float] = {}
    for term, where in mentions.by_term.items():
        said = [mention for mention in where if mention.line.speaker is not None]
        hearings = first_hearings(said)
        item = f"{term.text} (true name)" if term.kind == "true name" else term.text
        if len(hearings) >= FEWEST_PEOPLE and len({mention.scene for mention in said}) > 1:
            learning = found.setdefault(item, Learning(item, hearings))
            worth.setdefault(item, learning.steps * WEIGHTS[term.kind] * (LOOSE if term.is_loose else 1.0))
    return {item: found[item] for item in sorted(found, key=lambda item: (-worth[item], item))}


# A fault of continuity: a line that does not fit what came before it, what it conflicts with, and how surely.

KINDS = {
    "unknown": "says what they cannot know yet",
    "gone": "has what they no longer have",
    "dead": "speaks while dead",
    "absent": "speaks after leaving",
    "met": "meets somebody for the second time as if for the first",
}
"""Kinds of fault, each with what somebody does in such a line."""
ID_LENGTH = 8  # hexadecimal digits


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    line: Line
    """A line that somebody says."""
    about: str
    """The name or thing that it is about."""
    reason: str
    sources: tuple[Moment, ...]
    """What the line conflicts with: where it was brought up, handed on, where somebody died, left, was met."""
    confidence: float

    @property
    def who(self) -> str:
        return self.line.speaker or ""

    @property
    def id(self) -> str:
        """Made of what is said, by whom and about what, not of where: it is the same when the story is read again.

        Somebody who says the same twice has one id for both lines.
        """
        content = "\0".join((self.kind, fold(self.who), fold(self.about), fold(self.line.text)))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


class Detector(Protocol):
    """Watches every scene once, in story order."""

    def watch(self, scene: WatchedScene) -> None: ...
    def faults(self) -> list[Fault]:
        """What was found in all scenes so far."""
        ...
