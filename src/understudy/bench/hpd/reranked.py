"""What the shipped reranker makes of a reply after the dialogue and the scene: a feature, and a ranking of its own.

It reads no attributes and ties here: with them it ranks as well as without, within chance, and a session would be read
once more for each. The candidates alone it reads without a prompt: how well the reply begins out of nothing. It reads
English; for other languages the feature is 0. It needs the extra `train` and the language model that it adapts; without
them rankers are fitted on the other features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from understudy.agents.encoder import READ
from understudy.agents.reranker import NAME, Reranker
from understudy.bench.hpd.features import Feature
from understudy.bench.judged_agents import JudgedAgent, scores_of
from understudy.dialogue import Example, Situation, Turn
from understudy.errors import UnderstudyError
from understudy.lexical.rows import Reals
from understudy.persona import Persona
from understudy.progress import Progress, ignore_progress
from understudy.user_folders import cache_folder

__all__ = ["Reranked", "open_reranked"]

SCORES = "reranker-scores"
AT_ONCE = 8  # sessions between two reports of how far it is

Key = tuple[str, str, tuple[Turn, ...], tuple[str, ...]]


class Reranked:
    """The scores of a reranker, each session read once however often it is asked for."""

    features: Sequence[Feature] = (Feature("reranker", 1),)

    def __init__(self, agent: object, cache: Path | None = None) -> None:
        """`cache` is a folder of scores, as `scores_of` has it."""
        self._judged = JudgedAgent(NAME, agent, NAME)
        self._cache = cache
        self._scores: dict[Key, list[float]] = {}

    def precompute(self, examples: Sequence[Example], progress: Progress = ignore_progress) -> None:
        read = [example for example in examples if example.situation.persona.language == READ and example.candidates]
        asked = {_key(example): _shown(example) for example in read}
        missing = [key for key in asked if key not in self._scores]
        for first in range(0, len(missing), AT_ONCE):
            some = missing[first : first + AT_ONCE]
            scores = scores_of(self._judged, [asked[key] for key in some], ignore_progress, self._cache)
            self._scores.update(zip(some, scores))
            progress(NAME, first + len(some), len(missing))

    def scores(self, example: Example) -> list[float]:
        self.precompute([example])
        return self._scores[_key(example)]

    def values(self, example: Example) -> Reals:
        if example.situation.persona.language != READ or not example.candidates:
            return np.zeros((len(example.candidates), 1))
        return np.array(self.scores(example), dtype=np.float64)[:, None]


def open_reranked(cache: Path | None = None) -> Reranked | str:
    """The shipped reranker, or why it cannot be had; its scores are kept in the user's own cache by default."""
    try:
        agent = Reranker()
        agent.check()
    except UnderstudyError as error:
        return str(error)
    return Reranked(agent, cache or cache_folder() / SCORES)


def _key(example: Example) -> Key:
    return example.situation.persona.name, example.situation.setting, example.history, example.candidates


def _shown(example: Example) -> Example:
    """The question as far as it is read: who answers, the scene, what was said."""
    persona = example.situation.persona
    reader = Persona(persona.name, language=persona.language)
    return replace(example, situation=Situation(reader, example.situation.setting))
