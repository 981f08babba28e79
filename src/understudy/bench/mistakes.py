"""The questions an agent got most wrong: what was asked, what was right, and what it chose instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from understudy.bench.questions import Questions
from understudy.dialogue import Example

__all__ = ["KEPT", "told_on", "worst"]

KEPT = 10
TELLING = ("self_original", "self_revised", "both_original", "both_revised", "other_original", "other_revised", "none")


def told_on(conditions: Sequence[str]) -> str:
    """The condition whose mistakes tell most: the one on which the agent should have known best."""
    return min(conditions, key=TELLING.index)


def worst(agent: str, questions: Questions, scores: Sequence[Sequence[float]], ranks: Sequence[int]) -> list[Any]:
    """The right reply furthest down, and of these by the largest margin."""
    found = [
        (rank, max(row) - max(row[gold] for gold in example.gold), place)
        for place, (row, example, rank) in enumerate(zip(scores, questions.examples, ranks))
        if rank > 1
    ]
    return [
        {"agent": agent, "condition": questions.condition, **_told(questions.examples[place], scores[place], rank)}
        for rank, _, place in sorted(found, reverse=True)[:KEPT]
    ]


def _told(example: Example, scores: Sequence[float], rank: int) -> dict[str, Any]:
    right = max(example.gold, key=scores.__getitem__)
    wrong = [place for place in range(len(scores)) if place not in example.gold]
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
