"""Consistency with the persona, on Dialogue NLI's three sets: does the agent's first choice contradict who it is?

Each question has one right reply, some that contradict a sentence of the persona, some that are about the same thing
without contradicting it ('similar'), and some at random.

    hits@1, contradict@1, similar@1, random@1   share of the questions on which the first choice is of that kind

They add up to 1. Of candidates with the same score the worst kind is taken to be first: one that contradicts before
one at random, before a similar one, before the right reply.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy.bench.answers import judged_agent, scores_of
from understudy.bench.run import Items, Row, compared, document_of, figure_row, manifest_of, progress_on, sampled
from understudy.errors import InputError
from understudy.metrics.ranking import gold_ranks
from understudy.metrics.statistics import RESAMPLES, SWAPS, interval
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Example, Situation, Turn
from understudy.story.persona import Other, Persona

SETS = ("attributes", "havenot", "likedislike")
KINDS = {"neg": "contradict@1", "rand": "random@1", "similar": "similar@1", "label": "hits@1"}
"""The data's names for the kinds of candidates, worst first, and the metric each counts for."""

METRICS = ("hits@1", "contradict@1", "similar@1", "random@1")
OWN, PARTNER = "Person B", "Person A"

KindedQuestion = tuple[Example, tuple[str, ...]]
"""A question and the kind of each of its candidates."""


def bench_consistency(
    data: Path,
    agents: Sequence[str] = ("tfidf",),
    limit: int | None = None,
    seed: int = 0,
    progress: Progress = ignore_progress,
    save_items: Path | None = None,
) -> dict[str, Any]:
    """Rows, comparisons and manifest for the sets that the folder has."""
    files = {name: path for name in SETS if (path := data / f"valid_{name}.jsonl").is_file()}
    if not files:
        raise InputError(f"holds no valid_{SETS[0]}.jsonl: name the folder that has Dialogue NLI's sets", data)
    if not agents:
        raise InputError("name at least one agent to judge")
    judged = [judged_agent(spec) for spec in dict.fromkeys(agents)]
    rows, items = list[Row](), list[Items]()
    for name, path in files.items():
        questions = sampled(_questions(path), limit, seed)
        examples = [example for example, _ in questions]
        for agent in judged:
            scores = scores_of(agent, examples, progress_on(progress, name))
            firsts = [_first(row, kinds) for row, (_, kinds) in zip(scores, questions)]
            marks = {metric: [float(first == metric) for first in firsts] for metric in METRICS}
            ranks = [gold_ranks(row, example.gold)[0] for row, example in zip(scores, examples)]
            keys = {"agent": agent.name, "set": name}
            items.append(Items(keys, [example.name for example in examples], ranks, marks))
            by_reply = {} if agent.judged_by is None else {"judged_by": agent.judged_by}
            what = {**keys, "trained_on": agent.trained_on, **by_reply}
            rows += [figure_row(what, metric, (interval(marks[metric], seed=seed), len(firsts))) for metric in METRICS]
    settings = {"resamples": RESAMPLES, "swaps": SWAPS}
    manifest = manifest_of("consistency", files.values(), seed, limit, settings)
    return document_of(rows, items, manifest, save_items, comparisons=compared(items, METRICS[:2], "set", seed))


def _first(scores: Sequence[float], kinds: Sequence[str]) -> str:
    top = max(scores)
    return next(metric for kind, metric in KINDS.items() if (kind, top) in zip(kinds, scores))


def _questions(path: Path) -> list[KindedQuestion]:
    questions = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                questions.append(_question(line, number, path))
    if not questions:
        raise InputError("puts no question", path)
    return questions


def _question(line: str, number: int, path: Path) -> KindedQuestion:
    try:
        record = json.loads(line)
        persona, prefix, offered = record["persona"], record["prefix"], record["candidates"]
        texts = [(kind, str(text)) for kind in KINDS for text in offered.get(kind, ())]
        right = frozenset(index for index, (kind, _) in enumerate(texts) if kind == "label")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError("is not a question of Dialogue NLI: persona, prefix and candidates", path, number) from error
    if not right:
        raise InputError("has no right reply among its candidates", path, number)
    # The reply is the persona's, so the last thing said was the partner's, and before that they took turns.
    speakers = [PARTNER if (len(prefix) - index) % 2 else OWN for index in range(len(prefix))]
    history = tuple(Turn(speaker, str(text)) for speaker, text in zip(speakers, prefix))
    faced = Other(PARTNER)
    situation = Situation(Persona(OWN, profile=tuple(map(str, persona))), faced=faced, present=(faced,))
    example = Example(situation, history, tuple(text for _, text in texts), right, str(number))
    return example, tuple(kind for kind, _ in texts)
