"""Where each term of a story is mentioned, and who hears it first when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from understudy.people.continuity.scenes import WatchedScene
from understudy.people.continuity.terms import Term, TermFinder
from understudy.story import Line, Moment

__all__ = ["Mention", "Mentions", "first_hearings"]


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
