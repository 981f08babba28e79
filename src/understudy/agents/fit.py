"""How well a reply fits what was said, who says it and whom they face.

    fit(c) = (w_query cos(Q, c) + w_history cos(H, c) + w_last cos(L, c) + w_persona best(P, c)) / (sum of the weights)
    best(P, c) = 1 + (1 / b) ln sum over p in P of exp(b (cos(p, c) - 1))        0 without a profile

Q is the whole context as one vector: the own profile with the ties to the one faced, what is known of them, and the
turns; H the turns alone; L the last thing heard; P the profile sentences one by one. Weights and b come with the
model. A profile longer than a model reads is cut to the sentences that fit the turns best.
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

__all__ = ["PROFILE", "Fit", "Vectors", "context_of", "fits", "shortened"]

PROFILE = 8  # sentences of a profile that are read together
THEIRS = 6
TURNS = 24


class Vectors:
    """The encoder with a memory for the texts last used, so that a candidate is encoded once."""

    def __init__(self, encoder: Encoder, kept: int = 20_000) -> None:
        self.encoder = encoder
        self._kept = kept
        self._known: OrderedDict[tuple[str, str], NDArray[np.float16]] = OrderedDict()
        self._lock = Lock()

    def of(self, texts: Sequence[str], role: str = "reply") -> Floats:
        wanted = dict.fromkeys((role, text) for text in texts)
        with self._lock:
            have = {key: self._known[key] for key in wanted if key in self._known}
        new = [key for key in wanted if key not in have]
        if new:  # without the lock: others need not wait for the model, and who encodes the same text finds the same
            made = self.encoder.encode([text for _, text in new], role, keep=False).astype(np.float16)
            have.update(zip(new, made))
        with self._lock:
            for key in wanted:
                self._known[key] = have[key]
                self._known.move_to_end(key)
            while len(self._known) > self._kept:
                self._known.popitem(last=False)
        if not texts:
            return np.zeros((0, self.encoder.width), np.float32)
        return np.stack([have[role, text] for text in texts]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Fit:
    """A context ready to be compared with replies: rows that are added up, with their weights, and the profile's."""

    rows: Floats
    weights: Floats
    profile: Floats
    persona_weight: float
    sharpness: float

    def scores(self, replies: Floats) -> Floats:
        """The fit of many replies, fast."""
        likeness = replies @ np.vstack([self.weights @ self.rows, self.profile]).T  # the replies are gone through once
        total = likeness[:, 0]
        if len(self.profile) and self.persona_weight:
            total = total + self.persona_weight * self._best(likeness[:, 1:])
        return np.asarray(total / self._sum(), np.float32)

    def exactly(self, replies: Floats) -> list[float]:
        """The same to six places, each reply by itself: what stands beside it cannot change a digit."""
        found = []
        rows, profile = self.rows.astype(np.float64), self.profile.astype(np.float64)
        for reply in replies.astype(np.float64):
            total = float(self.weights.astype(np.float64) @ (rows @ reply))
            if len(profile) and self.persona_weight:
                total += self.persona_weight * float(self._best((profile @ reply)[None])[0])
            found.append(round(total / self._sum(), 6))
        return found

    def _best(self, likeness: NDArray[np.floating]) -> NDArray[np.floating]:
        total = np.exp(self.sharpness * (likeness - 1)).sum(axis=1)
        return np.asarray(1 + np.log(total) / self.sharpness)

    def _sum(self) -> float:
        return float(self.weights.sum()) + self.persona_weight or 1.0


def context_of(situation: Situation, history: Sequence[Turn]) -> Context:
    """What the encoder reads of a situation; ties to the one faced belong to the own profile."""
    persona, faced = situation.persona, situation.faced
    own = fold(persona.name)
    ties = (tie_sentence(tie, persona.language) for tie in ties_to_faced(situation))
    return Context(
        tuple(text for text in dict.fromkeys((*persona.profile, *ties)) if text.strip()),
        () if faced is None else tuple(text for text in faced.profile if text.strip())[:THEIRS],
        tuple((fold(turn.speaker) == own, turn.text) for turn in history[-TURNS:] if turn.text.strip()),
    )


def fits(vectors: Vectors, asked: Sequence[tuple[Situation, Sequence[Turn]]], keep: bool = False) -> list[Fit]:
    """Many contexts made ready in one go."""
    encoder, weights = vectors.encoder, vectors.encoder.weights
    full = [context_of(situation, history) for situation, history in asked]
    turns = [Context(turns=context.turns) for context in full]
    long = any(len(context.own) > PROFILE for context in full)
    parts: dict[str, Floats] = {}
    if weights.get("history") or long:
        parts["history"] = encoder.encode_contexts(turns, keep)
    if long:
        full = [shortened(context, turns, vectors) for context, turns in zip(full, parts["history"])]
    if weights.get("query"):
        parts["query"] = encoder.encode_contexts(full, keep)
    if weights.get("last"):
        parts["last"] = vectors.of([last_heard(situation.persona, history) for situation, history in asked], "heard")
    counted = [name for name in ("query", "history", "last") if weights.get(name)]
    weight = np.array([weights[name] for name in counted], np.float32)
    persona_weight = float(weights.get("persona", 0.0))
    return [
        Fit(
            np.stack([parts[name][place] for name in counted]),
            weight,
            vectors.of(context.own if persona_weight else (), "own"),
            persona_weight,
            encoder.sharpness,
        )
        for place, context in enumerate(full)
    ]


def shortened(context: Context, turns: Floats, vectors: Vectors) -> Context:
    """The sentences of the profile that would make the best replies to the turns (one vector), in their order."""
    if len(context.own) <= PROFILE:
        return context
    likeness = vectors.of(context.own) @ turns
    kept = sorted(np.argsort(-likeness, kind="stable")[:PROFILE].tolist())
    return Context(tuple(context.own[sentence] for sentence in kept), context.theirs, context.turns)
