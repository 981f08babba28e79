"""Single questions for a report to show: an agent's worst mistakes, and its first replies in its own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from understudy.bench.generation import GeneratedReply, right_replies
from understudy.dialogue import Example
from understudy.metrics.generation import reference_f1

__all__ = ["SHOWN", "first_replies", "worst_mistakes"]

Row = dict[str, Any]
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


def first_replies(
    judged_on: Mapping[str, str], examples: Sequence[Example], replies: Sequence[GeneratedReply]
) -> list[Row]:
    """What the agent said, with a right reply and the F1 of the two."""
    answered = [(example, reply.text) for example, reply in zip(examples, replies) if reply.text is not None]
    return [
        {**judged_on, **_told(example), "gold": right[0], "reply": text}
        | {"f1": reference_f1(text, right, example.situation.persona.language)}
        for example, text in answered[:SHOWN]
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
