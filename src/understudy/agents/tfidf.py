"""Words in common: ranks replies by those they share with message and persona; in a talk, says what was said before
after hearing words like these. The retrieval baseline of PersonaChat.

    reply:   score(e) = (cos(m, heard(e)) + 0.2 cos(p, heard(e))) * (1.1 if heard(e) was said by the one faced)
             over exchanges e that share a word of meaning with the message (any word, if it has none)
    score:   score(c) = cos(m + 1.0 p, c)

m is the message, p the persona, both tf-idf vectors of length 1. In m a word without meaning of its own counts
0.2. In p stand the words of profile and ties, a word of a tie to the one faced three times. An exchange with the
one faced is worth a tenth more because how one talks depends on whom one talks to: enough to choose between
similar exchanges, too little to bring in one that has little to do with the message. In `score` the persona counts
as much as the message: of the weights tried on PersonaChat's training dialogues, more gains next to nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import (
    content,
    heard_words,
    last_heard,
    light_words,
    own_name_words,
    ties_to_faced,
)
from understudy.agents.plain_replies import reply_with_line
from understudy.agents.pools import Candidates, Pool, Pools, own_past, taken_from
from understudy.language.lexical import Floats, TfIdf
from understudy.story.dialogue import Evidence, Reply, Situation, Turn
from understudy.story.wording import tie_sentence
from understudy.text import words

STOP_WEIGHT = 0.2
PERSONA_IN_REPLY = 0.2
PERSONA_IN_SCORE = 1.0
TIE_TO_FACED = 3
FACED_BONUS = 1.1


class TfIdfAgent:
    """Answers with what was said before; ranks replies by their words.

    `candidates` says which exchanges may be drawn on: the character's own past by default.
    `background` gives the weights of words for ranking; without it those of the candidates are taken, and where
    there are none every word weighs the same. So a score never depends on what it is ranked against.
    """

    def __init__(self, candidates: Candidates = own_past, background: TfIdf | None = None) -> None:
        self._pools = Pools(candidates)
        self._background = background

    def reply(self, situation: Situation, history: Sequence[Turn]) -> Reply:
        persona = situation.persona
        message = heard_words(persona, last_heard(persona, history))
        pool = self._pools.of(situation)
        ranked, scores = _ranked(pool, situation, message)
        return reply_with_line(
            pool, ranked.tolist(), scores, situation, history, lambda index: _evidence(pool, index, situation, message)
        )

    def score(self, situation: Situation, history: Sequence[Turn], candidates: Sequence[str]) -> list[float]:
        persona = situation.persona
        index = self._pools.of(situation).index if self._background is None else self._background
        weigh = index.idf  # of an index of nothing it is 1 for every word
        message = heard_words(persona, last_heard(persona, history))
        query = _unit(_weighted(message, persona.language), weigh)
        for word, weight in _unit(_persona_words(situation), weigh).items():
            query[word] = query.get(word, 0.0) + PERSONA_IN_SCORE * weight
        norm = math.hypot(*query.values()) or 1.0
        bags = (_unit(_weighted(words(text, persona.language), persona.language), weigh) for text in candidates)
        return [sum(weight * query.get(word, 0.0) for word, weight in bag.items()) / norm for bag in bags]


def _ranked(pool: Pool, situation: Situation, message: Sequence[str]) -> tuple[NDArray[np.intp], Floats]:
    """Which exchanges have something in common with the message, best first, equals in story order; all scores."""
    language = situation.persona.language
    bag = _weighted(message, language)
    common = np.flatnonzero(pool.index.scores(content(message, language) or bag))
    scores = pool.index.scores(bag) + PERSONA_IN_REPLY * pool.index.scores(_persona_words(situation))
    if situation.faced is not None:
        scores[pool.heard_from(situation.faced.name)] *= FACED_BONUS
    return common[np.argsort(-scores[common], kind="stable")], scores


def _evidence(pool: Pool, index: int, situation: Situation, message: Sequence[str]) -> Iterator[Evidence]:
    """The exchange, its scene, and what of profile and ties pointed to it; ties to the one faced in any case."""
    persona, exchange = situation.persona, pool.exchanges[index]

    def shared(bag: Sequence[str]) -> tuple[str, ...]:
        telling = content(bag, persona.language) or Counter(bag)
        return tuple(word for word, _ in pool.index.shared_terms(telling, index))

    yield taken_from(exchange, shared(message))
    if exchange.setting:
        yield Evidence("memory", exchange.setting, exchange.said.moment)
    for sentence in persona.profile:
        if joined := shared(words(sentence, persona.language)):
            yield Evidence("profile", sentence, words=joined)
    facing = ties_to_faced(situation)
    for tie in dict.fromkeys((*facing, *persona.relations)):
        joined = shared(words(tie_sentence(tie, persona.language), persona.language))
        if joined or tie in facing:
            yield Evidence("relation", tie_sentence(tie, persona.language), words=joined)


def _persona_words(situation: Situation) -> dict[str, float]:
    persona, facing = situation.persona, ties_to_faced(situation)
    bag: Counter[str] = Counter()
    for sentence in persona.profile:
        bag.update(content(words(sentence, persona.language), persona.language))
    for tie in dict.fromkeys((*facing, *persona.relations)):
        counts = content(words(tie_sentence(tie, persona.language), persona.language), persona.language)
        for word, count in counts.items():
            bag[word] += count * (TIE_TO_FACED if tie in facing else 1)
    names = own_name_words(persona)
    return {word: float(count) for word, count in bag.items() if word not in names}


def _weighted(bag: Sequence[str], language: str) -> dict[str, float]:
    light = light_words(language)
    return {word: count * (STOP_WEIGHT if word in light else 1.0) for word, count in Counter(bag).items()}


def _unit(bag: Mapping[str, float], weigh: Callable[[str], float]) -> dict[str, float]:
    weights = {word: count * weigh(word) for word, count in bag.items()}
    norm = math.hypot(*weights.values())
    return {word: weight / norm for word, weight in weights.items()}
