"""Next-utterance ranking on PersonaChat: every agent on every condition, beside the paper's figures.

    rows          hits@1, hits@5, mrr of the right reply among 20, ties against the agent, with 95% intervals
    comparisons   agents two by two on each condition: difference, paired p value, the same Holm-adjusted
    mistakes      for each agent the ten questions it got most wrong, on the condition it should know best on
    items         the rank of the right reply, question by question

The questions of a condition are those of its file, or a seeded sample of them; wrong replies are drawn from other
dialogues where the file has none. Intervals and p values are over dialogues, whose questions resemble each other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.compare import compared
from understudy.bench.items import Items, groups_of, manifest_of, write_items
from understudy.bench.judged_agents import JudgedAgent, judged_agent, scores_of
from understudy.bench.published import CONDITIONS, PAPER_IS, hits_at_1
from understudy.dialogue import Example
from understudy.errors import InputError
from understudy.metrics.ranking import RANKING, gold_ranks
from understudy.metrics.statistics import RESAMPLES, SWAPS, interval
from understudy.progress import Progress, ignore_progress
from understudy.readers.personachat import examples
from understudy.readers.source import SourceFile

__all__ = [
    "DISTRACTORS",
    "KEPT",
    "ConditionQuestions",
    "bench_personachat",
    "best_condition",
    "dialogue_of",
    "files_of",
    "questions_in",
    "worst",
]

Row = dict[str, Any]


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
) -> dict[str, Any]:
    """Rows, comparisons, mistakes, items and manifest. `save_items` writes the items to a file of their own as well."""
    if not agents:
        raise InputError("name at least one agent to judge")
    files = files_of(data, split, conditions)
    training = _training_file(data)
    judged = [judged_agent(spec, training) for spec in dict.fromkeys(agents)]
    rows, mistakes = list[Row](), list[Row]()
    items: list[Items] = []
    by_condition: dict[str, Row] = {}
    for condition, path in files.items():
        questions = questions_in(path, condition, limit, seed)
        sizes = sorted({len(example.candidates) for example in questions.examples})
        by_condition[condition] = {"n": len(questions.examples), "candidates": sizes, "drawn": questions.drawn}
        for agent in judged:
            begun = time.perf_counter()
            scores = scores_of(agent, questions.examples, _on(progress, condition), cache, training)
            by_condition[condition].setdefault("seconds", {})[agent.name] = round(time.perf_counter() - begun, 2)
            ranks = [gold_ranks(row, example.gold)[0] for row, example in zip(scores, questions.examples)]
            names = [example.name for example in questions.examples]
            result = Items({"agent": agent.name, "condition": condition}, names, ranks)
            items.append(result)
            rows += _rows(agent, questions, split, result, seed)
            if condition == best_condition(list(files)):
                mistakes += worst(agent.name, questions, scores, result.ranks)
    settings = {"split": split, "paper": PAPER_IS, "resamples": RESAMPLES, "swaps": SWAPS, "conditions": by_condition}
    settings["word_weights"] = None if training is None else training.name
    used = [*files.values(), *([training] if training else [])]
    manifest = manifest_of("personachat", used, seed, limit, settings)
    manifest["agents"] = {agent.name: getattr(agent.agent, "card", None) for agent in judged}
    if save_items is not None:
        write_items(save_items, items, manifest)
    return {
        "rows": rows,
        "comparisons": compared(items, RANKING, "condition", seed),
        "mistakes": mistakes,
        "manifest": manifest,
        "items": [agent.document() for agent in items],
    }


def _rows(judged: JudgedAgent, questions: ConditionQuestions, split: str, items: Items, seed: int) -> list[Row]:
    what: Mapping[str, Any] = {
        "agent": judged.name,
        "condition": questions.condition,
        "split": split,
        "trained_on": judged.trained_on,
    }
    by_reply = {} if judged.judged_by is None else {"judged_by": judged.judged_by}
    rows = []
    for metric, values in items.values().items():
        figure = interval(values, groups_of(items.names), seed)
        paper = hits_at_1(judged.model, judged.trained_on, questions.condition) if metric == "hits@1" else None
        low_high = {"value": figure.value, "low": figure.low, "high": figure.high}
        rows.append({**what, **by_reply, "metric": metric, **low_high, "n": len(values), "paper": paper})
    return rows


def _training_file(data: Path) -> Path | None:
    """Training dialogues that lie beside the questions: what a word weighs is learnt from them."""
    return next(iter(sorted(data.glob("train_*_original*.txt"))), None)


def _on(progress: Progress, condition: str) -> Progress:
    return lambda doing, done, total: progress(f"{doing}, {condition}", done, total)


KEPT = 10
TELLING = ("self_original", "self_revised", "both_original", "both_revised", "other_original", "other_revised", "none")


def best_condition(conditions: Sequence[str]) -> str:
    """The condition whose mistakes tell most: the one on which the agent should have known best."""
    return min(conditions, key=TELLING.index)


def worst(
    agent: str, questions: ConditionQuestions, scores: Sequence[Sequence[float]], ranks: Sequence[int]
) -> list[Any]:
    """The right reply furthest down, and of these by the largest margin."""
    misses = [
        (rank, max(row) - max(row[gold] for gold in example.gold), index)
        for index, (row, example, rank) in enumerate(zip(scores, questions.examples, ranks))
        if rank > 1
    ]
    return [
        {"agent": agent, "condition": questions.condition, **_mistake(questions.examples[index], scores[index], rank)}
        for rank, _, index in sorted(misses, reverse=True)[:KEPT]
    ]


def _mistake(example: Example, scores: Sequence[float], rank: int) -> dict[str, Any]:
    right = max(example.gold, key=scores.__getitem__)
    wrong = [index for index in range(len(scores)) if index not in example.gold]
    chosen = max(wrong, key=scores.__getitem__)
    faced = example.situation.faced
    return {
        "item": example.name,
        "persona": list(example.situation.persona.profile),
        "partner": [] if faced is None else list(faced.profile),
        "history": [[turn.speaker, turn.text] for turn in example.history],
        "speaker": example.situation.persona.name,
        "gold": example.candidates[right],
        "gold_score": scores[right],
        "gold_rank": rank,
        "chosen": example.candidates[chosen],
        "chosen_score": scores[chosen],
        "candidates": len(scores),
    }


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
    indices = np.arange(len(every))
    if limit is not None and limit < len(every):
        indices = np.sort(np.random.default_rng(seed).choice(len(every), limit, replace=False))
    drawn = any(len(every[index].candidates) == 1 for index in indices)
    pool = _Replies(every) if drawn else None
    questions = []
    for index in indices:
        example = every[index]
        if pool is not None and len(example.candidates) == 1:
            wrong = pool.others(example, np.random.default_rng((seed, int(index))))
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
