"""Next-utterance ranking on PersonaChat: every agent on every condition, beside the paper's figures.

    rows          hits@1, hits@5, mrr of the right reply among 20, ties against the agent, with 95% intervals
    comparisons   agents two by two on each condition: difference, paired p value, the same Holm-adjusted
    mistakes      for each agent the ten questions it got most wrong, on the condition it should know best on
    items         the place of the right reply, question by question

Intervals and p values are over dialogues, whose questions resemble each other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.bench.items import Items, groups_of, write_items
from understudy.bench.judging import Judged, judged_agent, scores_of
from understudy.bench.manifest import Watch, manifest_of, unwatched
from understudy.bench.mistakes import told_on, worst
from understudy.bench.pairs import compared
from understudy.bench.published import PAPER_IS, hits_at_1
from understudy.bench.questions import Questions, files_of, questions_in
from understudy.errors import InputError
from understudy.metrics.ranking import RANKING, gold_ranks
from understudy.metrics.significance import RESAMPLES, SWAPS, interval

__all__ = ["bench_personachat"]

Row = dict[str, Any]


def bench_personachat(
    data: Path,
    split: str = "valid",
    agents: Sequence[str] = ("tfidf",),
    conditions: Sequence[str] | None = None,
    limit: int | None = None,
    seed: int = 0,
    progress: Watch = unwatched,
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
    asked: dict[str, Row] = {}
    for condition, path in files.items():
        questions = questions_in(path, condition, limit, seed)
        sizes = sorted({len(example.candidates) for example in questions.examples})
        asked[condition] = {"n": len(questions.examples), "candidates": sizes, "drawn": questions.drawn}
        for one in judged:
            begun = time.perf_counter()
            scores = scores_of(one, questions.examples, _on(progress, condition), cache, training)
            asked[condition].setdefault("seconds", {})[one.name] = round(time.perf_counter() - begun, 2)
            places = [gold_ranks(row, example.gold) for row, example in zip(scores, questions.examples)]
            names = [example.name for example in questions.examples]
            result = Items({"agent": one.name, "condition": condition}, names, [place[0] for place in places])
            items.append(result)
            rows += _rows(one, questions, split, result, seed)
            if condition == told_on(list(files)):
                mistakes += worst(one.name, questions, scores, result.ranks)
    settings = {"split": split, "paper": PAPER_IS, "resamples": RESAMPLES, "swaps": SWAPS, "conditions": asked}
    settings["word_weights"] = None if training is None else training.name
    used = [*files.values(), *([training] if training else [])]
    manifest = manifest_of("personachat", used, seed, limit, settings)
    manifest["agents"] = {one.name: getattr(one.agent, "card", None) for one in judged}
    if save_items is not None:
        write_items(save_items, items, manifest)
    return {
        "rows": rows,
        "comparisons": compared(items, RANKING, "condition", seed),
        "mistakes": mistakes,
        "manifest": manifest,
        "items": [one.document() for one in items],
    }


def _rows(judged: Judged, questions: Questions, split: str, items: Items, seed: int) -> list[Row]:
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


def _on(progress: Watch, condition: str) -> Watch:
    return lambda doing, done, total: progress(f"{doing}, {condition}", done, total)
