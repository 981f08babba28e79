"""How probable an agent finds the candidates of a question, and the figures made of that.

    perplexity            of the right replies, per word (a reply's end is a word more)
    perplexity_per_token  the same per token of the model
    hits@1                is the right reply the most probable candidate? ties against the agent
    hits@1_per_token      the same by the mean log-probability of a token, which does not favour short replies
    delta-p               mean over questions of (PPL(wrong) - PPL(right)) / (PPL(wrong) + PPL(right)), per word
    delta-p_of_sets       the same of all right and all wrong replies together

The formulas stand in `metrics.perplexity`. An agent that gives no log-probabilities has none of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.generation.answer_log import answer_log
from understudy.bench.generation.reply_metrics import Figure, PaperFigure, Row, figure_row, no_paper
from understudy.bench.items import groups_of
from understudy.bench.judged_agents import JudgedAgent
from understudy.database.record_log import Record
from understudy.errors import AgentError
from understudy.metrics.perplexity import SetLikelihood, delta_p_by_item, delta_p_of_sets, perplexity, word_units
from understudy.metrics.ranking import gold_ranks
from understudy.metrics.statistics import interval
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import BatchLanguageModel, Example, LanguageModel

__all__ = ["NO_LOG_PROBS", "CandidateLikelihoods", "likelihood_items", "likelihood_marks", "likelihood_rows"]

BATCH = 32  # questions, of some twenty candidates each
NO_LOG_PROBS = "the agent gives no log-probabilities"
NO_WRONG = "no question has a wrong reply"
METRICS = ("perplexity", "perplexity_per_token", "hits@1", "hits@1_per_token", "delta-p", "delta-p_of_sets")


@dataclass(frozen=True, slots=True)
class CandidateLikelihoods:
    """For every candidate of one question: the sum of its tokens' log-probabilities, its tokens, its words and end."""

    log_probs: Sequence[float]
    tokens: Sequence[int]
    words: Sequence[int]

    @property
    def per_token(self) -> list[float]:
        return [total / count for total, count in zip(self.log_probs, self.tokens, strict=True)]

    def summed(self, candidates: Sequence[int], per_token: bool = False) -> tuple[float, int]:
        """The log-probability of some candidates together, and of how many words or tokens that is."""
        units = self.tokens if per_token else self.words
        return sum(self.log_probs[index] for index in candidates), sum(units[index] for index in candidates)


def likelihood_marks(
    judged: JudgedAgent,
    examples: Sequence[Example],
    progress: Progress = ignore_progress,
    cache: Path | None = None,
    data: Path | None = None,
) -> list[CandidateLikelihoods] | None:
    """How probable the agent finds every candidate of every question; None if it gives no log-probabilities.

    `cache` is a folder in which answers are written down as they come, so that a stopped run goes on.
    """
    agent = judged.agent
    if not isinstance(agent, LanguageModel):
        return None
    log = answer_log(cache, "likelihood", judged, examples, data)
    missing = [example for example in examples if example.name not in log.records]
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        answers = _asked(agent, batch)
        if len(answers) != len(batch):
            raise AgentError(
                f"'{judged.name}' answered {len(answers)} of {len(batch)} questions: log_probs_many owes all"
            )
        log.add(_record(judged.name, example, values) for example, values in zip(batch, answers))
        progress(judged.name, len(log.records), len(examples))
    return [_marks(example, log.records[example.name]) for example in examples]


def _asked(agent: LanguageModel, batch: Sequence[Example]) -> list[list[list[float]]]:
    if isinstance(agent, BatchLanguageModel):
        return agent.log_probs_many([(example.situation, example.history, example.candidates) for example in batch])
    return [
        [agent.log_probs(example.situation, example.history, text) for text in example.candidates] for example in batch
    ]


def _record(name: str, example: Example, values: Sequence[Sequence[float]]) -> Record:
    if len(values) != len(example.candidates) or not all(values):
        raise AgentError(f"'{name}' did not give log-probabilities for every candidate of question {example.name}")
    sums = [math.fsum(log_probs) for log_probs in values]
    if not all(map(math.isfinite, sums)):
        raise AgentError(f"'{name}' gave a log-probability that is no finite number for question {example.name}")
    return {"item": example.name, "log_probs": sums, "tokens": [len(log_probs) for log_probs in values]}


def _marks(example: Example, record: Record) -> CandidateLikelihoods:
    language = example.situation.persona.language
    words = [word_units(text, language) for text in example.candidates]
    return CandidateLikelihoods(record["log_probs"], record["tokens"], words)


def likelihood_items(examples: Sequence[Example], marks: Sequence[CandidateLikelihoods]) -> dict[str, list[float]]:
    """Marks of each question, for `Items`: what is compared, question by question."""
    right = [mark.summed(_right(example)) for example, mark in zip(examples, marks, strict=True)]
    first = [gold_ranks(mark.per_token, example.gold)[0] == 1 for example, mark in zip(examples, marks)]
    return {
        "hits@1_per_token": [float(hit) for hit in first],
        "log_prob_per_word": [log_prob / words for log_prob, words in right],
    }


def likelihood_rows(
    what: Mapping[str, Any],
    examples: Sequence[Example],
    marks: Sequence[CandidateLikelihoods] | None,
    seed: int = 0,
    paper: PaperFigure = no_paper,
) -> list[Row]:
    """A row for each metric; `what` says what was judged."""
    figures: Mapping[str, Figure] = (
        dict.fromkeys(METRICS, NO_LOG_PROBS) if marks is None else _figures(examples, marks, seed)
    )
    return [figure_row(what, metric, figures.get(metric, NO_WRONG), paper(metric)) for metric in METRICS]


def _figures(examples: Sequence[Example], marks: Sequence[CandidateLikelihoods], seed: int) -> dict[str, Figure]:
    """The figure of each metric that can be had."""
    pairs = list(zip(examples, marks, strict=True))
    groups = groups_of([example.name for example in examples])
    figures: dict[str, Figure] = {}
    for metric, per_token in (("perplexity", False), ("perplexity_per_token", True)):
        right = _set([mark.summed(_right(example), per_token) for example, mark in pairs])
        figures[metric] = perplexity(right, groups, seed), len(pairs)
    for metric, scores in (
        ("hits@1", [mark.log_probs for mark in marks]),
        ("hits@1_per_token", [mark.per_token for mark in marks]),
    ):
        first = [gold_ranks(row, example.gold)[0] == 1 for row, example in zip(scores, examples)]
        figures[metric] = interval(first, groups, seed), len(pairs)
    both = [(example, mark) for example, mark in pairs if _wrong(example)]
    if both:
        groups = groups_of([example.name for example, _ in both])
        right = _set([mark.summed(_right(example)) for example, mark in both])
        wrong = _set([mark.summed(_wrong(example)) for example, mark in both])
        figures["delta-p"] = interval(delta_p_by_item(right, wrong), groups, seed), len(both)
        figures["delta-p_of_sets"] = delta_p_of_sets(right, wrong, groups, seed), len(both)
    return figures


def _set(sums: Sequence[tuple[float, int]]) -> SetLikelihood:
    columns = np.array(sums, dtype=np.float64)
    return SetLikelihood(columns[:, 0], columns[:, 1])


def _right(example: Example) -> list[int]:
    """The right replies, each once: some data sets list one twice."""
    return list({example.candidates[index]: index for index in sorted(example.gold, reverse=True)}.values())


def _wrong(example: Example) -> list[int]:
    return [index for index in range(len(example.candidates)) if index not in example.gold]
