"""How well a reply fits what was said, who says it and whom they face.

    fit(c) = (w_query cos(Q, c) + w_history cos(H, c) + w_last cos(L, c) + w_persona best(P, c)) / (sum of the weights)
    best(P, c) = 1 + (1 / b) ln sum over p in P of exp(b (cos(p, c) - 1))        0 without a profile

Q is the whole context as one vector: the own profile with the ties to the one faced, what is known of them, and the
turns; H the turns alone; L the last thing heard; P the profile sentences one by one. Weights and b come with the
model. A profile that is too long is shortened to the sentences that fit the turns best, as is what was told (below).

The ranking score has two more terms; a model without weights for them does without.

    score(c)   = fit(c) + shared(c) - hubness(c)
    shared(c)  = (w_own (W(own, c) + W(told, c)) + w_said W(said, c) + w_heard W(heard, c)) / (sum of the fit's weights)
    W(t, c)    = (sum of r(x)^2 over the words x of both) / (|t| |c|),   |t|^2 = sum of r(x)^2 over the words of t
    hubness(c) = w (mean of the ten largest of (w_query q_k + w_history h_k) . c over k) / (sum of the fit's weights)

Shared words are what vectors of whole texts blur. `own` is the profile, `said` what the same person has said so far,
`heard` what was said to them last, `told` what the one faced told of themselves in earlier chats; a word counts once in
each. r(x) = ln((1 + N) / (1 + n(x))) + 1 is how rare the word is in the training texts. (The weight of `told` is that
of `own`. On training dialogues of PersonaChat, with the partner's profile as what was told, weights up to it rank alike
within chance, and larger ones worse.)

Hubs are points of a space of many dimensions that are near to everything: replies that suit any context a little. q_k
and h_k are the query and history vectors of a sample of training contexts, which comes with the model. Subtracting how
near a reply is to contexts it has nothing to do with leaves how near it is to this one.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import last_heard, ties_to_faced
from understudy.language.encoding import Context, Encoder, Floats
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.story.dialogue import Situation, Turn
from understudy.story.wording import tie_sentence
from understudy.text import fold

MAX_PROFILE = 8  # sentences of the own profile that are encoded together
MAX_OTHER_PROFILE = 6
MAX_TURNS = 24

NEAREST = 10
MAX_CACHED = 50_000  # texts


class CachedEncoder:
    """An encoder with an LRU cache of texts in memory, so that a candidate is encoded once."""

    def __init__(self, encoder: Encoder, capacity: int = 20_000) -> None:
        self.encoder = encoder
        self._capacity = capacity
        self._cache: OrderedDict[tuple[str, str], NDArray[np.float16]] = OrderedDict()
        self._lock = Lock()

    def encode(self, texts: Sequence[str], role: str = "reply") -> Floats:
        keys = dict.fromkeys((role, text) for text in texts)
        with self._lock:
            vectors = {key: self._cache[key] for key in keys if key in self._cache}
        missing = [key for key in keys if key not in vectors]
        if missing:  # without the lock, so that other threads need not wait; the same text gives the same vector
            encoded = self.encoder.encode([text for _, text in missing], role, keep=False).astype(np.float16)
            vectors.update(zip(missing, encoded))
        with self._lock:
            for key in keys:
                self._cache[key] = vectors[key]
                self._cache.move_to_end(key)
            while len(self._cache) > self._capacity:
                self._cache.popitem(last=False)
        if not texts:
            return np.zeros((0, self.encoder.width), np.float32)
        return np.stack([vectors[role, text] for text in texts]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Fit:
    """An encoded context: its rows (query, history, last) with their weights, and the rows of the profile."""

    rows: Floats
    weights: Floats
    profile: Floats
    persona_weight: float
    sharpness: float
    told: tuple[str, ...] = ()
    """Of what the one faced told in earlier chats, the sentences that fit the turns best."""

    def scores(self, replies: Floats) -> Floats:
        """The fit of many replies, fast: in one matrix product."""
        similarity = replies @ np.vstack([self.weights @ self.rows, self.profile]).T
        total = similarity[:, 0]
        if len(self.profile) and self.persona_weight:
            total = total + self.persona_weight * self._best(similarity[:, 1:])
        return np.asarray(total / self._sum(), np.float32)

    def independent_scores(self, replies: Floats) -> list[float]:
        """The fit to six places, computed one by one, so that no digit depends on the other replies."""
        scores = []
        rows, profile = self.rows.astype(np.float64), self.profile.astype(np.float64)
        for reply in replies.astype(np.float64):
            total = float(self.weights.astype(np.float64) @ (rows @ reply))
            if len(profile) and self.persona_weight:
                total += self.persona_weight * float(self._best((profile @ reply)[None])[0])
            scores.append(round(total / self._sum(), 6))
        return scores

    def _best(self, similarity: NDArray[np.floating]) -> NDArray[np.floating]:
        total = np.exp(self.sharpness * (similarity - 1)).sum(axis=1)
        return np.asarray(1 + np.log(total) / self.sharpness)

    def _sum(self) -> float:
        return float(self.weights.sum()) + self.persona_weight or 1.0


def build_context(situation: Situation, history: Sequence[Turn], ties_first: bool = False) -> Context:
    """The context that the encoder reads; ties to the one faced belong to the own profile."""
    persona, faced = situation.persona, situation.faced
    own = fold(persona.name)
    ties = tuple(tie_sentence(tie, persona.language) for tie in ties_to_faced(situation))
    described = (*ties, *persona.profile) if ties_first else (*persona.profile, *ties)
    return Context(
        tuple(text for text in dict.fromkeys(described) if text.strip()),
        () if faced is None else tuple(text for text in faced.profile if text.strip())[:MAX_OTHER_PROFILE],
        tuple((fold(turn.speaker) == own, turn.text) for turn in history[-MAX_TURNS:] if turn.text.strip()),
    )


def build_fits(
    cached: CachedEncoder, dialogues: Sequence[tuple[Situation, Sequence[Turn]]], keep: bool = False
) -> list[Fit]:
    """Encode many contexts in one batch."""
    encoder, weights = cached.encoder, cached.encoder.weights
    full = [build_context(situation, history) for situation, history in dialogues]
    turns = [Context(turns=context.turns) for context in full]
    told = [_told(situation) for situation, _ in dialogues]
    long = any(len(context.own) > MAX_PROFILE for context in full) or any(len(texts) > MAX_PROFILE for texts in told)
    parts: dict[str, Floats] = {}
    if weights.get("history") or long:
        parts["history"] = encoder.encode_contexts(turns, keep)
    if long:
        full = [shorten_profile(context, turns, cached) for context, turns in zip(full, parts["history"])]
        told = [shorten_profile(Context(texts), turns, cached).own for texts, turns in zip(told, parts["history"])]
    if weights.get("query"):
        parts["query"] = encoder.encode_contexts(full, keep)
    if weights.get("last"):
        parts["last"] = cached.encode(
            [last_heard(situation.persona, history) for situation, history in dialogues], "heard"
        )
    used = [name for name in ("query", "history", "last") if weights.get(name)]
    weight = np.array([weights[name] for name in used], np.float32)
    persona_weight = float(weights.get("persona", 0.0))
    return [
        Fit(
            np.stack([parts[name][row] for name in used]),
            weight,
            cached.encode(context.own if persona_weight else (), "own"),
            persona_weight,
            encoder.sharpness,
            told[row],
        )
        for row, context in enumerate(full)
    ]


def _told(situation: Situation) -> tuple[str, ...]:
    faced = situation.faced
    return () if faced is None else tuple(told.text for told in faced.told)


def shorten_profile(context: Context, turns: Floats, cached: CachedEncoder) -> Context:
    """The sentences of the profile that would make the best replies to the turns (one vector), in their order."""
    if len(context.own) <= MAX_PROFILE:
        return context
    similarity = cached.encode(context.own) @ turns
    best = sorted(np.argsort(-similarity, kind="stable")[:MAX_PROFILE].tolist())
    return Context(tuple(context.own[index] for index in best), context.theirs, context.turns)


class Bag(NamedTuple):
    words: frozenset[int]
    norm: float


class SharedWords:
    def __init__(self, encoder: SentenceEncoder) -> None:
        self._weights = encoder.word_weights
        self._rarity: list[float] = encoder.rarity.tolist() if self._weights else []
        self._fit_weight = sum(encoder.weights.values()) or 1.0
        self._tokenize = encoder.words
        self._text_bag = lru_cache(MAX_CACHED)(lambda text: self._bag(frozenset(self._tokenize(text))))

    def scores(self, context: Context, candidates: Sequence[str], told: Sequence[str] = ()) -> list[float]:
        """shared(c) of each candidate."""
        if not self._weights:
            return [0.0] * len(candidates)
        said = [text for mine, text in context.turns if mine]
        heard = [text for mine, text in context.turns if not mine][-1:]
        parts = [
            (self._weights.get(name, 0.0), self._joined_bag(texts))
            for name, texts in (("own", context.own), ("own", told), ("said", said), ("heard", heard))
        ]
        return [
            sum(weight * self._similarity(part, self._text_bag(text)) for weight, part in parts) / self._fit_weight
            for text in candidates
        ]

    def _similarity(self, first: Bag, second: Bag) -> float:
        shared = first.words & second.words
        if not shared:
            return 0.0
        return math.fsum(self._rarity[word] ** 2 for word in shared) / (first.norm * second.norm)

    def _joined_bag(self, texts: Sequence[str]) -> Bag:
        return self._bag(frozenset[int]().union(*(self._text_bag(text).words for text in texts)))

    def _bag(self, words: frozenset[int]) -> Bag:
        return Bag(words, math.sqrt(math.fsum(self._rarity[word] ** 2 for word in words)))


class Hubness:
    def __init__(self, encoder: SentenceEncoder) -> None:
        self._weight = encoder.hubness_weight / (sum(encoder.weights.values()) or 1.0)
        self._contexts = encoder.contexts.astype(np.float64) if self._weight else None
        self._cache: dict[str, float] = {}
        self._lock = Lock()  # guards the dictionary; nothing is computed under it

    def scores(self, texts: Sequence[str], vectors: Floats) -> list[float]:
        """hubness(c) of each reply, computed one by one, so that no digit depends on the other replies."""
        if self._contexts is None:
            return [0.0] * len(texts)
        with self._lock:
            scores = {text: self._cache[text] for text in texts if text in self._cache}
        missing = {text: vector for text, vector in zip(texts, vectors) if text not in scores}
        computed = {text: self._score(vector.astype(np.float64)) for text, vector in missing.items()}
        with self._lock:
            if len(self._cache) > MAX_CACHED:
                self._cache.clear()
            self._cache.update(computed)
        scores.update(computed)
        return [scores[text] for text in texts]

    def _score(self, vector: NDArray[np.float64]) -> float:
        assert self._contexts is not None
        similarity = self._contexts @ vector
        nearest = min(NEAREST, len(similarity))
        return self._weight * float(np.partition(similarity, len(similarity) - nearest)[-nearest:].mean())
