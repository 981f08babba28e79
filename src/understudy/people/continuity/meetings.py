"""Lines that greet or introduce as one does at a first meeting, to people whom the speaker has talked with before.

Who is spoken to is not always told, so a line is a fault only if everybody who is there has exchanged lines with the
speaker in an earlier scene. The more of them there are, the less sure it is. Talks on the telephone are no meetings,
nor are dreams; who has taken another name may well introduce themselves again; and 'Guard' may be another guard.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from understudy.names import GOES_BY
from understudy.people.continuity.faults import Fault
from understudy.people.continuity.scenes import WatchedScene, directions_in
from understudy.people.continuity.terms import TermFinder
from understudy.story import Line, Moment
from understudy.storyfile import Story

__all__ = ["MeetingDetector"]

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
