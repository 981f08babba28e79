"""A crowd of made-up participants, to try a study before people are paid for it.

They go the way of real ones: each has a link, agrees, is given items and answers them, until nothing is left for them.
Their answers are the kind's `simulate` at a given skill, and stand in a database of their own, never beside people's.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from understudy.progress import Progress, ignore_progress
from understudy.studies.item import Item
from understudy.studies.kinds import kind_of
from understudy.studies.participation import View, give_answer, give_consent, view
from understudy.studies.store import StudyStore
from understudy.studies.study import Study

__all__ = ["simulate_crowd"]


def simulate_crowd(
    store: StudyStore,
    name: str,
    study: Study,
    items: Sequence[Item],
    people: int,
    skill: float,
    progress: Progress = ignore_progress,
) -> None:
    """Open the study in an empty store and let `people` of one skill answer it."""
    store.add_study(name, study, items)
    kind = kind_of(study.kind)
    for number, token in enumerate(store.invite(name, people)):
        progress("People", number, people)
        rng = random.Random(f"{study.seed} {number}")  # noqa: S311
        shown = give_consent(store, token, dict.fromkeys(study.ask, "made up"))
        while shown.item is not None:
            answer = _answer(shown, skill, rng) if shown.item.is_check else kind.simulate(shown.item, skill, rng)
            assert shown.assignment is not None
            give_answer(store, token, shown.assignment, answer, seconds=rng.uniform(5, 60))
            shown = view(store, token)
    progress("People", people, people)


def _answer(shown: View, skill: float, rng: random.Random) -> dict[str, object]:
    """To an attention check: as asked, or anything."""
    assert shown.item is not None
    assert shown.item.expected is not None
    if rng.random() < skill:
        return dict(shown.item.expected)
    return {
        question.name: int(chosen.key) if question.type == "scale" else chosen.key
        for question in shown.item.questions
        for chosen in [rng.choice(question.options)]
    }
