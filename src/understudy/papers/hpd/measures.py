"""The two halves of HPD's table. Retrieval: where the right reply stands among the candidates.

    map, mrr, p@1    over all candidates (eleven in HPD's test sets); ties count against the agent (`metrics.ranking`)
    r10@k            share of the right replies among the first k of ten: the last wrong reply is left out

Marks of a session are the means over repeats where an agent was cross-validated, and the means over sessions are the
figures. Generation: what agents say in Harry's place, and how probable they find what could be said.

    perplexity, perplexity_per_token   of the right replies (`metrics.generation`)
    delta-p     mean over sessions of (PPL(negatives) - PPL(positive)) / (PPL(negatives) + PPL(positive))
    dist-1      distinct words / words, of all replies together
    f1, bleu    of the replies against the right ones
    mauve       MAUVE(positives, replies), by the shipped encoder
    delta-m     mean over k of MAUVE(positives, replies) - MAUVE(k-th negatives, replies)

Every agent is judged for each thing it is given (`given`: the dialogue with which of scene, attributes and relations).
What a part adds is told session by session by the log-probability of a word of the right reply, by delta-p and by F1; a
difference d of the first divides perplexity by exp(d). An agent that gives no log-probabilities, or no replies, has
rows that say so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from understudy.agents.encoder import READ
from understudy.agents.reranker import NAME, Reranker
from understudy.bench.answer_metrics import Answers, answers_of, right_replies, wrong_replies
from understudy.bench.answers import CandidateLikelihoods, JudgedAgent, MissingAnswers, prompt_of, scores_of
from understudy.bench.run import Figure, Items, Row, figure_row, groups_of, progress_on
from understudy.errors import UnderstudyError
from understudy.language.encoding.encoder import shared_encoder
from understudy.language.lexical.rows import Reals
from understudy.metrics.generation import SetLikelihood, delta_p_by_item
from understudy.metrics.mauve import Encode, delta_m
from understudy.metrics.ranking import Ranks, gold_ranks, per_item
from understudy.metrics.statistics import Interval, interval
from understudy.papers.hpd.features import Feature
from understudy.papers.hpd.published import hpd_generation_figure, hpd_ranking_figure
from understudy.papers.hpd.sessions import parts_of
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Example, Situation, Turn
from understudy.story.persona import Persona
from understudy.story.user_folders import cache_folder

METRICS = ("map", "mrr", "p@1", "r10@1", "r10@5")
COMPARED = ("mrr", "p@1")
TEN = 10
SHOWN = 10  # sessions that an agent got most wrong; replies of each agent

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


# The generation half. The paper computes delta-m from all negatives and reports the average. MAUVE grows with the
# number of texts, so here each session gives one negative at a time, and every comparison is of as many texts as there
# are sessions; its interval runs from the smallest to the largest over negatives and seeds of k-means.

GENERATION = ("perplexity", "perplexity_per_token", "delta-p", "dist-1", "f1", "bleu", "mauve", "delta-m")
PAIRED = ("log_prob_per_word", "delta-p", "f1")
"""Marks of a session by which it is told what a part adds."""
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
                answers = answers_of(agent, examples, replies, None, progress_on(progress, given), cache)
                what = {"agent": agent.name, "given": given}
                marks = _marks(answers)
                result.items.append(Items(what, [example.name for example in examples], [], marks))
                result.rows += _rows(agent, what, answers, seed, features)
                result.samples += [what | row for row in _sample(answers)]
        if (prompt := prompt_of(agent.agent, next(iter(questions.values()))[0])) is not None:
            result.prompts[agent.name] = prompt
    missing.check()
    return result


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
