"""Questions on a scale from 1 to 5, and what is worked out of their answers for every agent that was rated."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from understudy.metrics.statistics import Estimate, interval
from understudy.studies.item import Item, Option, Question
from understudy.studies.kind import GivenAnswer

__all__ = ["RATED_SCALES", "Row", "mean_row", "scale_question", "simulated_rating", "without_checks"]

Row = dict[str, Any]
STEPS = 5


def scale_question(name: str, label: str, least: str, most: str) -> Question:
    """From 1 to 5; only the ends have labels."""
    labels = {1: least, STEPS: most}
    options = tuple(Option(str(step), labels.get(step, "")) for step in range(1, STEPS + 1))
    return Question(name, "scale", label, options)


RATED_SCALES = (
    scale_question("fluency", "How fluent is what they write?", "not fluent at all", "extremely fluent"),
    scale_question("engagingness", "How engaging are they?", "not engaging at all", "extremely engaging"),
    scale_question("consistency", "How consistent are they with themselves?", "not at all", "extremely"),
)
"""What PersonaChat's people rated a partner by."""


def simulated_rating(question: Question, agent: str, item: Item, skill: float, rng: random.Random) -> int:
    """Everybody of skill 1 gives what the agent leans to, a step more or less for each item; skill 0 draws a step."""
    if rng.random() >= skill:
        return int(rng.choice(question.options).key)
    leaning = random.Random(f"{agent} {question.name}").uniform(2, 4)  # noqa: S311
    drift = random.Random(f"{item.name} {question.name}").choice((-1, 0, 1))  # noqa: S311
    return min(STEPS, max(1, round(leaning) + drift))


def without_checks(given: Iterable[GivenAnswer]) -> list[GivenAnswer]:
    """The answers that say something of the material: an attention check's are about the person."""
    return [each for each in given if not each.item.is_check]


def mean_row(
    about: Mapping[str, Any],
    metric: str,
    given: Iterable[GivenAnswer],
    value: Callable[[GivenAnswer], float | None],
    paper: float | None = None,
    seed: int = 0,
) -> Row:
    """The mean of a value over answers, those without one left out, and its interval.

    Bootstrapped is what stands before the first dot of an item's name: whole chats, whole scenes.
    """
    values = [(number, each.item.name.partition(".")[0]) for each in given if (number := value(each)) is not None]
    if not values:
        return {**about, **Estimate.missing(metric, 0, "nobody has answered this").row(), "paper": paper}
    figure = interval([number for number, _ in values], [group for _, group in values], seed)
    return {**about, **Estimate.of(metric, figure, len(values), "").row(), "paper": paper}
