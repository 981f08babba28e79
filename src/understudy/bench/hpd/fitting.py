"""Fitting rankers on sessions of which only some parts are shown, and scoring the judged ones with them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from understudy.bench.hpd.crossvalidation import FEWEST_SCENES, TOO_FEW, scenes_of
from understudy.bench.hpd.features import FeatureGroup, feature_rows
from understudy.bench.hpd.fitted_ranker import FITTED_AGENTS, FittingSessions
from understudy.bench.hpd.sessions import withhold
from understudy.dialogue import Example
from understudy.progress import Progress, ignore_progress

__all__ = ["Fitting"]

Scores = list[list[float]]


class Fitting:
    """The sessions of a file with what is `given`; rankers learn from `training`, or from the judged file itself."""

    def __init__(
        self,
        examples: Sequence[Example],
        training: Sequence[Example],
        given: str,
        groups: Sequence[FeatureGroup],
        seed: int = 0,
        progress: Progress = ignore_progress,
    ) -> None:
        self._examples, self._others = examples, training
        self._given, self._groups, self._seed, self._progress = given, groups, seed, progress
        self._scenes = scenes_of(examples)  # sessions of one scene, whether it is shown or not
        self.weights: dict[str, dict[str, float]] = {}
        """What the features count, by agent; of one fitted on all sessions where rankers are cross-validated."""

    def scores(self, agent: str) -> list[Scores] | str:
        """Of each repeat where rankers are cross-validated, else of the one ranker; or why there are none."""
        if not self._others and len(set(self._scenes)) < FEWEST_SCENES:
            return TOO_FEW
        remembers, learned = FITTED_AGENTS[agent], self._training if self._others else self._judged
        ranker = learned.fit(range(len(learned.examples)), remembers)
        self.weights[agent] = {name: weight for name, weight in ranker.weights().items() if weight}
        if not self._others:
            return self._judged.held_out_scores(self._scenes, remembers, self._seed)
        return [[self._judged.scores(ranker, index) for index in range(len(self._examples))]]

    @cached_property
    def _judged(self) -> FittingSessions:
        return self._prepared(self._examples)

    @cached_property
    def _training(self) -> FittingSessions:
        return self._prepared(self._others)

    def _prepared(self, examples: Sequence[Example]) -> FittingSessions:
        shown = [withhold(example, self._given) for example in examples]
        return FittingSessions(shown, self._groups, feature_rows(self._groups, shown, self._progress))
