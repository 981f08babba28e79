"""What of a character's past and profile bears on a message: for the prompt of a writer.

    fact(f)  = cos(m, f) + 0.5 words(m, f) + 0.4 [f is a tie to somebody m is about]
    own(e)   = the encoder agent's score of an exchange: fit + 0.5 likeness of what was heard + 0.5 words + age
    other(l) = cos(m, l) + 0.5 words(m, l)

words(a, b) is the cosine of two sets of words of meaning, without their endings; of Japanese and Chinese texts, of
pairs of characters, so that no tokenizer is needed. A person is meant by any of the names the character knows them by.
Three own exchanges are found by own(e), three more by the likeness of what was heard alone. Without an encoder for the
story's language cosines are left out.

Long lines are shown by the sentences that bear on the message. The voice is shown by lines spread over the past, the
same for every message, so that the beginning of the prompt does not change.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import content, heard_words, last_heard
from understudy.agents.encoder import HEARD, LONG_PAST, READ, RECENT, WORDS, EncoderAgent
from understudy.agents.fit import CachedEncoder, build_fits
from understudy.agents.pools import EncodedMemory, KeyedCache, key_of
from understudy.agents.prompt_contents import PastExchange, PastLine, Recalled
from understudy.agents.word_tokens import plain_line, relevant_part, spread_lines, terms, word_overlap
from understudy.language.encoding import Floats
from understudy.language.encoding.cache import BACKGROUND
from understudy.language.lexical.rows import probability
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Told
from understudy.story.types import Exchange, Line, Moment
from understudy.story.wording import speaker_words, tie_sentence
from understudy.text import words

FACTS, OWN, OTHERS, VOICE, TOLD = 4, 3, 4, 8, 6
OWN_WORDS, HEARD_WORDS, OTHERS_WORDS = 40, 25, 30  # of a line that is shown
# What is looked at, as the small writer was trained. Only what of it is shown to other models is fitted (below).
LEAST_FACT, LEAST_HEARD, LEAST_OTHER = 0.15, 0.5, 0.45  # set by hand: what is nearer is looked at
ABOUT, NOT_ABOUT, FAMILIARITY = (
    0.4,
    -0.3,
    -0.15,
)  # of ties, by hand: to whom the message is about, to others, "I know X."
ALIAS = 0.5  # weight of the words of a name beside those the message has, by hand
ABOUT_ONESELF = re.compile(r"\b(?:who are you|your name|yourself|introduce)\b", re.IGNORECASE)
COMPARED = 40  # best own exchanges that are compared for outdated ones
SCENES = 200  # searched for what others said; bounds the work on a long story
OVERHEARD = 800
SHORTLIST = 32  # lines of others that are encoded for a message, those that share most words with it


@dataclass(frozen=True, slots=True)
class Memory:
    """A character's past as it is searched: exchanges, others' lines with their terms, lines that show the voice."""

    exchanges: tuple[Exchange, ...]
    overheard: tuple[Line, ...]
    overheard_terms: tuple[frozenset[str], ...]
    voice: tuple[str, ...]
    rarity: TermRarity
    present: Mapping[tuple[int, ...], frozenset[str]]
    """Who was in the most recent scenes, by the numbers of their moments."""

    def was_without(self, faced: str | None, moment: Moment | None) -> bool:
        """Was the one faced away when a line was said?"""
        there = None if moment is None else self.present.get(moment.numbers[:-1])
        return faced is not None and there is not None and faced not in there


class Recall:
    """Finds what bears on a message. The encoded past is the encoder agent's, and shared with it."""

    def __init__(self, encoder: EncoderAgent | None = None) -> None:
        self._encoder = encoder or EncoderAgent()
        self._memories = KeyedCache[Memory](32)

    def recall(self, situation: Situation, history: Sequence[Turn]) -> Recalled:
        with BACKGROUND.paused():  # this request goes before encoding the rest of a long past
            return self._recalled(situation, history)

    def _recalled(self, situation: Situation, history: Sequence[Turn]) -> Recalled:
        persona = situation.persona
        message = last_heard(persona, history)
        cached = self._encoder.encoder(persona.language)
        past = None if cached is None else self._encoder.memory(situation, cached)
        memory = self._memories.get_or_create(key_of(iter(()), persona), persona, lambda: _read_memory(situation, past))
        query = _MemoryQuery(situation, message, cached)
        if cached is None or past is None:
            own = list(_own_by_words(memory, query))
        else:
            own = list(_own(situation, history, query, cached, past, memory.rarity))
        others = _others(memory, query, {exchange.heard for exchange in own})
        faced = None if situation.faced is None else situation.faced.name
        return Recalled(
            tuple(_facts(situation, query)),
            tuple(exchange._replace(is_private=memory.was_without(faced, exchange.moment)) for exchange in own),
            tuple(line._replace(is_private=memory.was_without(faced, line.moment)) for line in others),
            memory.voice,
            tuple(_told(situation, query)),
        )


class _MemoryQuery:
    """A message with its terms, the names it means, and its vector where there is an encoder."""

    def __init__(self, situation: Situation, message: str, cached: CachedEncoder | None) -> None:
        self.message, self.language, self.cached = message, situation.persona.language, cached
        self.said = terms(message, self.language)
        self.people = frozenset(_people_meant(situation, message, self.said))
        self.terms = self.said.union(*(terms(name, self.language) for name in self.people))
        self.vector: Floats | None = None if cached is None else cached.encode([message])[0]

    def scores(self, texts: Sequence[str], overlaps: Sequence[float]) -> NDArray[np.float64]:
        """cos + 0.5 words of each text; words alone, at full weight, without an encoder."""
        shared, likeness = np.asarray(overlaps, np.float64), self.likeness(texts)
        return shared if likeness is None else likeness + WORDS * shared

    def likeness(self, texts: Sequence[str]) -> NDArray[np.float64] | None:
        """The cosines of texts with the message; None without an encoder."""
        if self.cached is None or self.vector is None:
            return None
        return np.asarray(self.cached.encode(texts) @ self.vector, np.float64)


def _own(
    situation: Situation,
    history: Sequence[Turn],
    query: _MemoryQuery,
    cached: CachedEncoder,
    past: EncodedMemory,
    rarity: TermRarity,
) -> Iterator[PastExchange]:
    """What would answer the message, then what was said to something like it."""
    if not past.exchanges or query.vector is None:
        return
    bag = content(heard_words(situation.persona, query.message), query.language)
    names = (word for name in sorted(query.people) for word in words(name, query.language))
    weighted_words = {**dict.fromkeys(names, ALIAS), **bag}
    ranked = past.shortlist_for(weighted_words)
    heard = ranked.heard_likeness(query.vector)
    fits = build_fits(cached, [(situation, history)])[0].scores(ranked.said)
    shared = past.shared_words(weighted_words)[ranked.indices]
    said = ranked.said @ query.vector
    scores = fits + HEARD * heard + WORDS * shared
    scores += RECENT * ranked.indices.astype(np.float32) / max(len(past.exchanges), LONG_PAST)
    exchanges = [past.exchanges[index] for index in ranked.indices.tolist()]
    seen = set[str]()
    order = np.argsort(-scores, kind="stable").tolist()
    outdated = _outdated(exchanges, order[:COMPARED], query)

    def is_relevant(index: int) -> bool:
        rare, _, is_named = rarity.shared(query.said, _exchange_terms(exchanges[index], query.language))
        values = (float(heard[index]), float(said[index]), float(fits[index]), rare, is_named, 0.0)
        return _is_relevant(RelevanceFeatures(*values))

    yield from _distinct(exchanges, (index for index in order if index not in outdated), query, seen, is_relevant)
    alike = (index for index in np.argsort(-heard, kind="stable").tolist() if heard[index] >= LEAST_HEARD)
    # 'What?' is similar to any question, so its answer says nothing.
    meant = (
        index
        for index in alike
        if index not in outdated and terms(getattr(exchanges[index].heard, "text", ""), query.language)
    )
    yield from _distinct(exchanges, (index for index in meant if index not in outdated), query, seen, is_relevant)


def _outdated(exchanges: Sequence[Exchange], indices: Sequence[int], query: _MemoryQuery) -> frozenset[int]:
    """Of exchanges that say all the words of the message, all but the newest, which holds."""
    if len(query.said) < 2:
        return frozenset()
    same = sorted(index for index in indices if query.said <= terms(exchanges[index].said.text, query.language))
    return frozenset(same[:-1])


def _own_by_words(memory: Memory, query: _MemoryQuery) -> Iterator[PastExchange]:
    """The same for a language without an encoder."""
    scores = np.array([word_overlap(query.terms, _exchange_terms(item, query.language)) for item in memory.exchanges])
    order = [index for index in np.argsort(-scores, kind="stable").tolist() if scores[index] > 0]

    def is_relevant(index: int) -> bool:
        _, coverage, _ = memory.rarity.shared(query.said, _exchange_terms(memory.exchanges[index], query.language))
        return _is_relevant_by_words(coverage)

    yield from _distinct(memory.exchanges, order, query, set(), is_relevant)


def _people_meant(situation: Situation, message: str, said: frozenset[str]) -> Iterator[str]:
    """Those a message speaks of, by any of their names; the one faced where it says 'me'."""
    language, faced = situation.persona.language, situation.faced
    own = terms(situation.persona.name, language)
    for person in situation.acquaintances:
        if any(names <= said for name in person.names if (names := terms(name, language) - own)):
            yield person.name
    known = {person.name for person in situation.acquaintances}
    for name in dict.fromkeys(tie.to for tie in situation.persona.relations):
        if name not in known and terms(name, language) & said:
            yield name
    if faced is not None and _speaks_of_speaker(message, language):
        yield faced.name


def _speaks_of_speaker(message: str, language: str) -> bool:
    """'Do you trust me?' Japanese and Chinese are searched as they are, without being split into words."""
    if language == READ:
        return not {*speaker_words(language), "us"}.isdisjoint(words(message, language))
    return any(word in message for word in speaker_words(language))


def _facts(situation: Situation, query: _MemoryQuery) -> list[str]:
    """Sentences of the profile and ties that bear on the message, best first; none that is kept from the one faced."""
    persona, language = situation.persona, query.language
    sentences = {text: 0.0 for text in persona.profile if text.strip() and text not in situation.secrets}
    profile = len(sentences)
    for tie in persona.relations:
        bonus = (ABOUT if tie.to in query.people else NOT_ABOUT) + (FAMILIARITY if tie.kind == "familiarity" else 0)
        sentences.setdefault(tie_sentence(tie, language), bonus)
    texts = list(sentences)
    if not texts or not query.message.strip():
        return []
    scores = query.scores(texts, [word_overlap(query.terms, terms(text, language)) for text in texts])
    scores = scores + np.array(list(sentences.values()))
    if ABOUT_ONESELF.search(query.message):
        scores[: min(3, profile)] += 0.5
    return [texts[index] for index in np.argsort(-scores, kind="stable").tolist() if scores[index] > LEAST_FACT][:FACTS]


def _told(situation: Situation, query: _MemoryQuery) -> list[Told]:
    """What the one faced told in earlier chats, what bears on the message first; of equals the newest."""
    told = () if situation.faced is None else situation.faced.told[::-1]
    if not told:
        return []
    overlaps = [word_overlap(query.terms, terms(item.text, query.language)) for item in told]
    scores = query.scores([item.text for item in told], overlaps)
    return [told[index] for index in np.argsort(-scores, kind="stable")[:TOLD].tolist()]


def _others(memory: Memory, query: _MemoryQuery, shown: set[str]) -> Iterator[PastLine]:
    """What others said in the character's hearing; those that share words first, so that few have to be encoded."""
    overlaps = np.array([word_overlap(query.terms, line_terms) for line_terms in memory.overheard_terms])
    shortlist = [index for index in np.argsort(-overlaps, kind="stable")[:SHORTLIST].tolist() if overlaps[index] > 0]
    if not shortlist:
        return
    texts = [plain_line(memory.overheard[index].text) for index in shortlist]
    likeness = query.likeness(texts)
    scores = overlaps[shortlist] if likeness is None else likeness + WORDS * overlaps[shortlist]
    count = 0
    for position in np.argsort(-scores, kind="stable").tolist():
        if scores[position] < LEAST_OTHER or count == OTHERS:
            return
        line = memory.overheard[shortlist[position]]
        text = relevant_part(texts[position], query.terms, OTHERS_WORDS, query.language)
        if text not in shown:
            shown.add(text)
            count += 1
            rare, coverage, is_named = memory.rarity.shared(query.said, memory.overheard_terms[shortlist[position]])
            if likeness is None:
                is_relevant = _is_relevant_by_words(coverage)
            else:
                is_relevant = _is_relevant(RelevanceFeatures(0.0, float(likeness[position]), 0.0, rare, is_named, 1.0))
            yield PastLine(line.speaker or "", text, line.moment, is_relevant=is_relevant)


def _distinct(
    exchanges: Sequence[Exchange],
    order: Iterable[int],
    query: _MemoryQuery,
    seen: set[str],
    is_relevant: Callable[[int], bool],
) -> Iterator[PastExchange]:
    """The first few exchanges that say something, each text once."""
    count = 0
    for index in order:
        if count == OWN:
            return
        exchange = exchanges[index]
        said = plain_line(exchange.said.text)
        if said in seen or len(terms(said, query.language)) < 2:
            continue
        seen.add(said)
        count += 1
        heard = exchange.heard
        heard_text = (
            "" if heard is None else relevant_part(plain_line(heard.text), query.terms, HEARD_WORDS, query.language)
        )
        speaker = heard.speaker if heard is not None and heard_text and heard.speaker else ""
        moment = None if exchange.approved is not None else exchange.said.moment
        text = relevant_part(said, query.terms, OWN_WORDS, query.language)
        yield PastExchange(speaker, heard_text, text, moment, is_relevant=is_relevant(index))


def _exchange_terms(exchange: Exchange, language: str) -> frozenset[str]:
    heard = "" if exchange.heard is None else exchange.heard.text
    return terms(f"{heard} {exchange.said.text}", language)


def _read_memory(situation: Situation, past: EncodedMemory | None) -> Memory:
    persona = situation.persona
    read = persona.past.exchanges() if past is None else past.exchanges
    exchanges = tuple(exchange for exchange in read if exchange.said.text.strip())
    scenes = list(persona.past.scenes(SCENES))
    overheard = [line for scene in scenes for line in scene.lines if line.speaker and line.speaker != persona.name][
        -OVERHEARD:
    ]
    overheard_terms = tuple(terms(plain_line(line.text), persona.language) for line in overheard)
    people = (each.names for each in situation.acquaintances)
    names = frozenset[str]().union(*(terms(name, persona.language) for each in people for name in each))
    return Memory(
        exchanges,
        tuple(overheard),
        overheard_terms,
        spread_lines([plain_line(exchange.said.text) for exchange in exchanges], VOICE, persona.language),
        TermRarity(
            (*(_exchange_terms(each, persona.language) for each in exchanges), *overheard_terms),
            names | terms(persona.name, persona.language),
        ),
        {scene.moment.numbers: frozenset(scene.present) for scene in scenes},
    )


# Does something of a character's past bear on a message? What does not only misleads a model that is shown it.
#
#     relevance(m, e) = sigmoid(w . features(m, e) + b)           shown from THRESHOLD on
#
# Weights were fitted by logistic regression to 707 pairs of a message and a line of the past, marked by hand as
# bearing on it or not, of 21 roles in plays, sitcoms, novels and the story that ships (benchmarks/recall_marks.jsonl;
# the fit is made again by benchmarks/recall.py). Half of the roles were held back: figures in docs/notes/writer.md.
#
# Shared words count by how rare they are in the character's own past: everybody says 'okay', 'want' and 'think'. Names
# are a feature of their own, as somebody's name is in many lines that are not about them.


THRESHOLD = 0.45


@dataclass(frozen=True, slots=True)
class RelevanceFeatures:
    """What is known of a message and an exchange, or a line of somebody else (which has nothing heard before it)."""

    heard_similarity: float
    said_similarity: float
    fit: float
    shared_rarity: float
    """The sum of the rarities of the words that both have, names left out."""
    is_named: float
    """Somebody whom the message names is named there too."""
    is_others: float


WEIGHTS = RelevanceFeatures(1.62, 0.05, 2.36, 0.30, 0.96, 0.73)
BIAS = -3.44
LEAST_COVERAGE = 0.5  # where there is no encoder; not fitted
SMALLEST_PAST = 200  # texts: what is in one of three is not yet a common word


class TermRarity:
    """How rare terms are among the N texts of a past: ln((max(N, 200) + 1) / (n(t) + 1/2))."""

    def __init__(self, texts: Iterable[frozenset[str]], names: frozenset[str]) -> None:
        counts: Counter[str] = Counter()
        self._texts = 0
        for text_terms in texts:
            counts.update(text_terms)
            self._texts += 1
        self._texts = max(self._texts, SMALLEST_PAST)
        self._counts: Mapping[str, int] = counts
        self._names = names

    def of(self, terms: Iterable[str]) -> float:
        return math.fsum(math.log((self._texts + 1) / (self._counts.get(term, 0) + 0.5)) for term in terms)

    def shared(self, message: frozenset[str], text: frozenset[str]) -> tuple[float, float, float]:
        """Rarity of what both have without names, the part of the message's rarity, and 1 if they share a name."""
        both = message & text
        return self.of(both - self._names), self.of(both) / (self.of(message) or 1.0), float(bool(both & self._names))


def relevance(features: RelevanceFeatures) -> float:
    return probability(astuple(WEIGHTS), astuple(features), BIAS)


def _is_relevant(features: RelevanceFeatures) -> bool:
    return relevance(features) >= THRESHOLD


def _is_relevant_by_words(coverage: float) -> bool:
    """Of a language without an encoder: has the text at least half of what is rare in the message?"""
    return coverage >= LEAST_COVERAGE
