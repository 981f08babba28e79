"""The generation half of HPD's table: what agents say in Harry's place, and how probable they find what could be said.

    perplexity, perplexity_per_token   of the right replies (`metrics.generation`)
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

from understudy.bench.answer_metrics import Answers, answers_of, right_replies, wrong_replies
from understudy.bench.answers import CandidateLikelihoods, JudgedAgent, MissingAnswers, prompt_of
from understudy.bench.run import Figure, Items, Row, figure_row
from understudy.language.encoding.encoder import shared_encoder
from understudy.metrics.generation import SetLikelihood, delta_p_by_item
from understudy.metrics.mauve import Encode, delta_m
from understudy.metrics.statistics import Interval
from understudy.papers.hpd.published import hpd_generation_figure
from understudy.papers.hpd.sessions import parts_of
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Example

__all__ = ["GENERATION", "PAIRED", "HpdGeneration", "judge_generation"]

GENERATION = ("perplexity", "perplexity_per_token", "delta-p", "dist-1", "f1", "bleu", "mauve", "delta-m")
PAIRED = ("log_prob_per_word", "delta-p", "f1")
"""Marks of a session by which it is told what a part adds."""
SHOWN = 10  # replies of each agent
NO_NEGATIVES = "some session has no negative reply"


@dataclass(slots=True)
class HpdGeneration:
    """Rows, sample replies, marks session by session, and prompts of agents that have one."""

    rows: list[Row] = field(default_factory=list)
    samples: list[Row] = field(default_factory=list)
    items: list[Items] = field(default_factory=list)
    prompts: dict[str, Any] = field(default_factory=dict)


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
    features = _VectorsByText(encode or shared_encoder().encode)
    result, missing = HpdGeneration(), MissingAnswers()
    for agent in judged:
        for given, examples in questions.items():
            with missing:
                answers = answers_of(agent, examples, replies, None, _on(progress, given), cache)
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


def _marks(answers: Answers) -> dict[str, Sequence[float | None]]:
    """Marks of every session: of likelihood where all have a negative, and of replies where it was asked for one."""
    marks = answers.marks(answers.questions)
    if answers.likelihoods is not None and all(map(wrong_replies, answers.questions)):
        marks["delta-p"] = _delta_p(answers.questions, answers.likelihoods).tolist()
    return marks


def _delta_p(examples: Sequence[Example], likelihoods: Sequence[CandidateLikelihoods]) -> np.ndarray[Any, Any]:
    def summed(wrong: bool) -> SetLikelihood:
        sums = [
            mark.summed(wrong_replies(example) if wrong else [min(example.gold)])
            for example, mark in zip(examples, likelihoods, strict=True)
        ]
        return SetLikelihood([log_prob for log_prob, _ in sums], [words for _, words in sums])

    return delta_p_by_item(summed(wrong=False), summed(wrong=True))


def _rows(agent: JudgedAgent, what: Mapping[str, str], answers: Answers, seed: int, encode: Encode) -> list[Row]:
    paper = partial(hpd_generation_figure, agent.model, parts_of(what["given"]))
    rows = answers.rows(what, seed, paper, encode)
    by_metric = {row["metric"]: row for row in rows}
    figure = _delta_m(answers, by_metric["mauve"].get("reason", ""), seed, encode)
    by_metric["delta-m"] = figure_row(what, "delta-m", figure, paper("delta-m"))
    return [by_metric[metric] for metric in (*GENERATION, "errors") if metric in by_metric]


def _delta_m(answers: Answers, reason: str, seed: int, encode: Encode) -> Figure:
    """`reason` says why there is no MAUVE, where there is none."""
    if reason:
        return reason
    answered = answers.replied
    negatives = [[example.candidates[index] for index in wrong_replies(example)] for example, _ in answered]
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


class _VectorsByText:
    """Encodes a text once: the same replies stand in many comparisons."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._rows: dict[str, np.ndarray[Any, Any]] = {}

    def __call__(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if missing:
            self._rows |= dict(zip(missing, np.asarray(self._encode(missing))))
        return np.stack([self._rows[text] for text in texts])


def _sample(answers: Answers) -> Iterator[Row]:
    """The first replies beside the right ones."""
    for example, reply in list(zip(answers.asked, answers.replies or ()))[:SHOWN]:
        turns = [[turn.speaker, turn.text] for turn in example.history]
        speaker, gold = example.situation.persona.name, right_replies(example)[0]
        yield {"item": example.name, "speaker": speaker, "history": turns, "gold": gold, "reply": reply.text}
