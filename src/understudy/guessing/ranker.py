"""`ranker`: whom do these lines suit best? Any ranker of replies, asked about the same lines as each candidate in turn.

    s(m, c) = mean over m's lines l of  score(l | c) - mean over candidates d of score(l | d)
    P(m is c) ~ exp(s(m, c) / spread)

score is `Ranker.score` in the situation of c: its profile, and beside it those of its own past lines that are most like
what m says. `spread` is the standard deviation of all s of the scene, so that rankers of any scale can be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from understudy.dialogue import Ranker, Situation
from understudy.guessing.learning import Guesses, named
from understudy.guessing.pieces import masks_of
from understudy.lexical import TfIdf
from understudy.persona import Past, Persona
from understudy.story import Scene

__all__ = ["RankerGuesser"]

ASKED = 8  # lines of a mask, the longest
RECALLED = 5  # lines of a candidate's past


class RankerGuesser:
    """Nothing is learned: it knows what the personas know."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker
        self._pasts: dict[str, tuple[Past, list[str], TfIdf]] = {}

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks = masks_of(masked)
        names = [persona.name for persona in personas]
        suits = np.array([[self._suits(masked, mask, persona) for persona in personas] for mask in masks])
        if not suits.size:
            return {}
        suits -= suits.mean(axis=1, keepdims=True)
        raised = np.exp(suits / (suits.std() or 1.0))
        return named(masks, names, raised / raised.sum(axis=1, keepdims=True))

    def _suits(self, scene: Scene, mask: str, persona: Persona) -> float:
        said = sorted((line.text for line in scene.lines if line.speaker == mask), key=len, reverse=True)[:ASKED]
        profile = (*persona.profile, *self._recalled(persona, said))
        situation = Situation(replace(persona, profile=profile), scene.setting)
        return float(np.mean(self._ranker.score(situation, (), said)))

    def _recalled(self, persona: Persona, said: Sequence[str]) -> list[str]:
        """What a candidate has said that is most like these lines."""
        known = self._pasts.get(persona.name)
        if known is None or known[0] is not persona.past:
            lines = [line.text for line in persona.past.lines()]
            known = persona.past, lines, TfIdf(lines, persona.language)
            self._pasts[persona.name] = known
        _, lines, index = known
        scores = index.scores(" ".join(said))
        best = np.argsort(-scores, kind="stable")[:RECALLED]
        return [lines[place] for place in best if scores[place] > 0]
