"""Agreement is worked out when there is something new, and not too often."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from studied import RATED, study_of
from understudy.server.studies import context
from understudy.server.studies.context import AgreementCache
from understudy.studies.agreement import Agreement, agreement_of
from understudy.studies.kind import GivenAnswer
from understudy.studies.store import StoredStudy
from understudy.studies.study import Study

STORED = StoredStudy(1, "mara", study_of(), None)


def given(count: int) -> list[GivenAnswer]:
    return [GivenAnswer(RATED, f"p{number}", {"fluency": 4, "fits": "yes"}) for number in range(count)]


def test_figures_stay_until_answers_come_and_a_while_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out: list[int] = []

    def counted(study: Study, answers: Sequence[GivenAnswer]) -> Agreement:
        worked_out.append(len(answers))
        return agreement_of(study, answers)

    monkeypatch.setattr(context, "agreement_of", counted)
    now = [0.0]
    cache = AgreementCache(every_s=30, clock=lambda: now[0])
    assert cache.rows_of(STORED, given(2)).answers == 2
    assert cache.rows_of(STORED, given(2)).answers == 2 and len(worked_out) == 1
    now[0] = 10
    assert cache.rows_of(STORED, given(3)).answers == 2 and len(worked_out) == 1
    now[0] = 31
    assert cache.rows_of(STORED, given(3)).answers == 3 and len(worked_out) == 2
    now[0] = 100
    assert cache.rows_of(STORED, given(3)).answers == 3 and len(worked_out) == 2


def test_rows_are_those_of_the_study() -> None:
    rows = AgreementCache().rows_of(STORED, given(3)).rows
    assert {row["question"] for row in rows} == {"fluency", "fits"}
