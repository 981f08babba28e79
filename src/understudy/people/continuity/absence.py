"""Lines of people who are dead, or who have left the scene.

Somebody is dead from a fact 'died' on, or where a direction says so ('Laertes dies.', or 'Dies.' after their line). Who
has left a scene in so many words, and speaks on in it without coming back, is absent; but not where the line or a
direction in between says that they are heard from elsewhere, or tells of them again.
"""

from __future__ import annotations

import re
from itertools import pairwise

from understudy.people.continuity.faults import Fault
from understudy.people.continuity.scenes import WatchedScene, directions_in
from understudy.people.continuity.terms import TermFinder
from understudy.persona import died_at
from understudy.story import Fact, Line, Moment
from understudy.storyfile import Story

__all__ = ["AbsenceDetector", "DeathDetector"]

DEAD_BY_FACT, DEAD_BY_DIRECTION, ABSENT = 0.95, 0.7, 0.6
DIES = re.compile(r"(?:^|[.;\[(]\s*)([^.;\[(]{0,60}?)\s*\b[Dd]ies\s*(?:$|[.;,\])])")
PRONOUN = frozenset(("", "he", "she", "they"))
LEAVES = re.compile(
    r"\b(?:leaves?|exits?|goes out|go out|walks? out|storms? out|runs? out|departs?)"
    r"(?=\s*(?:$|[.,;!)\]])| (?:by|with|through|into|to go|in a|for|after|together|along|quickly|running|and)\b"
    r"| the (?:room|apartment|house|stage|building|office|shop|kitchen|scene|bar|caf[eé]|coffee ?house)\b)"
    r"|\bEx(?:it|eunt)\b"
)
ELSEWHERE = re.compile(
    r"\b(?:enter|return|re-?enter|come|comes|coming|back|from|off|offstage|phone|outside|within|voice|door|doorway|behind"
    r"|hall|hallway|stops?|turns?|window|intercom|radio|o\.?\s?s\.?|v\.?\s?o\.?|later|cut|time lapse|pause)",
    re.IGNORECASE,
)
FEW = 3
FEWEST_BETWEEN = 2  # lines that others say after somebody has left: a direction often stands before one's last words


class AbsenceDetector:
    def __init__(self, finder: TermFinder) -> None:
        self._finder = finder
        self._faults: list[Fault] = []

    def watch(self, scene: WatchedScene) -> None:
        stays: dict[str, list[tuple[int, int]]] = {}
        for who, first, last in scene.intervals:
            stays.setdefault(who, []).append((first, last))
        lines = scene.scene.lines
        for who, intervals in stays.items():
            for (_, left), (again, _) in pairwise(sorted(intervals)):
                if self._is_fault(who, lines[left - 1], lines[left : again - 1], lines[again - 1]):
                    source = lines[left - 1].moment
                    self._faults.append(Fault("absent", lines[again - 1], who, f"{who} has left", (source,), ABSENT))

    def faults(self) -> list[Fault]:
        return self._faults

    def _is_fault(self, who: str, leaving: Line, between: tuple[Line, ...], speech: Line) -> bool:
        if speech.speaker != who or not self._leaves(who, leaving):
            return False
        if ELSEWHERE.search(directions_in(speech)):
            return False
        if sum(line.speaker not in (None, who) for line in between) < FEWEST_BETWEEN:
            return False
        return not any(self._tells_of(who, line) for line in between)

    def _leaves(self, who: str, line: Line) -> bool:
        text = directions_in(line)
        names = self._finder.people_in(text)
        return LEAVES.search(text) is not None and (who in names if names else line.speaker == who)

    def _tells_of(self, who: str, line: Line) -> bool:
        """Does a direction tell of somebody again, or of nobody in particular who comes back or is elsewhere?"""
        text = directions_in(line)
        names = self._finder.people_in(text)
        return who in names if names else ELSEWHERE.search(text) is not None


class DeathDetector:
    def __init__(self, story: Story, finder: TermFinder) -> None:
        self._finder = finder
        self._facts: dict[str, list[Fact]] = {}
        for fact in story.facts():
            if fact.attribute == "died":
                self._facts.setdefault(fact.who, []).append(fact)
        self._directed: dict[str, Moment] = {}
        self._dated: list[Fault] = []
        self._since_direction: dict[str, list[Fault]] = {}

    def watch(self, scene: WatchedScene) -> None:
        before: str | None = None
        for _, line, _ in scene.lines():
            if line.speaker is not None:
                self._judge(line.speaker, line)
            if (dead := self._dies(line, before)) is not None and dead not in self._facts:
                self._directed.setdefault(dead, line.moment)
            before = line.speaker or before

    def faults(self) -> list[Fault]:
        """Who speaks on and on after a direction was not dead: it told of a game, or of a joke that dies."""
        directed = [fault for faults in self._since_direction.values() if len(faults) <= FEW for fault in faults]
        return [*self._dated, *directed]

    def _judge(self, who: str, line: Line) -> None:
        reason = f"{who} is dead"
        if who in self._facts and (died := died_at(self._facts[who], line.moment)) is not None:
            self._dated.append(Fault("dead", line, who, reason, (died,), DEAD_BY_FACT))
        elif (died := self._directed.get(who)) is not None:
            after = self._since_direction.setdefault(who, [])
            if len(after) <= FEW:
                after.append(Fault("dead", line, who, reason, (died,), DEAD_BY_DIRECTION))

    def _dies(self, line: Line, before: str | None) -> str | None:
        if "ies" not in line.text:
            return None
        if (match := DIES.search(directions_in(line))) is None:
            return None
        names = self._finder.people_in(match[1])
        if match[1].strip().lower() in PRONOUN:
            return line.speaker or before
        return names[0] if len(names) == 1 else None
