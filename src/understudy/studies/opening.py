"""Open a study in a database: its items and attention checks are made once, when it is first opened."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from understudy.errors import InputError
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Agent
from understudy.studies.item import Block, Question, ShownLine, StudyItem
from understudy.studies.kinds import kind_of
from understudy.studies.questions import load_agents
from understudy.studies.store import StoredStudy, StudyStore
from understudy.studies.study import Study, load_study

__all__ = ["agents_of", "attention_checks", "make_items", "open_study", "study_name"]

CHOSEN_TYPES = ("scale", "choice")


def study_name(path: Path) -> str:
    """What a study is called in a database, unless it is given another name: its file, without the ending."""
    return path.stem


def make_items(study: Study, progress: Progress = ignore_progress) -> list[StudyItem]:
    """The study's items and its attention checks."""
    items = kind_of(study.kind).items(study, progress)
    if not items:
        raise InputError("the material gives no item to ask about: see the comments under [material]")
    return [*items, *attention_checks(study, items)]


def open_study(
    store: StudyStore, path: Path, name: str | None = None, progress: Progress = ignore_progress
) -> StoredStudy:
    """A study that is there keeps its items; texts and limits of the file are taken over."""
    study, name = load_study(path), name or study_name(path)
    known = {stored.name: stored for stored in store.studies()}
    has_items = name in known and known[name].study.digest == study.digest
    return store.add_study(name, study, () if has_items else make_items(study, progress))


def agents_of(studies: Sequence[Study]) -> dict[str, Agent]:
    """The agents that people of live studies may talk with."""
    live = [study for study in studies if kind_of(study.kind).is_live and study.material.get("agents")]
    return load_agents(list(dict.fromkeys(name for study in live for name in study.texts("agents"))))


def attention_checks(study: Study, items: Sequence[StudyItem]) -> list[StudyItem]:
    """As many as each person is given; they look like the study's own items until they are read."""
    rng = random.Random(f"{study.seed} checks")  # noqa: S311
    candidates = [item for item in items if all(question.type in CHOSEN_TYPES for question in item.questions)]
    if study.checks and not candidates:
        raise InputError(
            f"attention checks are made of items that have only scales and single choices, and this `{study.kind}` "
            "study has none: set `checks = 0`"
        )
    return [_check(rng.choice(candidates), number + 1, rng) for number in range(study.checks)]


def _check(item: StudyItem, number: int, rng: random.Random) -> StudyItem:
    chosen = {question.name: rng.choice(question.options) for question in item.questions}
    wanted = "; ".join(
        f"{question.label} {_called(question, chosen[question.name].key)}" for question in item.questions
    )
    text = f"This one is here to see that it is read. Whatever you think of what stands above, answer: {wanted}"
    expected = {
        question.name: int(chosen[question.name].key) if question.type == "scale" else chosen[question.name].key
        for question in item.questions
    }
    blocks = (*item.blocks, Block("Please read", (ShownLine(None, text, is_asked=True),)))
    return StudyItem(f"check {number}", blocks, item.questions, {}, expected)


def _called(question: Question, key: str) -> str:
    label = next(option.label for option in question.options if option.key == key)
    return f"{key} ({label})" if question.type == "scale" and label else label or key
