"""How near a reply is to anything at all: replies that suit every context a little are marked down.

    common(c) = w (mean of the ten largest of (w_query q_k + w_history h_k) . c over k) / (sum of the fit's weights)

q_k and h_k are the query and history vectors of some contexts of the training dialogues, which come with the model
together with w. In spaces of many dimensions some points are near to everything (hubs); taking off how near a reply is
to contexts it has nothing to do with leaves how near it is to this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from understudy.encoding import Floats, SentenceEncoder

__all__ = ["Commonness"]

NEAREST = 10
KEPT = 50_000  # replies that are remembered


class Commonness:
    def __init__(self, encoder: SentenceEncoder) -> None:
        self._weight = encoder.commonness / (sum(encoder.weights.values()) or 1.0)
        self._contexts = encoder.contexts.astype(np.float64) if self._weight else None
        self._known: dict[str, float] = {}
        self._lock = Lock()  # for the dictionary alone: nothing is worked out under it

    def of(self, texts: Sequence[str], vectors: Floats) -> list[float]:
        """What is to be taken off the fit of each reply, each by itself: what stands beside it changes no digit."""
        if self._contexts is None:
            return [0.0] * len(texts)
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        new = {text: vector for text, vector in zip(texts, vectors) if text not in found}
        made = {text: self._near(vector.astype(np.float64)) for text, vector in new.items()}
        with self._lock:
            if len(self._known) > KEPT:
                self._known.clear()
            self._known.update(made)
        found.update(made)
        return [found[text] for text in texts]

    def _near(self, vector: NDArray[np.float64]) -> float:
        assert self._contexts is not None
        likeness = self._contexts @ vector
        nearest = min(NEAREST, len(likeness))
        return self._weight * float(np.partition(likeness, len(likeness) - nearest)[-nearest:].mean())
