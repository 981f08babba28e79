"""Attention checks: items whose right answer is written above them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from understudy.errors import InputError
from understudy.studies.item import Block, Item, Question, Said
from understudy.studies.study import Study

__all__ = ["attention_checks", "check_positions"]

CHOSEN_TYPES = ("scale", "choice")


def attention_checks(study: Study, items: Sequence[Item]) -> list[Item]:
    """As many as each person is given; they look like the study's own items until they are read."""
    rng = random.Random(f"{study.seed} checks")  # noqa: S311
    candidates = [item for item in items if all(question.type in CHOSEN_TYPES for question in item.questions)]
    if study.checks and not candidates:
        raise InputError(
            f"attention checks are made of items that have only scales and single choices, and this `{study.kind}` "
            "study has none: set `checks = 0`"
        )
    return [_check(rng.choice(candidates), number + 1, rng) for number in range(study.checks)]


def check_positions(study: Study, ordinary: int, code: str) -> frozenset[int]:
    """After how many answers of a person a check comes; never before the first."""
    rng = random.Random(f"{study.seed} {code}")  # noqa: S311
    last = max(1, min(ordinary, study.items_per_person))
    return frozenset(rng.sample(range(1, last + 1), min(study.checks, last)))


def _check(item: Item, number: int, rng: random.Random) -> Item:
    chosen = {question.name: rng.choice(question.options) for question in item.questions}
    wanted = "; ".join(
        f"{question.label} {_called(question, chosen[question.name].key)}" for question in item.questions
    )
    text = f"This one is here to see that it is read. Whatever you think of what stands above, answer: {wanted}"
    expected = {
        question.name: int(chosen[question.name].key) if question.type == "scale" else chosen[question.name].key
        for question in item.questions
    }
    blocks = (*item.blocks, Block("Please read", (Said(None, text, is_asked=True),)))
    return Item(f"check {number}", blocks, item.questions, {}, expected)


def _called(question: Question, key: str) -> str:
    label = next(option.label for option in question.options if option.key == key)
    return f"{key} ({label})" if question.type == "scale" and label else label or key
