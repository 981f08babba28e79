"""Agreement is worked out when there is something new, and not too often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from studyserver import RATED, study_of
from understudy.server import studies as context
from understudy.server.studies import AgreementCache
from understudy.studies import Study, participation
from understudy.studies.kind import GivenAnswer
from understudy.studies.status import rows_of
from understudy.studies.store import StudyStore


def answer(store: StudyStore, name: str) -> None:
    (token,) = store.invite(name, 1)
    view = participation.give_consent(store, token, {})
    participation.give_answer(store, token, view.assignment or 0, {"fluency": 4, "fits": "yes"})


def test_figures_stay_until_answers_come_and_a_while_has_passed(
    store: StudyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked_out: list[int] = []

    def counted(study: Study, answers: Sequence[GivenAnswer]) -> list[dict[str, Any]]:
        worked_out.append(len(answers))
        return rows_of(study, answers)

    monkeypatch.setattr(context, "rows_of", counted)
    stored = store.add_study("rated", study_of(people_per_item=9), [RATED])
    now = [0.0]
    cache = AgreementCache(every_s=30, clock=lambda: now[0])

    def rows_at(time: float) -> int:
        now[0] = time
        return cache.rows_of(store, stored, len(store.answers(stored.id))).answers

    answer(store, "rated")
    answer(store, "rated")
    assert (rows_at(0), rows_at(1), worked_out) == (2, 2, [2])
    answer(store, "rated")
    assert (rows_at(10), rows_at(31), rows_at(100), worked_out) == (2, 3, 3, [2, 3])
    assert (rows_at(400), worked_out) == (3, [2, 3, 3]), "one may have been given anew"
    rows = cache.rows_of(store, stored, 3).rows
    assert {row["question"] for row in rows} == {"fluency", "fits"}
