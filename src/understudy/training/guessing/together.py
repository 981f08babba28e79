"""Several guessers together: how far is each to be believed?

    P(a) ~ exp( sum over masks m and guessers g of  w_g ln P_g(m is a(m)) )          a: one candidate for each mask

The weights are those under which the right names of scenes that no guesser has learned from are likeliest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.dialogue import Guesser
from understudy.errors import InputError
from understudy.guessing import Guesses, Masked, Remembering
from understudy.guessing.assignment import LEAST, SceneClues, can_list, fit_weights, marginals, named
from understudy.lexical.rows import Reals
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["Together", "weighed_together"]

HOLD = 1.0


class Together:
    """The guessers and what each weighs."""

    def __init__(self, guessers: Sequence[Guesser], weights: Sequence[float]) -> None:
        if not guessers or len(guessers) != len(weights):
            raise InputError(f"there are {len(guessers)} guessers and {len(weights)} weights: each needs its own")
        self._guessers, self.weights = tuple(guessers), np.array(weights, dtype=np.float64)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        found = [guesser.guess(masked, personas) for guesser in self._guessers]
        if not found[0]:
            return found[0]
        candidates = [persona.name for persona in personas]
        return named(list(found[0]), candidates, marginals(_table(found, candidates) @ self.weights))

    def remember(self, scene: Scene) -> None:
        for guesser in self._guessers:
            if isinstance(guesser, Remembering):
                guesser.remember(scene)


def weighed_together(
    guessers: Sequence[Guesser], asked: Sequence[Masked], told: Sequence[Sequence[Guesses]]
) -> Together:
    """`told[g][i]` is what guesser g said of the scene `asked[i]`, which it had not learned from."""
    scenes = []
    for masked, found in zip(asked, zip(*told)):
        candidates = list(masked.candidates)
        if len(candidates) > 1 and can_list(len(candidates)):
            answers = np.array([candidates.index(masked.answers[mask]) for mask in found[0]], dtype=np.int64)
            scenes.append(SceneClues(_table(found, candidates), answers))
    if not scenes:
        raise InputError("there is no scene to fit_weights guessers by: hold back some with two masks or more")
    begin = np.full(len(guessers), 1.0 / len(guessers))
    return Together(guessers, fit_weights(scenes, begin, HOLD).clip(min=0).tolist())


def _table(found: Sequence[Guesses], candidates: Sequence[str]) -> Reals:
    """`[mask, candidate, guesser]`: the logarithm of each probability."""
    masks = list(found[0])
    table: Reals = np.log([[[max(one[mask][name], LEAST) for one in found] for name in candidates] for mask in masks])
    return table
