"""Made-up people: the more skilled, the more they agree."""

from __future__ import annotations

from pathlib import Path

from studies.studies import items, study
from understudy.studies.agreement import agreement_of, failed_checks
from understudy.studies.attention import attention_checks
from understudy.studies.crowd import simulate_crowd
from understudy.studies.status import status_of
from understudy.studies.store import open_study_store


def alpha_of_a_crowd(path: Path, skill: float) -> float:
    with open_study_store(path) as store:
        own = study(people_per_item=5, items_per_person=20)
        simulate_crowd(store, "first", own, items(20), 5, skill)
        stored = store.study("first")
        status = status_of(store, stored)
        assert (status.answers, status.complete) == (100, 20)
        rows = agreement_of(own, store.given(stored.id)).rows
    return next(float(row["value"]) for row in rows if row["metric"] == "alpha")


def test_agreement_grows_with_skill(tmp_path: Path) -> None:
    guessing, fair, perfect = (alpha_of_a_crowd(tmp_path / f"{skill}.db", skill) for skill in (0.0, 0.7, 1.0))
    assert abs(guessing) < 0.25
    assert guessing < fair < perfect == 1.0


def test_people_without_skill_fail_checks(tmp_path: Path) -> None:
    own = study(people_per_item=30, items_per_person=4, checks=1)
    with open_study_store(tmp_path / "crowd.db") as store:
        simulate_crowd(store, "first", own, [*items(), *attention_checks(own, items())], 30, 0.0)
        failed = failed_checks(store.given(store.study("first").id))
    assert len(failed) == 30
    assert 5 < sum(failed.values()) < 25, "half of those who answer anything are right by chance"
