"""Lines of people who are dead, or who have left the scene.

Somebody is dead from a fact 'died' on, or where a direction says so ('Laertes dies.', or 'Dies.' after their line). Who
has left a scene in so many words, and speaks on in it without coming back, is absent; but not where the line or a
direction in between says that they are heard from elsewhere, or tells of them again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from understudy.people.continuity.scenes import Fault, WatchedScene, directions_in
from understudy.people.continuity.terms import TermFinder
from understudy.story.names import GOES_BY
from understudy.story.persona import died_at
from understudy.story.storyfile import Story
from understudy.story.types import Fact, Line, Moment

__all__ = ["AbsenceDetector", "DeathDetector", "MeetingDetector"]

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


# Lines that greet or introduce as one does at a first meeting, to people whom the speaker has talked with before.
#
# Who is spoken to is not always told, so a line is a fault only if everybody who is there has exchanged lines with
# the speaker in an earlier scene. The more of them there are, the less sure it is. Talks on the telephone are no
# meetings, nor are dreams; who has taken another name may well introduce themselves again; and 'Guard' may be another
# guard.

GREETINGS = (
    (
        re.compile(
            r"\b(?:nice|pleased|pleasure|glad|delighted|good|lovely|great|wonderful|honou?red|happy)(?: it is)?"
            r" to (?:\w+ )?(?:meet|make) (?:you(?:r acquaintance)?|both of you|all of you)\b"
            r"(?! again| here| at| there| for)",
            re.IGNORECASE,
        ),
        0.9,
    ),
    (
        re.compile(r"\bwe (?:haven['’]t|have not|have never|were never) (?:\w+ )?(?:met|introduced)\b", re.IGNORECASE),
        0.8,
    ),
    (re.compile(r"\bdon['’]t (?:believe|think) we['’]ve (?:\w+ )?met\b", re.IGNORECASE), 0.9),
    (re.compile(r"\bhow do you do[.,!?]", re.IGNORECASE), 0.8),
    (re.compile(r"(?:^|[.!?] )And you are\?"), 0.7),
    (re.compile(r"(?:^|[.!?] )Who are you\?"), 0.4),
    (re.compile(r"[初はじ]{1,2}めまして|初次见面|幸会|很高兴认识"), 0.9),
)
INTRODUCES = re.compile(
    r"(?:^|[.!?] )(?:(?:Hi|Hello|Hey)[,!.]? )?(?:I['’]m|I am|[Mm]y name is|[Mm]y name['’]s|[Tt]he name is) "
    r"((?:(?:Mr|Mrs|Ms|Miss|Dr)\.? )?[A-Z]\w+(?: [A-Z]\w+)?)(?=[.,!]|$)"
)
INTRODUCED = 0.7
REMOTE = re.compile(r"\b(?:tele)?phone|\bradio\b|\bmachine\b|\bdream|\bflashback|\bfantasy", re.IGNORECASE)
FEWEST_EXCHANGES = 2
SHARES = {1: 1.0, 2: 0.75}  # by how many are there; of more than that, half
NEAR = 4  # lines


@dataclass(slots=True)
class _Acquaintance:
    exchanges: int
    first: Moment
    last: Moment


class MeetingDetector:
    def __init__(self, story: Story, finder: TermFinder) -> None:
        self._finder = finder
        self._masks: dict[str, list[Moment]] = {}
        for fact in story.facts():
            if fact.attribute == GOES_BY:
                self._masks.setdefault(fact.who, []).extend(filter(None, (fact.since, fact.until)))
        self._known: dict[frozenset[str], _Acquaintance] = {}
        self._faults: list[Fault] = []

    def watch(self, scene: WatchedScene) -> None:
        lines = scene.scene.lines
        if REMOTE.search(scene.scene.setting) or any(REMOTE.search(directions_in(line)) for line in lines):
            return
        everybody = frozenset(who for who, _, _ in scene.intervals)
        for number, line, present in scene.lines():
            if line.speaker is not None and (certainty := self._greets(line.speaker, line.text)):
                near = {other.speaker for other in lines[max(number - 1 - NEAR, 0) : number + NEAR] if other.speaker}
                groups = near - everybody
                self._faults += self._judged(line, certainty, sorted((present | groups) - {line.speaker}))
        self._learn(lines)

    def faults(self) -> list[Fault]:
        return self._faults

    def _greets(self, who: str, text: str) -> float:
        """How surely a line is one of a first meeting."""
        certainty = max((sure for pattern, sure in GREETINGS if pattern.search(text)), default=0.0)
        match = INTRODUCES.search(text)
        if match and match[1] in (who, *who.split()):
            certainty = max(certainty, INTRODUCED)
        return certainty

    def _judged(self, line: Line, certainty: float, others: Sequence[str]) -> list[Fault]:
        who = line.speaker or ""
        if not others or not all(map(self._finder.is_proper_name, (who, *others))):
            return []
        known = [self._known.get(frozenset((who, other))) for other in others]
        met = [acquaintance for acquaintance in known if acquaintance and acquaintance.exchanges >= FEWEST_EXCHANGES]
        if len(met) < len(others):
            return []
        changes = [change for one in (who, *others) for change in self._masks.get(one, ())]
        if any(acquaintance.last < change <= line.moment for acquaintance in met for change in changes):
            return []  # one of them goes by another name since they last met
        confidence = round(certainty * SHARES.get(len(others), 0.5), 2)
        latest = max(met, key=lambda acquaintance: acquaintance.last)
        reason = f"{who} has talked with {' and '.join(others[:3])} before"
        sources = tuple(dict.fromkeys((min(one.first for one in met), latest.last)))
        return [Fault("met", line, ", ".join(others), reason, sources, confidence)]

    def _learn(self, lines: Sequence[Line]) -> None:
        spoken = [line for line in lines if line.speaker is not None]
        for first, second in pairwise(spoken):
            if first.speaker != second.speaker:
                pair = frozenset((first.speaker or "", second.speaker or ""))
                acquaintance = self._known.setdefault(pair, _Acquaintance(0, first.moment, second.moment))
                acquaintance.exchanges += 1
                acquaintance.last = second.moment
