"""Candidates from the utterance database: lines that are approved for a character at a moment, beside its own past.

    e is a candidate at m  iff  it was said before m, or it is approved for the story and since(e) <= m < until(e)

in story order, an approved line where it may first be said. The database's version is checked at each reply, so that
a decision holds at once; lines are read and indexed again only when they have changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import merge

from understudy.agents.pools import KeyedCache, key_of, own_past
from understudy.metrics.utterances import Sayable, UtteranceStore
from understudy.story.dialogue import Situation
from understudy.story.types import Exchange, Line

__all__ = ["ApprovedCandidates"]

CACHE_SIZE = 64


class ApprovedCandidates:
    """Candidates for any agent that answers from lines. They are the character's by its name and its story's title."""

    def __init__(self, store: UtteranceStore) -> None:
        self._store = store
        self._lines = KeyedCache[tuple[Sayable, ...]](CACHE_SIZE)
        self._exchanges = KeyedCache[tuple[Exchange, ...]](CACHE_SIZE)

    def __call__(self, situation: Situation) -> Iterable[Exchange]:
        persona, past = situation.persona, own_past(situation)
        lines = self._lines.get_or_create(
            (persona.story, persona.name, persona.moment, self._store.version()),
            None,
            lambda: tuple(self._store.sayable(persona.name, persona.moment, persona.story)),
        )
        if not lines:
            return past
        # Agents index a collection once and recognise it by its identity.
        return self._exchanges.get_or_create(
            (key_of(past, persona), tuple(line.number for line in lines)),
            persona,
            lambda: tuple(merge(past, _as_exchanges(lines, persona.name), key=lambda exchange: exchange.said.moment)),
        )


def _as_exchanges(lines: Iterable[Sayable], who: str) -> list[Exchange]:
    exchanges = [Exchange(None, Line(line.since, who, line.text), "", line.number) for line in lines]
    return sorted(exchanges, key=lambda exchange: exchange.said.moment)
