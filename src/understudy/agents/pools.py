"""What an agent may answer from, indexed once for each persona: exchanges by the words heard before them, and the
character's past as sentence vectors."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy.language.encoding import Encoder, Floats
from understudy.language.encoding.cache import AT_ONCE, TextVectors
from understudy.language.lexical import TfIdf
from understudy.story.dialogue import Candidate, Evidence, Reply, Situation
from understudy.story.persona import Past, Persona
from understudy.story.types import Exchange, Line, Moment

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


class SpokenExchanges:
    """Exchanges in which something was said, and who had spoken before each."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self.exchanges = tuple(exchange for exchange in exchanges if exchange.said.text.strip())
        self._numbers: dict[str | None, int] = {None: 0}
        names = (None if exchange.heard is None else exchange.heard.speaker for exchange in self.exchanges)
        numbers = [self._numbers.setdefault(name, len(self._numbers)) for name in names]
        self._heard_from = np.array(numbers, np.int32)

    def heard_from(self, name: str) -> NDArray[np.bool_]:
        """For each exchange: was it somebody of that name who had spoken?"""
        return np.equal(self._heard_from, self._numbers.get(name, -1))


class Pool(SpokenExchanges):
    """Exchanges and the index of what was heard before each; a line that answers nothing is found by its own words."""

    def __init__(self, exchanges: Iterable[Exchange], language: str) -> None:
        super().__init__(exchanges)
        self.index = TfIdf(((exchange.heard or exchange.said).text for exchange in self.exchanges), language)


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


# A character's past as sentence vectors: what it said, what it had heard just before, and the scenes it was in.
#
#     likeness(m, l) = cos(m, l)                          of a message and a line, both encoded as something said
#     memory(s)      = max over lines l of scene s of likeness(m, l)
#
# Lines are encoded once and cached: on disk by their text, here per persona. Of the lines a character only overheard
# the most recent are taken, so that a long story does not take long to encode. A long past is encoded in the
# background.


OVERHEARD = 2_000
SCENES = 400  # searched for overheard lines; bounds the work on a long story
FIRST_BY_WORDS, FIRST_RECENT = 96, 32  # exchanges that are ranked while the others are being encoded
SHORTLIST_BY_WORDS, SHORTLIST_NEWEST = 96, 64  # exchanges of a long past that are ranked for a prompt
ALL_OF = AT_ONCE // 2  # exchanges, two texts each
FIRST_LINES = 48  # overheard lines likewise
LEAST_LINE = 12  # characters; 'Yes.' and 'What?' match everything and mean nothing


@dataclass(frozen=True, slots=True)
class EncodedExchanges:
    """The exchanges of a memory that can be ranked now: their indices, and the vectors of both halves."""

    indices: NDArray[np.intp]
    said: Floats
    with_heard: NDArray[np.intp]
    """Which of them answered something: indices into `indices`."""
    heard: Floats
    is_complete: bool

    def heard_likeness(self, message: Floats) -> Floats:
        """How like the message what was heard before each exchange is; 0 where nothing was."""
        likeness = np.zeros(len(self.indices), np.float32)
        likeness[self.with_heard] = self.heard @ message
        return likeness


class EncodedMemory(SpokenExchanges):
    """Exchanges in story order with the vectors of both halves; scenes by the vectors of their lines.

    Where the past is long, its vectors are made in the background. Until they are there, what is ranked for a message
    is decided by the message alone: the exchanges that share the most with it by tf-idf, and the most recent ones. A
    prompt is made of such a shortlist for good, so that it does not change when the vectors are there.
    """

    def __init__(self, exchanges: Iterable[Exchange], past: Past, encoder: Encoder, language: str = "en") -> None:
        super().__init__(exchanges)
        self.distinct = len({exchange.said.text.strip() for exchange in self.exchanges})
        heard = [index for index, exchange in enumerate(self.exchanges) if exchange.heard is not None]
        self._heard = np.array(heard, np.intp)
        self._words = TfIdf(
            (f"{self._prompt(index)} {exchange.said.text}" for index, exchange in enumerate(self.exchanges)), language
        )
        self.lines, self._settings = _scene_lines(past)
        self._line_words = TfIdf((line.text for line in self.lines), language)
        self._line_vectors: TextVectors | None = None
        self._vectors = TextVectors(
            [*(exchange.said.text for exchange in self.exchanges), *(self._prompt(index) for index in heard)], encoder
        )
        self._encoder = encoder
        self._ranked: EncodedExchanges | None = None

    def ranked_for(self, query: Mapping[str, float]) -> EncodedExchanges:
        """What can be ranked for a message of these words: everything, or the best by words while that is encoded."""
        if self._ranked is None and self._vectors.is_complete:
            self._ranked = self._encoded(np.arange(len(self.exchanges)), is_complete=True)
        if self._ranked is not None:
            return self._ranked
        recent = np.arange(len(self.exchanges))[-FIRST_RECENT:]
        by_words = [index for index, _ in self._words.top(query, FIRST_BY_WORDS)]
        return self._encoded(np.union1d(recent, np.array(by_words, np.intp)), is_complete=False)

    def shortlist_for(self, query: Mapping[str, float]) -> EncodedExchanges:
        """What is ranked for a prompt, the same however much has been encoded by now.

        All of a short past; of a long one the newest exchanges, and those that share the most words with the message.
        """
        count = len(self.exchanges)
        if count <= ALL_OF:
            return self.ranked_for(query)  # so few that they have been encoded at once
        by_words = [index for index, _ in self._words.top(query, SHORTLIST_BY_WORDS)]
        newest = np.arange(count - SHORTLIST_NEWEST, count)
        return self._encoded(np.union1d(newest, np.array(by_words, np.intp)), is_complete=False)

    def _encoded(self, indices: NDArray[np.intp], is_complete: bool) -> EncodedExchanges:
        with_heard = np.flatnonzero(np.isin(indices, self._heard, assume_unique=True))
        heard_indices = len(self.exchanges) + np.searchsorted(self._heard, indices[with_heard])
        both = self._vectors.of(np.concatenate([indices, heard_indices]))
        return EncodedExchanges(indices, both[: len(indices)], with_heard, both[len(indices) :], is_complete)

    def shared_words(self, message: Mapping[str, float]) -> Floats:
        """The cosine of a message's words with those of each exchange, both halves together."""
        return self._words.scores(message)

    def memories(
        self, message: Floats, query: Mapping[str, float], count: int, least: float
    ) -> list[tuple[Line, str, float]]:
        """The scenes that bear most on the message: the line that does, the setting, how much."""
        if not self.lines:
            return []
        if self._line_vectors is None:
            self._line_vectors = TextVectors([line.text for line in self.lines], self._encoder)
        indices = np.arange(len(self.lines))
        if not self._line_vectors.is_complete:
            indices = np.sort(np.array([index for index, _ in self._line_words.top(query, FIRST_LINES)], np.intp))
        scores = self._line_vectors.of(indices) @ message
        best: dict[tuple[int, ...], tuple[Line, str, float]] = {}
        for index in np.argsort(-scores, kind="stable").tolist():
            if scores[index] < least or len(best) == count:
                break
            line = self.lines[indices[index]]
            best.setdefault(_scene(line.moment), (line, self._settings[_scene(line.moment)], float(scores[index])))
        return list(best.values())

    def _prompt(self, index: int) -> str:
        heard = self.exchanges[index].heard
        return "" if heard is None else heard.text


class EncodedMemories:
    """A cache of memories by persona and moment; a collection of candidates is shared by all who use it."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._cache = KeyedCache[EncodedMemory](32)

    def of(self, situation: Situation, encoder: Encoder) -> EncodedMemory:
        exchanges, persona = self._candidates(situation), situation.persona
        return self._cache.get_or_create(
            key_of(exchanges, persona, own_past_too=True),
            (exchanges, persona),
            lambda: EncodedMemory(exchanges, persona.past, encoder, persona.language),
        )


def _scene_lines(past: Past) -> tuple[list[Line], dict[tuple[int, ...], str]]:
    """What was said in the scenes a character was in, by anybody, the most recent; and where each scene was."""
    lines, settings = list[Line](), dict[tuple[int, ...], str]()
    for scene in past.scenes(SCENES):
        for line in scene.lines:
            if line.speaker is not None and len(line.text) >= LEAST_LINE:
                lines.append(line)
                settings[_scene(line.moment)] = scene.setting
    return lines[-OVERHEARD:], settings


def _scene(moment: Moment) -> tuple[int, ...]:
    return moment.numbers[:-1]
