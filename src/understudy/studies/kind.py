"""What a kind of study is: functions that make its items, check its answers and write its results.

A kind is one module of `studies/kinds/` with a `KIND`; `kinds/__init__.py` lists them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy.progress import Progress
from understudy.studies.item import Answer, Item, Problem
from understudy.studies.study import Study

__all__ = ["GivenAnswer", "Kind"]


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One person's answer to one item."""

    item: Item
    person: str
    """A pseudonym such as 'p7'."""
    answer: Answer
    comment: str = ""
    seconds: float = 0.0
    answered: str = ""


def _no_problems(_: Item, __: Answer) -> list[Problem]:
    return []


def _as_it_is(item: Item, _: Mapping[str, Sequence[GivenAnswer]]) -> Item:
    return item


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    summary: str
    """What a person does, in a few words."""
    template: str
    """The study.toml that `study new` writes, with every key it may have and a comment for each."""
    items: Callable[[Study, Progress], list[Item]]
    """Makes the items of a study from its material."""
    simulate: Callable[[Item, float, random.Random], dict[str, Any]]
    """The answer of a made-up participant of a skill from 0 (guesses) to 1 (always right, where there is a right)."""
    problems: Callable[[Item, Answer], list[Problem]] = _no_problems
    """Why an answer is not accepted, beyond what its questions ask; called as one types, too."""
    prepared: Callable[[Item, Mapping[str, Sequence[GivenAnswer]]], Item] = _as_it_is
    """An item with `after` as it is shown, with the answers to those items laid into it."""
    outputs: Mapping[str, Callable[[Study, Sequence[GivenAnswer], Path], None]] = field(default_factory=dict)
    """Formats of this kind's own for `study results --format NAME`, such as what a bench reads; writes the file."""
    unblinding: frozenset[str] = frozenset()
    """Those of `outputs` that say which agent wrote what: they are written only with `--unblind`, which is logged."""
    figures: Callable[[Study, Sequence[GivenAnswer]], list[dict[str, Any]]] | None = None
    """Rows ({..., "metric", "value", "low", "high", "n", "paper"}) of this kind's own for `study agree`, such as a
    paper's table; agreement between people is worked out for every kind alike."""
    is_live: bool = False
    """People are paired and talk with each other (kind `chat`): items are given out by `studies.pairing`."""
