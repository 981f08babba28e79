"""`vanilla`: one speaker's lines, and nothing else of the scene. Logistic regression over tf-idf weighted words.

    P(m is c) = exp(w_c . x(m) + b_c) / sum over candidates d of exp(w_d . x(m) + b_d)

x(m) are the words and pairs of words that m says in the scene (see `understudy.guessing.terms`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.guessing.bags import bags_of
from understudy.guessing.learning import Guesses, Lessons, named
from understudy.guessing.pieces import masks_of
from understudy.guessing.reading import read_scene
from understudy.guessing.terms import Bag, Terms
from understudy.lexical.logistic import fit
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["Vanilla"]

SPACES = ("own",)
C = 8.0


class Vanilla:
    def __init__(self, lessons: Lessons) -> None:
        self._main, self._names, self._language = lessons.main, lessons.names, lessons.language
        bags: list[Bag] = []
        labels: list[int] = []
        for scene in lessons.scenes:
            speaking = {line.speaker for line in scene.lines}
            here = [who for who in lessons.main if who in speaking]
            for who, bag in self._bags(scene, here).items():
                bags.append(bag)
                labels.append(lessons.main.index(who))
        self._terms = Terms(bags, SPACES)
        self._model = fit(self._terms.rows(bags), np.array(labels), len(self._main), C)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks = masks_of(masked)
        candidates = [persona.name for persona in personas]
        bags = self._bags(masked, masks)
        found = self._model.probabilities(self._terms.rows([bags[mask] for mask in masks]))
        among = found[:, [self._main.index(name) for name in candidates]]
        return named(masks, candidates, among / among.sum(axis=1, keepdims=True))

    def _bags(self, scene: Scene, speakers: Sequence[str]) -> dict[str, Bag]:
        return bags_of(read_scene(scene, self._names, self._language), speakers, (), self._language)
