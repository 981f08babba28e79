"""Candidate pools: the exchanges an agent may answer from, indexed by what was heard, cached per persona."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.language.lexical import Floats, TfIdf
from understudy.story.dialogue import Candidate, Evidence, Reply, Situation
from understudy.story.persona import Persona
from understudy.story.types import Exchange, Moment

__all__ = [
    "Candidates",
    "KeyedCache",
    "Pool",
    "Pools",
    "distinct",
    "key_of",
    "own_past",
    "reply_from",
    "said_at",
    "taken_from",
]

Value = TypeVar("Value")

SHOWN = 5  # replies that are considered

Candidates = Callable[[Situation], Iterable[Exchange]]


class _Entry(Generic[Value]):
    def __init__(self, owner: object) -> None:
        self.owner = owner
        self.lock = Lock()
        self.values: list[Value] = []  # empty until created, so that None can be a value


class KeyedCache(Generic[Value]):
    """Thread-safe LRU cache: concurrent callers of one key wait for a single `create()`, others do not wait."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()
        self._lock = Lock()

    def get_or_create(self, key: Hashable, owner: object, create: Callable[[], Value]) -> Value:
        """The value of a key. The entry keeps `owner` alive, so that an `id()` in the key cannot be reused."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry(owner)
                if len(self._entries) > self._capacity:
                    self._entries.popitem(last=False)
            self._entries.move_to_end(key)
        with entry.lock:
            if not entry.values:
                entry.values.append(create())
            return entry.values[0]


def own_past(situation: Situation) -> Iterator[Exchange]:
    """Everything the character has said before the moment."""
    return situation.persona.past.exchanges()


class Pool:
    """Exchanges and the index of what was heard before each; a line that answers nothing is found by its own words."""

    def __init__(self, exchanges: Iterable[Exchange], language: str) -> None:
        self.exchanges = tuple(exchange for exchange in exchanges if exchange.said.text.strip())
        self.index = TfIdf((prompt(exchange) for exchange in self.exchanges), language)
        numbers: dict[str | None, int] = {None: 0}
        heard_from = (None if exchange.heard is None else exchange.heard.speaker for exchange in self.exchanges)
        self._heard_from = np.array([numbers.setdefault(name, len(numbers)) for name in heard_from], dtype=np.int32)
        self._numbers = numbers

    def heard_from(self, name: str) -> NDArray[np.bool_]:
        """For each exchange: was it somebody of that name who had spoken?"""
        return np.equal(self._heard_from, self._numbers.get(name, -1))


def prompt(exchange: Exchange) -> str:
    return exchange.said.text if exchange.heard is None else exchange.heard.text


def said_at(exchange: Exchange) -> Moment | None:
    """When it was said; an approved line never was."""
    return exchange.said.moment if exchange.approved is None else None


def taken_from(exchange: Exchange, shared: tuple[str, ...] = ()) -> Evidence:
    """Where a reply comes from: what it answered when it was said, or its number among the approved lines."""
    if exchange.approved is not None:
        return Evidence("approved", f"utterance {exchange.approved}: {exchange.said.text.strip()}", words=shared)
    prompt = exchange.heard or exchange.said
    text = f"{prompt.speaker}: {prompt.text}" if prompt.speaker else prompt.text
    return Evidence("exchange", text, prompt.moment, shared)


def distinct(pool: Pool, ranked: Iterable[int], said: Sequence[str]) -> list[int]:
    """The first few with different texts, none of them said already."""
    seen, chosen = set(said), list[int]()
    for index in ranked:
        text = pool.exchanges[index].said.text.strip()
        if text not in seen:
            seen.add(text)
            chosen.append(int(index))
            if len(chosen) == SHOWN:
                break
    return chosen


def reply_from(pool: Pool, shown: Sequence[int], scores: Floats, evidence: Iterable[Evidence]) -> Reply:
    """The first of some exchanges, said; the others were considered."""
    exchanges = [pool.exchanges[index] for index in shown]
    return Reply(
        exchanges[0].said.text.strip(),
        tuple(
            Candidate(exchange.said.text.strip(), float(scores[index]), said_at(exchange))
            for index, exchange in zip(shown, exchanges)
        ),
        tuple(evidence),
    )


class Pools:
    """A cache of pools.

    `candidates` may give a collection, which is indexed once for all who share it and must not change; or an
    iterator (made anew each time), which is read once for each persona and may depend on nothing else.
    """

    def __init__(self, candidates: Candidates, capacity: int = 32) -> None:
        self._candidates = candidates
        self._cache = KeyedCache[Pool](capacity)

    def of(self, situation: Situation) -> Pool:
        exchanges, persona = self._candidates(situation), situation.persona
        return self._cache.get_or_create(
            key_of(exchanges, persona), (exchanges, persona), lambda: Pool(exchanges, persona.language)
        )


def key_of(exchanges: Iterable[Exchange], persona: Persona, own_past_too: bool = False) -> Hashable:
    """What tells one pool from another. A persona asked for again is another object with the same past."""
    if not isinstance(exchanges, Iterator) and not own_past_too:
        return id(exchanges), persona.language
    whose = persona.name, persona.moment, persona.profile, id(persona.past), persona.language
    return whose if isinstance(exchanges, Iterator) else (id(exchanges), *whose)
