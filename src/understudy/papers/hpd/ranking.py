"""The retrieval half of HPD's table: where the right reply stands among the candidates.

    map, mrr, p@1    over all candidates (eleven in HPD's test sets); ties count against the agent (`metrics.ranking`)
    r10@k            share of the right replies among the first k of ten: the last wrong reply is left out

Marks of a session are the means over repeats where an agent was cross-validated, and the means over sessions are the
figures.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy.agents.encoder import READ
from understudy.agents.reranker import NAME, Reranker
from understudy.bench.answers import JudgedAgent, scores_of
from understudy.bench.run import Items, Row, figure_row, groups_of
from understudy.errors import UnderstudyError
from understudy.language.lexical.rows import Reals
from understudy.metrics.ranking import Ranks, gold_ranks, per_item
from understudy.metrics.statistics import interval
from understudy.papers.hpd.features import Feature
from understudy.papers.hpd.published import hpd_ranking_figure
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Example, Situation, Turn
from understudy.story.persona import Persona
from understudy.story.user_folders import cache_folder

__all__ = [
    "COMPARED",
    "METRICS",
    "Reranked",
    "open_reranked",
    "ranking_marks",
    "ranking_rows",
    "session_ranks",
    "unranked_rows",
    "worst_sessions",
]

METRICS = ("map", "mrr", "p@1", "r10@1", "r10@5")
COMPARED = ("mrr", "p@1")
TEN = 10
SHOWN = 10  # sessions that an agent got most wrong

Scores = Sequence[Sequence[float]]


def session_ranks(scores: Sequence[float], gold: Collection[int], among: int | None = None) -> Ranks:
    """Ranks of the right replies; `among` so many candidates, the last wrong ones left out."""
    wrong = [index for index in range(len(scores)) if index not in gold]
    left_out = set() if among is None else set(wrong[max(among - len(set(gold)), 0) :])
    kept = [index for index in range(len(scores)) if index not in left_out]
    return gold_ranks([scores[index] for index in kept], [kept.index(index) for index in gold])


def ranking_marks(examples: Sequence[Example], repeats: Sequence[Scores]) -> dict[str, list[float]]:
    """The marks of each session by metric: means over repeats of the scores of its candidates."""
    marks: dict[str, list[Any]] = {metric: [] for metric in METRICS}
    for scores in repeats:
        ranks = [session_ranks(row, example.gold) for row, example in zip(scores, examples, strict=True)]
        of_ten = [session_ranks(row, example.gold, TEN) for row, example in zip(scores, examples, strict=True)]
        for metric, name in (("map", "map"), ("mrr", "mrr"), ("p@1", "hits@1")):
            marks[metric].append(per_item(ranks, name))
        for depth in (1, 5):
            marks[f"r{TEN}@{depth}"].append([sum(rank <= depth for rank in own) / len(own) for own in of_ten])
    return {metric: np.mean(values, axis=0).tolist() for metric, values in marks.items()}


def ranking_rows(what: Mapping[str, Any], items: Items, seed: int) -> list[Row]:
    groups, values = groups_of(items.names), items.values()
    return [
        figure_row(what, metric, (interval(values[metric], groups, seed), len(groups)), hpd_ranking_figure(metric))
        for metric in METRICS
    ]


def unranked_rows(what: Mapping[str, Any], reason: str) -> list[Row]:
    """Rows of what could not be judged."""
    return [figure_row(what, metric, reason, hpd_ranking_figure(metric)) for metric in METRICS]


def worst_sessions(
    what: Mapping[str, Any], examples: Sequence[Example], scores: Sequence[Sequence[float]]
) -> list[Row]:
    """Those whose right reply came last, by how far it was behind the first."""
    ranks = [session_ranks(row, example.gold)[0] for row, example in zip(scores, examples, strict=True)]
    wrong = sorted((-rank, index) for index, rank in enumerate(ranks) if rank > 1)
    return [_mistake(what, examples[index], scores[index], -rank) for rank, index in wrong[:SHOWN]]


def _mistake(what: Mapping[str, Any], example: Example, scores: Sequence[float], rank: int) -> Row:
    right = max(example.gold, key=lambda index: scores[index])
    wrong = [index for index in range(len(scores)) if index not in example.gold]
    chosen = max(wrong, key=lambda index: scores[index])
    situation = example.situation
    return {
        "agent": what["agent"],
        "condition": f"{what['file']}, {what['given']}",
        "item": example.name,
        "speaker": situation.persona.name,
        "persona": [situation.setting] if situation.setting else [],
        "history": [[turn.speaker, turn.text] for turn in example.history],
        "gold": example.candidates[right],
        "gold_rank": rank,
        "gold_score": float(scores[right]),
        "chosen": example.candidates[chosen],
        "chosen_score": float(scores[chosen]),
        "candidates": len(scores),
    }


# What the shipped reranker makes of a reply after the dialogue and the scene: a feature, and a ranking of its own.
#
# It reads no attributes and ties here: with them it ranks as well as without, within chance, and a session would be
# read once more for each. The candidates alone it reads without a prompt: how well the reply begins out of nothing.
# It reads English; for other languages the feature is 0. It needs the extra `train` and the language model that it
# adapts; without them rankers are fitted on the other features.

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
        questions = {_key(example): _shown(example) for example in read}
        missing = [key for key in questions if key not in self._scores]
        for first in range(0, len(missing), AT_ONCE):
            some = missing[first : first + AT_ONCE]
            scores = scores_of(self._judged, [questions[key] for key in some], ignore_progress, self._cache)
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
