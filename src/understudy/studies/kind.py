"""What a kind of study is: functions that make its items, check its answers and write its results.

Kinds are in the modules of `studies/kinds/`; `kinds/__init__.py` lists them. Kinds that have people rate
agents share the scales from 1 to 5 and the rows of means that are below.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from understudy.metrics.statistics import Estimate, interval
from understudy.progress import Progress
from understudy.story.storyfile.toml_tables import replace_text
from understudy.studies import Study
from understudy.studies.item import Answer, Option, Problem, Question, StudyItem

Row = dict[str, Any]
Key = TypeVar("Key")
STEPS = 5


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One person's answer to one item."""

    item: StudyItem
    person: str
    """A pseudonym such as 'p7'."""
    answer: Answer
    comment: str = ""
    seconds: float = 0.0
    answered: str = ""


def _no_problems(_: StudyItem, __: Answer) -> list[Problem]:
    return []


def _as_it_is(item: StudyItem, _: Mapping[str, Sequence[GivenAnswer]]) -> StudyItem:
    return item


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    summary: str
    """What a person does, in a few words."""
    template: str
    """The study.toml that `study new` writes, with every key it may have and a comment for each."""
    items: Callable[[Study, Progress], list[StudyItem]]
    """Makes the items of a study from its material."""
    simulate: Callable[[StudyItem, float, random.Random], dict[str, Any]]
    """The answer of a made-up participant of a skill from 0 (guesses) to 1 (always right, where there is a right)."""
    problems: Callable[[StudyItem, Answer], list[Problem]] = _no_problems
    """Why an answer is not accepted, beyond what its questions ask; called as one types, too."""
    prepared: Callable[[StudyItem, Mapping[str, Sequence[GivenAnswer]]], StudyItem] = _as_it_is
    """An item with `after` as it is shown, with the answers to those items laid into it."""
    outputs: Mapping[str, Callable[[Study, Sequence[GivenAnswer], Path], None]] = field(default_factory=dict)
    """Formats of this kind's own for `study results --format NAME`, such as what a bench reads; writes the file."""
    unblinding: frozenset[str] = frozenset()
    """Those of `outputs` that say which agent wrote what: they are written only with `--unblind`, which is logged."""
    figures: Callable[[Study, Sequence[GivenAnswer]], list[dict[str, Any]]] | None = None
    """Rows ({..., "metric", "value", "low", "high", "n", "paper"}) of this kind's own for `study agree`, such as a
    paper's table; agreement between people is worked out for every kind alike."""
    is_live: bool = False
    """People are paired and talk with each other (kind `chat`): items are given out by `studies.assignment`."""


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


def simulated_rating(question: Question, agent: str, item: StudyItem, skill: float, rng: random.Random) -> int:
    """Everybody of skill 1 gives what the agent leans to, a step more or less for each item; skill 0 draws a step."""
    if rng.random() >= skill:
        return int(rng.choice(question.options).key)
    leaning = random.Random(f"{agent} {question.name}").uniform(2, 4)  # noqa: S311
    drift = random.Random(f"{item.name} {question.name}").choice((-1, 0, 1))  # noqa: S311
    return min(STEPS, max(1, round(leaning) + drift))


def write_json_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    replace_text(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


def answers_by(key: Callable[[GivenAnswer], Key], answers: Iterable[GivenAnswer]) -> dict[Key, list[GivenAnswer]]:
    """Answers in groups that are alike in something, in the order in which these come."""
    groups = defaultdict[Key, list[GivenAnswer]](list)
    for each in answers:
        groups[key(each)].append(each)
    return dict(groups)


def without_checks(answers: Iterable[GivenAnswer]) -> list[GivenAnswer]:
    """The answers that say something of the material: an attention check's are about the person."""
    return [each for each in answers if not each.item.is_check]


def mean_row(
    about: Mapping[str, Any],
    metric: str,
    answers: Iterable[GivenAnswer],
    value: str | Callable[[GivenAnswer], float | None],
    paper: float | None = None,
    seed: int = 0,
) -> Row:
    """The mean of a value over answers, those without one left out, and its interval; `value` may name a question.

    Bootstrapped is what stands before the first dot of an item's name: whole chats, whole scenes.
    """
    given = [(each, each.answer.get(value) if isinstance(value, str) else value(each)) for each in answers]
    values = [(number, each.item.name.partition(".")[0]) for each, number in given if number is not None]
    if not values:
        return {**about, **Estimate.missing(metric, 0, "nobody has answered this").row(), "paper": paper}
    figure = interval([number for number, _ in values], [group for _, group in values], seed)
    return {**about, **Estimate.of(metric, figure, len(values), "").row(), "paper": paper}
