"""The generation half of HPD's table: what agents say in Harry's place, and how probable they find what could be said.

    perplexity, perplexity_per_token   of the right replies (`metrics.perplexity`)
    delta-p     mean over sessions of (PPL(negatives) - PPL(positive)) / (PPL(negatives) + PPL(positive))
    dist-1      distinct words / words, of all replies together
    f1, bleu    of the replies against the right ones
    mauve       MAUVE(positives, replies), by the shipped encoder
    delta-m     mean over k of MAUVE(positives, replies) - MAUVE(k-th negatives, replies)

The paper computes delta-m from all negatives and reports the average. MAUVE grows with the number of texts, so here
each session gives one negative at a time, and every comparison is of as many texts as there are sessions; its interval
runs from the smallest to the largest over negatives and seeds of k-means.

Every agent is judged for each thing it is given (`given`: the dialogue with which of scene, attributes and relations).
What a part adds is told session by session (`parts`) by the log-probability of a word of the right reply, by delta-p
and by F1; a difference d of the first divides perplexity by exp(d). An agent that gives no log-probabilities, or no
replies, has rows that say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.generation import (
    CandidateLikelihoods,
    GeneratedReply,
    likelihood_items,
    likelihood_marks,
    likelihood_rows,
    prompt_of,
    replies_of,
    reply_items,
    reply_rows,
    right_replies,
)
from understudy.bench.generation.reply_metrics import NO_REPLIES, Figure, Row, figure_row
from understudy.bench.items import Items
from understudy.bench.judged_agents import JudgedAgent, MissingAnswers
from understudy.bench.published import hpd_generation_figure
from understudy.language.encoding import shared_encoder
from understudy.metrics.mauve import Encode, delta_m
from understudy.metrics.perplexity import SetLikelihood, delta_p_by_item
from understudy.metrics.statistics import Interval
from understudy.papers.hpd.parts import parts_of
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Example

__all__ = ["GENERATION", "PAIRED", "HpdGeneration", "judge_generation"]

GENERATION = ("perplexity", "perplexity_per_token", "delta-p", "dist-1", "f1", "bleu", "mauve", "delta-m")
PAIRED = ("log_prob_per_word", "delta-p", "f1")
"""Marks of a session by which it is told what a part adds."""
FEWEST = 20  # replies: fewer have no distribution
SHOWN = 10  # replies of each agent
NOT_ASKED = "the agent ranks, and was asked for no replies: --replies N"
TOO_FEW = f"fewer than {FEWEST} replies: too few for a distribution"
NO_NEGATIVES = "some session has no negative reply"


@dataclass(slots=True)
class HpdGeneration:
    """Rows, sample replies, marks session by session, and prompts of agents that have one."""

    rows: list[Row] = field(default_factory=list)
    samples: list[Row] = field(default_factory=list)
    items: list[Items] = field(default_factory=list)
    prompts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _SessionAnswers:
    """What one agent answered, given one thing."""

    examples: Sequence[Example]
    likelihoods: Sequence[CandidateLikelihoods] | None
    replies: Sequence[GeneratedReply] | None
    reason: str
    """Why there are no replies."""


def judge_generation(
    judged: Sequence[JudgedAgent],
    questions: Mapping[str, Sequence[Example]],
    seed: int = 0,
    progress: Progress = ignore_progress,
    cache: Path | None = None,
    replies: int | None = None,
    encode: Encode | None = None,
) -> HpdGeneration:
    """Judge agents on questions, by what of them is given ('dialogue+scene+relations').

    `replies` says how many sessions an agent answers in its own words: by default all, but none of an agent that only
    ranks. `encode` is the encoder of MAUVE, by default the shipped one.
    """
    features = _Remembered(encode or shared_encoder().encode)
    result, missing = HpdGeneration(), MissingAnswers()
    for agent in judged:
        for given, examples in questions.items():
            with missing:
                answers = _ask(agent, examples, replies, _on(progress, given), cache)
                what = {"agent": agent.name, "given": given}
                marks = _marks(answers)
                result.items.append(Items(what, [example.name for example in examples], [], marks))
                result.rows += _rows(agent, what, answers, seed, features)
                result.samples += [what | row for row in _sample(answers)]
        if (prompt := prompt_of(agent.agent, next(iter(questions.values()))[0])) is not None:
            result.prompts[agent.name] = prompt
    missing.check()
    return result


def _on(progress: Progress, given: str) -> Progress:
    return lambda doing, done, total: progress(f"{doing}, {given}", done, total)


def _ask(
    agent: JudgedAgent, examples: Sequence[Example], count: int | None, progress: Progress, cache: Path | None
) -> _SessionAnswers:
    likelihoods = likelihood_marks(agent, examples, progress, cache)
    if count is None:
        count = 0 if likelihoods is None and agent.judged_by is None else len(examples)
    asked = examples[:count]
    replies = replies_of(agent, asked, progress, cache) if asked else None
    return _SessionAnswers(examples, likelihoods, replies, NO_REPLIES if asked else NOT_ASKED)


def _marks(answers: _SessionAnswers) -> dict[str, Sequence[float | None]]:
    """Marks of every session: of likelihood where all have a negative, and of replies where it was asked for one."""
    marks: dict[str, Sequence[float | None]] = {}
    if answers.likelihoods is not None:
        marks |= likelihood_items(answers.examples, answers.likelihoods)
        if all(_negatives(example) for example in answers.examples):
            marks["delta-p"] = _delta_p(answers.examples, answers.likelihoods).tolist()
    if answers.replies is not None:
        unasked = [None] * (len(answers.examples) - len(answers.replies))
        own = reply_items(answers.examples[: len(answers.replies)], answers.replies)
        marks |= {metric: [*values, *unasked] for metric, values in own.items()}
    return marks


def _delta_p(examples: Sequence[Example], likelihoods: Sequence[CandidateLikelihoods]) -> np.ndarray[Any, Any]:
    def summed(wrong: bool) -> SetLikelihood:
        sums = [
            mark.summed(_negatives(example) if wrong else [min(example.gold)])
            for example, mark in zip(examples, likelihoods, strict=True)
        ]
        return SetLikelihood([log_prob for log_prob, _ in sums], [words for _, words in sums])

    return delta_p_by_item(summed(wrong=False), summed(wrong=True))


def _negatives(example: Example) -> list[int]:
    return [index for index in range(len(example.candidates)) if index not in example.gold]


def _rows(
    agent: JudgedAgent, what: Mapping[str, str], answers: _SessionAnswers, seed: int, encode: Encode
) -> list[Row]:
    paper = partial(hpd_generation_figure, agent.model, parts_of(what["given"]))
    asked = answers.examples if answers.replies is None else answers.examples[: len(answers.replies)]
    rows = likelihood_rows(what, answers.examples, answers.likelihoods, seed, paper)
    rows += reply_rows(what, asked, answers.replies, None, seed, paper, encode, answers.reason)
    rows.append(figure_row(what, "delta-m", _delta_m(answers, seed, encode), paper("delta-m")))
    by_metric = {row["metric"]: row for row in rows}
    return [by_metric[metric] for metric in (*GENERATION, "errors") if metric in by_metric]


def _delta_m(answers: _SessionAnswers, seed: int, encode: Encode) -> Figure:
    if answers.replies is None:
        return answers.reason
    answered = [
        (example, reply.text) for example, reply in zip(answers.examples, answers.replies) if reply.text is not None
    ]
    if len(answered) < FEWEST:
        return TOO_FEW
    negatives = [[example.candidates[index] for index in _negatives(example)] for example, _ in answered]
    count = min(map(len, negatives))
    if not count:
        return NO_NEGATIVES
    said = [text for _, text in answered]
    right = [right_replies(example)[0] for example, _ in answered]
    by_negative = [
        delta_m(right, [texts[number] for texts in negatives], said, encode, seed) for number in range(count)
    ]
    mean = float(np.mean([figure.value for figure in by_negative]))
    smallest, largest = min(figure.low for figure in by_negative), max(figure.high for figure in by_negative)
    return Interval(mean, smallest, largest), len(answered)


class _Remembered:
    """Encodes a text once: the same replies stand in many comparisons."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._rows: dict[str, np.ndarray[Any, Any]] = {}

    def __call__(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            self._rows |= dict(zip(missing, np.asarray(self._encode(missing))))
        return np.stack([self._rows[text] for text in texts])


def _sample(answers: _SessionAnswers) -> Iterator[Row]:
    """The first replies beside the right ones."""
    for example, reply in list(zip(answers.examples, answers.replies or ()))[:SHOWN]:
        turns = [[turn.speaker, turn.text] for turn in example.history]
        speaker, gold = example.situation.persona.name, right_replies(example)[0]
        yield {"item": example.name, "speaker": speaker, "history": turns, "gold": gold, "reply": reply.text}
