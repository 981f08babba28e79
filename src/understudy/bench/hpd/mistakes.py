"""The sessions that an agent got most wrong, for a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from understudy.bench.generation.rows import Row
from understudy.bench.hpd.ranking import session_ranks
from understudy.dialogue import Example

__all__ = ["worst_sessions"]

SHOWN = 10


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
