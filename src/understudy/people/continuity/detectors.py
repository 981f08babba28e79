"""Lines of people who are dead, or who have left the scene.

Somebody is dead from a fact 'died' on, or where a direction says so ('Laertes dies.', or 'Dies.' after their line). Who
has left a scene in so many words, and speaks on in it without coming back, is absent; but not where the line or a
direction in between says that they are heard from elsewhere, or tells of them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from understudy.people.continuity.scenes import (
    Detector,
    Fault,
    TermFinder,
    WatchedScene,
    directions_in,
    facts_by_person,
)
from understudy.story.names import GOES_BY
from understudy.story.persona import died_at
from understudy.story.storyfile import Story
from understudy.story.types import Fact, Line, Moment, holding_at

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


class AbsenceDetector(Detector):
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


class DeathDetector(Detector):
    def __init__(self, story: Story, finder: TermFinder) -> None:
        super().__init__(finder)
        self._facts = facts_by_person(story, "died")
        self._directed: dict[str, Moment] = {}
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
        return [*self._faults, *directed]

    def _judge(self, who: str, line: Line) -> None:
        reason = f"{who} is dead"
        if who in self._facts and (died := died_at(self._facts[who], line.moment)) is not None:
            self._faults.append(Fault("dead", line, who, reason, (died,), DEAD_BY_FACT))
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
class _PairHistory:
    exchanges: int
    first: Moment
    last: Moment


class MeetingDetector(Detector):
    def __init__(self, story: Story, finder: TermFinder) -> None:
        super().__init__(finder)
        self._masks = facts_by_person(story, GOES_BY)
        self._known: dict[frozenset[str], _PairHistory] = {}

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
        masks = [mask for person in (who, *others) for mask in self._masks.get(person, ())]
        changes = [change for mask in masks for change in (mask.since, mask.until) if change is not None]
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
                acquaintance = self._known.setdefault(pair, _PairHistory(0, first.moment, second.moment))
                acquaintance.exchanges += 1
                acquaintance.last = second.moment


# Lines in which somebody says that they have what they no longer have.
#
# What people have is told by facts ('belongings'), which end or are replaced, and by directions in which they hand
# something on. A claim is 'I have', 'I carry', 'Here is' and the like with the thing's name: its noun, and its
# adjective where the line has one. That something is *theirs* ('my key') is none: one may lend it.


BELONGINGS = "belongings"
DETERMINER = r"(?:the|my|that|this|these|those|your|his|her|our|their|a|an)"
CLAIM = re.compile(
    rf"(?<!if )(?<!wish )\b(?:I(?: still| do| always)? (?:have|carry|hold|keep|wear)|I(?:['’]ve| have)(?: still)? got"
    rf"|I(?:['’]m| am)(?: still)? (?:holding|carrying|wearing)|[Hh]ere(?:['’]s| is| are)) (?:still )?"
    rf"(?:{DETERMINER} )?((?:[\w'’-]+ ){{0,3}}[\w'’-]+)"
)
NOT_CLAIMED = frozenset("no not never none nothing to been lost given lent sold".split())
HANDED = re.compile(
    rf"\b(?:gives?|hands?|passes|sells?|returns?|throws?|tosses) (?:(?P<to>[A-Z]\w+|him|her|them) )?(?:back )?"
    rf"{DETERMINER} (?P<thing>(?:[\w-]+ ){{0,2}}?[\w-]+?)(?P<back> back)?(?: to (?P<receiver>[A-Z]\w+|him|her|them))?"
    rf"(?=[.,;)\]]| and | who |$)"
)
TAKES = re.compile(r"\b(?:takes?|gets?|grabs?|picks?|finds?|receives?|pulls?|holds?|holding|carrying|wearing|with)\b")
ENDS_PHRASE = re.compile(r",| (?:with|from|of|which|that|in|on|for|pegged|sealed|under|to|and)\b")
NUMBER_WORDS = frozenset("a an the my one two three four five six seven eight nine ten".split())
BY_FACT, HELD_BY_OTHER, BY_DIRECTION = 0.7, 0.85, 0.6


class Thing(NamedTuple):
    """A thing by its noun and the words before it: 'brass key' is (key, {brass})."""

    noun: str
    adjectives: frozenset[str]

    @classmethod
    def named(cls, phrase: str) -> Thing | None:
        words = [word.lower() for word in ENDS_PHRASE.split(phrase, maxsplit=1)[0].split()]
        words = [word for word in words if word not in NUMBER_WORDS]
        return cls(_singular(words[-1]), frozenset(words[:-1])) if words else None

    def matches(self, other: Thing) -> bool:
        if self.noun != other.noun:
            return False
        return not self.adjectives or not other.adjectives or not self.adjectives.isdisjoint(other.adjectives)


class _Handover(NamedTuple):
    thing: Thing
    phrase: str
    moment: Moment


class BelongingsDetector(Detector):
    def __init__(self, story: Story, finder: TermFinder) -> None:
        super().__init__(finder)
        self._facts = facts_by_person(story, BELONGINGS)
        self._handed: dict[str, list[_Handover]] = {}

    def watch(self, scene: WatchedScene) -> None:
        for _, line, _ in scene.lines():
            if line.speaker is not None:
                self._faults += [
                    fault
                    for claimed in _claims(line.text)
                    if (fault := self._gone_by_fact(line, claimed) or self._gone_by_direction(line, claimed))
                ][:1]
            self._watch_hands(line)

    def _gone_by_fact(self, line: Line, claimed: Thing) -> Fault | None:
        who = line.speaker or ""
        own = self._facts.get(who, ())
        now = holding_at(own, line.moment)
        if any(thing.matches(claimed) for fact in now for _, thing in _things(fact)):
            return None
        for fact in reversed(own):
            if fact.since >= line.moment or fact in now:
                continue
            for value, thing in _things(fact):
                if thing.matches(claimed) and self._is_distinct(thing, claimed):
                    return self._fault(line, value, thing, fact, own)
        return None

    def _is_distinct(self, thing: Thing, claimed: Thing) -> bool:
        """Two things of one noun are told apart by an adjective."""
        if thing.adjectives & claimed.adjectives:
            return True
        alike = {
            other.adjectives
            for facts in self._facts.values()
            for fact in facts
            for _, other in _things(fact)
            if other.noun == thing.noun
        }
        return len(alike) == 1

    def _fault(self, line: Line, value: str, thing: Thing, had: Fact, own: Sequence[Fact]) -> Fault | None:
        who = line.speaker or ""
        changes = [fact.since for fact in own if had.since < fact.since <= line.moment]
        ended = min([*changes, *([had.until] if had.until is not None else [])], default=None)
        holder = next(
            (
                fact
                for other, facts in self._facts.items()
                if other != who
                for fact in holding_at(facts, line.moment)
                if any(owned.matches(thing) for _, owned in _things(fact))
            ),
            None,
        )
        if ended is None or (had.found is not None and holder is None):
            return None  # what was found is not said to end because something else was found
        reason = f"{who} no longer has {value}" + (f": {holder.who} has it" if holder else "")
        sources = tuple(dict.fromkeys((had.since, ended, *([holder.since] if holder else []))))
        return Fault("gone", line, value, reason, sources, HELD_BY_OTHER if holder else BY_FACT)

    def _gone_by_direction(self, line: Line, claimed: Thing) -> Fault | None:
        who = line.speaker or ""
        for handed in self._handed.get(who, ()):
            if handed.thing.noun == claimed.noun and handed.thing.adjectives == claimed.adjectives:
                reason = f"{who} has handed on the {handed.phrase}"
                return Fault("gone", line, handed.phrase, reason, (handed.moment,), BY_DIRECTION)
        return None

    def _watch_hands(self, line: Line) -> None:
        if not (text := directions_in(line)):
            return
        self._forget(text, line.speaker)
        if match := HANDED.search(text):
            givers = self._finder.people_in(text[: match.start()]) or ([line.speaker] if line.speaker else [])
            thing = Thing.named(match["thing"])
            if len(givers) == 1 and thing is not None and (match["to"] or match["receiver"]):
                self._handed.setdefault(givers[0], []).append(_Handover(thing, match["thing"], line.moment))

    def _forget(self, text: str, speaker: str | None) -> None:
        """Whoever is told of with the thing again may have it back."""
        if not self._handed or not (TAKES.search(text) or HANDED.search(text)):
            return
        words = {_singular(word) for word in re.findall(r"[a-z]+", text.lower())}
        for who in {*self._finder.people_in(text), *([speaker] if speaker else [])}.intersection(self._handed):
            self._handed[who] = [handed for handed in self._handed[who] if handed.thing.noun not in words]


def _claims(text: str) -> Iterator[Thing]:
    """The things that a line says its speaker has, by every noun that it could mean."""
    for match in CLAIM.finditer(text):
        words = match[1].split()
        if NOT_CLAIMED.isdisjoint(word.lower() for word in words[:2]):
            for length in range(1, len(words) + 1):
                if (thing := Thing.named(" ".join(words[:length]))) is not None:
                    yield thing


def _things(fact: Fact) -> Iterator[tuple[str, Thing]]:
    for value in fact.values:
        if (thing := Thing.named(value)) is not None:
            yield value, thing


def _singular(word: str) -> str:
    word = re.sub(r"['’]s$", "", word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
