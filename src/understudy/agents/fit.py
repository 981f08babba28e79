"""How well a reply fits what was said, who says it and whom they face.

    fit(c) = (w_query cos(Q, c) + w_history cos(H, c) + w_last cos(L, c) + w_persona best(P, c)) / (sum of the weights)
    best(P, c) = 1 + (1 / b) ln sum over p in P of exp(b (cos(p, c) - 1))        0 without a profile

Q is the whole context as one vector: the own profile with the ties to the one faced, what is known of them, and the
turns; H the turns alone; L the last thing heard; P the profile sentences one by one. Weights and b come with the
model. A profile that is too long is shortened to the sentences that fit the turns best.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from understudy.agents.dialogue_context import last_heard
from understudy.agents.profile_replies import ties_to_faced
from understudy.dialogue import Situation, Turn
from understudy.encoding import Context, Encoder, Floats
from understudy.text import fold
from understudy.wording import tie_sentence

__all__ = ["MAX_PROFILE", "CachedEncoder", "Fit", "build_context", "build_fits", "shorten_profile"]

MAX_PROFILE = 8  # sentences of the own profile that are encoded together
MAX_OTHER_PROFILE = 6
MAX_TURNS = 24


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


def build_context(situation: Situation, history: Sequence[Turn]) -> Context:
    """The context that the encoder reads; ties to the one faced belong to the own profile."""
    persona, faced = situation.persona, situation.faced
    own = fold(persona.name)
    ties = (tie_sentence(tie, persona.language) for tie in ties_to_faced(situation))
    return Context(
        tuple(text for text in dict.fromkeys((*persona.profile, *ties)) if text.strip()),
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
    long = any(len(context.own) > MAX_PROFILE for context in full)
    parts: dict[str, Floats] = {}
    if weights.get("history") or long:
        parts["history"] = encoder.encode_contexts(turns, keep)
    if long:
        full = [shorten_profile(context, turns, cached) for context, turns in zip(full, parts["history"])]
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
        )
        for row, context in enumerate(full)
    ]


def shorten_profile(context: Context, turns: Floats, cached: CachedEncoder) -> Context:
    """The sentences of the profile that would make the best replies to the turns (one vector), in their order."""
    if len(context.own) <= MAX_PROFILE:
        return context
    similarity = cached.encode(context.own) @ turns
    best = sorted(np.argsort(-similarity, kind="stable")[:MAX_PROFILE].tolist())
    return Context(tuple(context.own[index] for index in best), context.theirs, context.turns)
