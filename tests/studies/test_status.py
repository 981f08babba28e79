"""How far a study is: what the database counts is what the answers say, and nobody's minute is told."""

from __future__ import annotations

import re
from collections import Counter
from statistics import median_high

import pytest

from studies.samples import items, study
from understudy.studies import status
from understudy.studies.opening import attention_checks
from understudy.studies.participation import give_answer, give_consent, take_back, view
from understudy.studies.status import status_of
from understudy.studies.store import StoredStudy, StudyStore


@pytest.fixture
def answered(store: StudyStore) -> StoredStudy:
    """Two of three people answer, one of them the checks wrongly; the other takes the last answer back."""
    checked = study(checks=1, items_per_person=4)
    asked = items(4)
    stored = store.add_study("first", checked, [*asked, *attention_checks(checked, asked)])
    tokens = store.invite("first", 3)
    for number, token in enumerate(tokens[:2]):
        shown = give_consent(store, token, {})
        while shown.assignment is not None:
            assert shown.item is not None
            right = shown.item.expected or {"likely": "likely"}
            wrong = {"likely": "unlikely" if right["likely"] == "likely" else "likely"}
            progress = shown.progress.answered
            answer = wrong if number and shown.item.is_check else right
            give_answer(store, token, shown.assignment, answer, f"{number}.{progress}", float(progress * (number + 1)))
            shown = view(store, token)
    take_back(store, tokens[0])
    return stored


def test_counts_are_those_of_the_answers(store: StudyStore, answered: StoredStudy) -> None:
    answers = store.answers(answered.id)
    ordinary = [each for each in answers if not each.item.is_check]
    by_item = Counter(each.item.name for each in ordinary)

    state = status_of(store, answered)

    assert (state.items, state.wanted, state.answers) == (4, 8, len(ordinary))
    assert len(ordinary) in (7, 8)
    assert state.complete == sum(count >= 2 for count in by_item.values())
    assert state.seconds == median_high([each.seconds for each in ordinary if each.seconds])
    assert state.pace == sorted(Counter(each.answered[:13] for each in answers).items())
    assert state.comments == [(each.item.name, each.comment) for each in reversed(answers)]
    by_person = Counter(each.person for each in answers)
    assert {person.code: person.answered for person in state.people} == {
        code: by_person[code] for code in ("p1", "p2", "p3")
    }
    assert {person.code: person.failed_checks for person in state.people} == {"p1": 0, "p2": 1, "p3": 0}
    assert [person.state for person in state.people] == ["active", "active", "invited"]


def test_when_somebody_was_seen_is_told_to_the_hour(store: StudyStore, answered: StoredStudy) -> None:
    seen = [person.last_seen for person in status_of(store, answered).people]
    assert seen[2] is None
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:00Z", time or "") for time in seen[:2])


def test_only_answers_to_checks_are_parsed(
    store: StudyStore, answered: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    answers = StudyStore.answers
    monkeypatch.setattr(StudyStore, "items", lambda *_: pytest.fail("every item was parsed"))

    def remembered(self: StudyStore, number: int, names: list[str] | None = None) -> object:
        loaded.append(names)
        return answers(self, number, names)

    monkeypatch.setattr(StudyStore, "answers", remembered)
    status_of(store, answered)
    assert loaded == [["check 1"]]


def test_a_study_that_nobody_has_answered(store: StudyStore) -> None:
    state = status_of(store, store.add_study("first", study(), items(2)))
    assert (state.items, state.complete, state.answers, state.wanted) == (2, 0, 0, 4)
    assert (state.people, state.pace, state.seconds, state.comments) == ([], [], None, [])


def test_the_newest_comments_are_shown(
    store: StudyStore, answered: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = store.answers(answered.id)
    monkeypatch.setattr(status, "MOST_COMMENTS", 1)
    assert status_of(store, answered).comments == [(answers[-1].item.name, answers[-1].comment)]
