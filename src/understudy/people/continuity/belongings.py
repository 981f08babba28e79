"""Lines in which somebody says that they have what they no longer have.

What people have is told by facts ('belongings'), which end or are replaced, and by directions in which they hand
something on. A claim is 'I have', 'I carry', 'Here is' and the like with the thing's name: its noun, and its adjective
where the line has one. That something is *theirs* ('my key') is none: one may lend it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from understudy.people.continuity.scenes import Fault, WatchedScene, directions_in
from understudy.people.continuity.terms import TermFinder
from understudy.story.storyfile import Story
from understudy.story.types import Fact, Line, Moment, holding_at

__all__ = ["BelongingsDetector"]

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


class BelongingsDetector:
    def __init__(self, story: Story, finder: TermFinder) -> None:
        self._finder = finder
        self._facts: dict[str, list[Fact]] = {}
        for fact in story.facts():
            if fact.attribute == BELONGINGS:
                self._facts.setdefault(fact.who, []).append(fact)
        self._handed: dict[str, list[_Handover]] = {}
        self._faults: list[Fault] = []

    def watch(self, scene: WatchedScene) -> None:
        for _, line, _ in scene.lines():
            if line.speaker is not None:
                self._faults += [
                    fault
                    for claimed in _claims(line.text)
                    if (fault := self._gone_by_fact(line, claimed) or self._gone_by_direction(line, claimed))
                ][:1]
            self._watch_hands(line)

    def faults(self) -> list[Fault]:
        return self._faults

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
                if any(held.matches(thing) for _, held in _things(fact))
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
