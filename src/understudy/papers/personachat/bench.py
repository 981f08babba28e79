"""Next-utterance prediction on PersonaChat: every agent on every condition, beside the paper's figures.

    rows          hits@1, hits@5, mrr of the right reply among 20, ties against the agent; of agents that give
                  log-probabilities perplexity and what goes with it; of replies in an agent's own words F1, BLEU and
                  the others of `bench.answer_metrics`; with 95% intervals
    comparisons   agents two by two on each condition: difference, paired p value, the same Holm-adjusted
    mistakes      for each agent the ten questions it got most wrong, on the condition it should know best on
    reply_samples for each agent that replied its first ten replies, on the same condition
    failures      the questions that an agent could not reply to, with the reason
    items         the rank of the right reply and further marks, question by question

Candidates are ranked by their log-probability where an agent gives one, as in the paper; by its own scores where it is
a ranker; else by their unigram F1 with its reply. Intervals and p values are over dialogues, whose questions resemble
each other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.answer_metrics import Answers, answers_of, right_replies
from understudy.bench.answers import JudgedAgent, MissingAnswers, judged_agent, prompt_of, reply_scores, scores_of
from understudy.bench.run import (
    Items,
    Row,
    compared,
    document_of,
    figure_row,
    groups_of,
    manifest_of,
    progress_on,
    sampled,
)
from understudy.errors import InputError
from understudy.formats.personachat import examples
from understudy.metrics.generation import reference_f1
from understudy.metrics.ranking import RANKING, gold_ranks
from understudy.metrics.statistics import RESAMPLES, SWAPS, interval
from understudy.papers.personachat.published import CONDITIONS, PAPER_IS, personachat_figure
from understudy.progress import Progress, ignore_progress
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Example

# Single questions for a report to show: an agent's worst mistakes, and its first replies in its own words.

SHOWN = 10  # of each agent


def worst_mistakes(
    judged_on: Mapping[str, str],
    examples: Sequence[Example],
    scores: Sequence[Sequence[float]],
    ranks: Sequence[int],
) -> list[Row]:
    """The right reply furthest down, and of these by the largest margin."""
    misses = [
        (rank, max(row) - max(row[gold] for gold in example.gold), index)
        for index, (row, example, rank) in enumerate(zip(scores, examples, ranks))
        if rank > 1
    ]
    return [
        {**judged_on, **_mistake(examples[index], scores[index], rank)}
        for rank, _, index in sorted(misses, reverse=True)[:SHOWN]
    ]


def _mistake(example: Example, scores: Sequence[float], rank: int) -> Row:
    right = max(example.gold, key=scores.__getitem__)
    wrong = [index for index in range(len(scores)) if index not in example.gold]
    chosen = max(wrong, key=scores.__getitem__)
    return _told(example) | {
        "gold": example.candidates[right],
        "gold_score": scores[right],
        "gold_rank": rank,
        "chosen": example.candidates[chosen],
        "chosen_score": scores[chosen],
        "candidates": len(scores),
    }


def first_replies(judged_on: Mapping[str, str], replied: Sequence[tuple[Example, str]]) -> list[Row]:
    """What the agent said, with a right reply and the F1 of the two."""
    return [
        {**judged_on, **_told(example), "gold": right[0], "reply": text}
        | {"f1": reference_f1(text, right, example.situation.persona.language)}
        for example, text in replied[:SHOWN]
        for right in [right_replies(example)]
    ]


def _told(example: Example) -> Row:
    """The question as the agent was told it."""
    faced = example.situation.faced
    return {
        "item": example.name,
        "persona": list(example.situation.persona.profile),
        "partner": [] if faced is None else list(faced.profile),
        "history": [[turn.speaker, turn.text] for turn in example.history],
        "speaker": example.situation.persona.name,
    }


COMPARED = (*RANKING, "log_prob_per_word", "f1")
TELLING = ("self_original", "self_revised", "both_original", "both_revised", "other_original", "other_revised", "none")


def bench_personachat(
    data: Path,
    split: str = "valid",
    agents: Sequence[str] = ("tfidf",),
    conditions: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    save_items: Path | None = None,
    cache: Path | None = None,
    replies: int | None = None,
) -> dict[str, Any]:
    """Rows, comparisons, mistakes, reply samples, items and manifest. `save_items` writes the items too.

    `replies` says how many questions of a condition an agent answers in its own words: by default all, if it is a
    language model or cannot rank, and none of a ranker.
    """
    if not agents:
        raise InputError("name at least one agent to judge")
    files = files_of(data, split, conditions)
    training = _training_file(data)
    judged = [judged_agent(spec, training) for spec in dict.fromkeys(agents)]
    tables = _Tables(split, best_condition(list(files)), seed)
    by_condition: dict[str, Row] = {}
    prompts: dict[str, Row] = {}
    missing = MissingAnswers()
    for condition, path in files.items():
        questions = questions_in(path, condition, limit, seed)
        sizes = sorted({len(example.candidates) for example in questions.examples})
        by_condition[condition] = {"n": len(questions.examples), "candidates": sizes, "drawn": questions.drawn}
        for agent in judged:
            begun = time.perf_counter()
            ranked: Sequence[Example] | None = None
            with missing:
                watch = progress_on(progress, condition)
                answers = answers_of(agent, questions.examples, replies, seed, watch, cache, training)
                ranked, scores = _ranked(agent, answers, watch, cache, training)
            if ranked is None:
                continue
            by_condition[condition].setdefault("seconds", {})[agent.name] = round(time.perf_counter() - begun, 2)
            tables.add(agent, condition, answers, ranked, scores)
            if agent.name not in prompts and (prompt := prompt_of(agent.agent, questions.examples[0])) is not None:
                prompts[agent.name] = {"prompt": prompt}
    missing.check()
    settings = {"split": split, "paper": PAPER_IS, "resamples": RESAMPLES, "swaps": SWAPS, "conditions": by_condition}
    settings["word_weights"] = None if training is None else training.name
    settings["replies"] = replies
    used = [*files.values(), *([training] if training else [])]
    manifest = manifest_of("personachat", used, seed, limit, settings)
    cards = {agent.name: getattr(agent.agent, "card", None) for agent in judged}
    manifest["agents"] = {name: {**(card or {}), **prompts.get(name, {})} or None for name, card in cards.items()}
    comparisons = compared(tables.items, COMPARED, "condition", seed)
    parts = {"comparisons": comparisons, "mistakes": tables.mistakes, "reply_samples": tables.samples}
    return document_of(tables.rows, tables.items, manifest, save_items, **parts, failures=tables.failures)


@dataclass(slots=True)
class _Tables:
    """What is told of the agents, condition by condition; single questions on the `telling` condition alone."""

    split: str
    telling: str
    seed: int
    rows: list[Row] = field(default_factory=list)
    mistakes: list[Row] = field(default_factory=list)
    samples: list[Row] = field(default_factory=list)
    failures: list[Row] = field(default_factory=list)
    items: list[Items] = field(default_factory=list)

    def add(
        self,
        agent: JudgedAgent,
        condition: str,
        answers: Answers,
        ranked: Sequence[Example],
        scores: Sequence[Sequence[float]],
    ) -> None:
        ranks = [gold_ranks(row, example.gold)[0] for row, example in zip(scores, ranked)]
        judged_on = {"agent": agent.name, "condition": condition}
        self.items.append(Items(judged_on, [example.name for example in ranked], ranks, answers.marks(ranked)))
        self.rows += _rows(agent, condition, self.split, answers, self.items[-1], self.seed)
        if condition == self.telling:
            self.mistakes += worst_mistakes(judged_on, ranked, scores, ranks)
            self.samples += first_replies(judged_on, answers.replied)
        self.failures += [
            {**judged_on, "item": reply.item, "reason": reply.reason}
            for reply in answers.replies or ()
            if reply.text is None
        ]


def _ranked(
    agent: JudgedAgent, answers: Answers, progress: Progress, cache: Path | None, training: Path | None
) -> tuple[Sequence[Example], Sequence[Sequence[float]]]:
    """The questions whose candidates an agent ranked, with its scores."""
    if answers.likelihoods is not None:
        return answers.questions, [list(marks.log_probs) for marks in answers.likelihoods]
    if agent.judged_by is None:
        return answers.questions, scores_of(agent, answers.questions, progress, cache, training)
    if answers.replies is None:
        raise InputError(f"'{agent.name}' is judged by its replies: ask for one at least (--replies)")
    return [example for example, _ in answers.replied], [reply_scores(*answer) for answer in answers.replied]


def _rows(agent: JudgedAgent, condition: str, split: str, answers: Answers, items: Items, seed: int) -> list[Row]:
    what: Row = {"agent": agent.name, "condition": condition, "split": split, "trained_on": agent.trained_on}
    paper = partial(personachat_figure, agent.model, agent.trained_on, condition)
    by_reply = {} if answers.likelihoods or agent.judged_by is None else {"judged_by": agent.judged_by}
    values, groups = items.values(), groups_of(items.names)
    ranking = {metric: (interval(values[metric], groups, seed), len(groups)) for metric in RANKING}
    rows = [figure_row({**what, **by_reply}, metric, figure, paper(metric)) for metric, figure in ranking.items()]
    return rows + [row for row in answers.rows(what, seed, paper) if row["metric"] not in RANKING]


def _training_file(data: Path) -> Path | None:
    """Training dialogues that lie beside the questions: what a word weighs is learnt from them."""
    return next(iter(sorted(data.glob("train_*_original*.txt"))), None)


def best_condition(conditions: Sequence[str]) -> str:
    """The condition whose mistakes tell most: the one on which the agent should have known best."""
    return min(conditions, key=TELLING.index)


# The questions of a condition: those of its file, or a seeded sample of them.
#
# Wrong replies are drawn from other dialogues of the file where it has none.

DISTRACTORS = 19


@dataclass(frozen=True, slots=True)
class ConditionQuestions:
    """What is asked on one condition; `drawn` says whether wrong replies had to be drawn for it."""

    condition: str
    file: Path
    examples: tuple[Example, ...]
    drawn: bool


def dialogue_of(example: Example) -> str:
    """The dialogue a question belongs to: its name is that and its place in it."""
    return example.name.partition(".")[0]


def files_of(data: Path, split: str, conditions: Sequence[str] | None = None) -> dict[str, Path]:
    """The file of each condition asked for; without a wish, of each that the folder has."""
    unknown = [name for name in conditions or () if name not in CONDITIONS]
    if unknown:
        raise InputError(f"there is no condition '{unknown[0]}': choose from {', '.join(CONDITIONS)}")
    files: dict[str, Path] = {}
    for condition in conditions or CONDITIONS:
        stem = f"{split}_{'none_original' if condition == 'none' else condition}"
        paths = [path for path in (data / f"{stem}.txt", data / f"{stem}_no_cands.txt") if path.is_file()]
        if paths:
            files[condition] = paths[0]
        elif conditions is not None:
            raise InputError(f"holds no {stem}.txt, which the condition '{condition}' is asked from", data)
    if not files:
        raise InputError(f"holds no {split}_none_original.txt, {split}_self_original.txt, ...: name their folder", data)
    return files


def questions_in(path: Path, condition: str, limit: int | None = None, seed: int = 0) -> ConditionQuestions:
    """All questions of a file, or `limit` of them; the same ones for every condition of a split."""
    every = list(examples(SourceFile(path)))
    if not every:
        raise InputError("puts no question: it holds no reply", path)
    indices = sampled(range(len(every)), limit, seed)
    drawn = any(len(every[index].candidates) == 1 for index in indices)
    pool = _Replies(every) if drawn else None
    questions = []
    for index in indices:
        example = every[index]
        if pool is not None and len(example.candidates) == 1:
            wrong = pool.others(example, np.random.default_rng((seed, index)))
            example = replace(example, candidates=(*wrong, *example.candidates), gold=frozenset({len(wrong)}))
        questions.append(example)
    return ConditionQuestions(condition, path, tuple(questions), drawn)


class _Replies:
    """The replies of a file, to draw wrong ones from: other dialogues' replies, all different."""

    def __init__(self, every: Sequence[Example]) -> None:
        self._said = [(dialogue_of(example), example.candidates[min(example.gold)]) for example in every]

    def others(self, example: Example, rng: np.random.Generator) -> tuple[str, ...]:
        own, right = dialogue_of(example), example.candidates[min(example.gold)]
        chosen: dict[str, None] = {}
        for index in rng.permutation(len(self._said)):
            dialogue, text = self._said[index]
            if dialogue != own and text != right:
                chosen[text] = None
                if len(chosen) == DISTRACTORS:
                    break
        return tuple(chosen)
