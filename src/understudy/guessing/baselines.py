"""Guessers that look at one mask at a time: by chance, by its words, or by any ranker of replies.

`vanilla` is logistic regression over the tf-idf weighted words of one speaker's lines, and nothing else of the scene:

    P(m is c) = exp(w_c . x(m) + b_c) / sum over candidates d of exp(w_d . x(m) + b_d)

x(m) are the words and pairs of words that m says in the scene (see `understudy.guessing.features`).

`ranker` asks a ranker of replies about the same lines as each candidate in turn: whom do they suit best?

    s(m, c) = mean over m's lines l of  score(l | c) - mean over candidates d of score(l | d)
    P(m is c) ~ exp(s(m, c) / spread)

score is `Ranker.score` in the situation of c: its profile, and beside it those of its own past lines that are most like
what m says. `spread` is the standard deviation of all s of the scene, so that rankers of any scale can be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from understudy.guessing.assignment import named
from understudy.guessing.features import Terms, named_scene_features, scene_features
from understudy.guessing.scenes import Guesses, TrainingScenes, masks_of
from understudy.language.lexical import TfIdf
from understudy.language.lexical.logistic import fit
from understudy.language.lexical.rows import Ints, Reals, SparseRows
from understudy.story.dialogue import Ranker, Situation
from understudy.story.persona import Past, Persona
from understudy.story.types import Scene

__all__ = ["RandomGuesser", "RankerGuesser", "TermRegression", "Vanilla"]

VANILLA_SPACES = ("own",)
C = 8.0
TOLERANCE = 1e-3  # a smaller one changes only the last digits, at eight times the time
LINES_ASKED = 8  # of a mask, the longest
LINES_RECALLED = 5  # of a candidate's past


class RandomGuesser:
    """Anybody may be behind any mask, one each."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks, names = masks_of(masked), sorted(persona.name for persona in personas)
        drawn = np.random.default_rng([self._seed, *masked.moment.numbers]).permutation(len(names))
        even = np.full((len(masks), len(names)), 1.0 / max(len(names), 1))
        even[np.arange(len(masks)), drawn[: len(masks)]] += 1e-6  # all are as likely; one is named first
        return named(masks, names, even / even.sum(axis=1, keepdims=True))


class TermRegression:
    """Logistic regression over the terms of some spaces."""

    def __init__(self, terms: Terms, counted: SparseRows, labels: Ints, classes: int, spaces: Sequence[str]) -> None:
        self.view = terms.view(spaces)
        self.model = fit(self.view.weighted(counted), labels, classes, C, tolerance=TOLERANCE)

    def scores(self, counted: SparseRows) -> Reals:
        """A row for each mask, a column for each main character; larger is likelier."""
        return self.view.weighted(counted).product(self.model.weights) + self.model.intercepts


class Vanilla:
    def __init__(self, training: TrainingScenes) -> None:
        self._main, self._names, self._language = training.main, training.names, training.language
        scenes = [
            named_scene_features(scene, training.main, training.names, training.language) for scene in training.scenes
        ]
        bags = [bag for scene in scenes for bag in scene.listed()]
        labels = np.array([self._main.index(who) for scene in scenes for who in scene.speakers])
        self._terms = Terms(bags, VANILLA_SPACES)
        self._model = TermRegression(self._terms, self._terms.counted(bags), labels, len(self._main), VANILLA_SPACES)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks = masks_of(masked)
        candidates = [persona.name for persona in personas]
        features = scene_features(masked, masks, self._names, self._language)
        scores = self._model.scores(self._terms.counted(features.listed()))
        among = scores[:, [self._main.index(name) for name in candidates]]
        return named(masks, candidates, np.exp(among - np.logaddexp.reduce(among, axis=1, keepdims=True)))


class RankerGuesser:
    """Nothing is learned: it knows what the personas know."""

    def __init__(self, ranker: Ranker) -> None:
        self._ranker = ranker
        self._pasts: dict[str, tuple[Past, list[str], TfIdf]] = {}

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks = masks_of(masked)
        names = [persona.name for persona in personas]
        scores = np.array([[self._score(masked, mask, persona) for persona in personas] for mask in masks])
        if not scores.size:
            return {}
        scores -= scores.mean(axis=1, keepdims=True)
        raised = np.exp(scores / (scores.std() or 1.0))
        return named(masks, names, raised / raised.sum(axis=1, keepdims=True))

    def _score(self, scene: Scene, mask: str, persona: Persona) -> float:
        texts = sorted((line.text for line in scene.lines if line.speaker == mask), key=len, reverse=True)[:LINES_ASKED]
        profile = (*persona.profile, *self._recalled(persona, texts))
        situation = Situation(replace(persona, profile=profile), scene.setting)
        return float(np.mean(self._ranker.score(situation, (), texts)))

    def _recalled(self, persona: Persona, texts: Sequence[str]) -> list[str]:
        """What a candidate has said that is most like these lines."""
        cached = self._pasts.get(persona.name)
        if cached is None or cached[0] is not persona.past:
            lines = [line.text for line in persona.past.lines()]
            cached = persona.past, lines, TfIdf(lines, persona.language)
            self._pasts[persona.name] = cached
        _, lines, search = cached
        scores = search.scores(" ".join(texts))
        best = np.argsort(-scores, kind="stable")[:LINES_RECALLED]
        return [lines[index] for index in best if scores[index] > 0]
