"""`vanilla`: one speaker's lines, and nothing else of the scene. Logistic regression over tf-idf weighted words.

    P(m is c) = exp(w_c . x(m) + b_c) / sum over candidates d of exp(w_d . x(m) + b_d)

x(m) are the words and pairs of words that m says in the scene (see `understudy.guessing.terms`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.guessing.learning import Guesses, Lessons, named
from understudy.guessing.opinions import Regressed
from understudy.guessing.parts import parts_of, told_parts
from understudy.guessing.pieces import masks_of
from understudy.guessing.terms import Terms
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["Vanilla"]

SPACES = ("own",)


class Vanilla:
    def __init__(self, lessons: Lessons) -> None:
        self._main, self._names, self._language = lessons.main, lessons.names, lessons.language
        told = [told_parts(scene, lessons.main, lessons.names, lessons.language) for scene in lessons.scenes]
        bags = [bag for one in told for bag in one.listed()]
        labels = np.array([self._main.index(who) for one in told for who in one.speakers])
        self._terms = Terms(bags, SPACES)
        self._model = Regressed(self._terms, self._terms.counted(bags), labels, len(self._main), SPACES)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks = masks_of(masked)
        candidates = [persona.name for persona in personas]
        parts = parts_of(masked, masks, self._names, self._language)
        scores = self._model.scores(self._terms.counted(parts.listed()))
        among = scores[:, [self._main.index(name) for name in candidates]]
        return named(masks, candidates, np.exp(among - np.logaddexp.reduce(among, axis=1, keepdims=True)))
