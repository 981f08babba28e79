"""Open a study in a database: its items are made once, when it is first opened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from understudy.errors import InputError
from understudy.progress import Progress, ignore_progress
from understudy.story.dialogue import Agent
from understudy.studies.attention import attention_checks
from understudy.studies.item import Item
from understudy.studies.kinds import kind_of
from understudy.studies.material import load_agents
from understudy.studies.store import StoredStudy, StudyStore
from understudy.studies.study import Study, load_study

__all__ = ["agents_of", "make_items", "open_study", "study_name"]


def study_name(path: Path) -> str:
    """What a study is called in a database, unless it is given another name: its file, without the ending."""
    return path.stem


def make_items(study: Study, progress: Progress = ignore_progress) -> list[Item]:
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
