"""A person agrees, answers, takes back and withdraws; nothing is given twice, and nothing of theirs stays."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from studies.samples import items, study
from understudy.errors import InputError
from understudy.studies.opening import attention_checks
from understudy.studies.participation import (
    AnswerRefused,
    View,
    check_answer,
    give_answer,
    give_consent,
    take_back,
    view,
    withdraw,
)
from understudy.studies.store import StudyStore, UnknownToken, open_study_store

YES, NO = {"likely": "likely"}, {"likely": "unlikely"}


def begun(store: StudyStore, people: int = 1, count: int = 4, **changes: object) -> list[str]:
    store.add_study("first", study(**changes), items(count))
    tokens = store.invite("first", people)
    for token in tokens:
        give_consent(store, token, {})
    return tokens


def answered(store: StudyStore, token: str, answer: Mapping[str, object] = YES) -> View:
    shown = view(store, token)
    assert shown.assignment is not None
    return give_answer(store, token, shown.assignment, answer)


def test_nothing_is_shown_before_consent(store: StudyStore) -> None:
    store.add_study("first", study(), items())
    (token,) = store.invite("first", 1)
    assert view(store, token).state == "consent"
    assert view(store, token).item is None
    assert give_consent(store, token, {}).state == "item"


def test_what_is_asked_of_a_person_must_be_said(store: StudyStore) -> None:
    store.add_study("first", study(ask=("age",)), items())
    (token,) = store.invite("first", 1)
    with pytest.raises(AnswerRefused) as refused:
        give_consent(store, token, {"age": " "})
    assert refused.value.problems[0].question == "age"
    give_consent(store, token, {"age": "40", "name": "Ann"})
    assert store.asked_of(store.study("first").id) == {"p1": {"age": "40"}}, "and nothing else is kept"


def test_each_item_once_up_to_the_limit(store: StudyStore) -> None:
    (token,) = begun(store)
    names = []
    while (shown := view(store, token)).item is not None:
        names.append(shown.item.name)
        answered(store, token)
    assert len(names) == len(set(names)) == 3
    assert view(store, token).state == "done"
    assert view(store, token).progress.answered == 3


def test_hidden_values_are_not_in_what_is_sent(store: StudyStore) -> None:
    (token,) = begun(store)
    assert "bot" not in json.dumps(view(store, token).document())


def test_items_fill_up_alike_and_nobody_is_asked_too_often(store: StudyStore) -> None:
    tokens = begun(store, people=4, count=6)
    for _ in range(3):
        for token in tokens:
            answered(store, token)
    counts = Counter(each.item.name for each in store.answers(store.study("first").id))
    assert counts == dict.fromkeys((item.name for item in items(6)), 2)


def test_people_have_different_orders(store: StudyStore) -> None:
    tokens = begun(store, people=6, count=30, people_per_item=6, items_per_person=30)
    firsts = {shown.item.name for token in tokens if (shown := view(store, token)).item is not None}
    assert len(firsts) > 1


def test_the_same_answer_sent_twice_counts_once_and_another_is_refused(store: StudyStore) -> None:
    (token,) = begun(store)
    assignment = view(store, token).assignment
    assert assignment is not None
    give_answer(store, token, assignment, YES)
    give_answer(store, token, assignment, YES)
    assert len(store.answers(store.study("first").id)) == 1
    with pytest.raises(InputError, match="take the answer back"):
        give_answer(store, token, assignment, NO)


def test_a_wrong_answer_is_refused_with_what_is_wrong(store: StudyStore) -> None:
    (token,) = begun(store)
    assignment = view(store, token).assignment
    assert assignment is not None
    wrong: tuple[object, ...] = ({}, {"likely": "perhaps"}, {"other": "likely"}, [], {"likely": ["likely"]})
    for answer in wrong:
        with pytest.raises(AnswerRefused):
            give_answer(store, token, assignment, answer)
    assert not store.answers(store.study("first").id)
    assert check_answer(store, token, assignment, {}) == [], "nothing is missing while one still writes"
    assert check_answer(store, token, assignment, {"likely": "perhaps"})[0].question == "likely"


def test_somebody_elses_item_cannot_be_answered(store: StudyStore) -> None:
    one, other = begun(store, people=2)
    assignment = view(store, one).assignment
    assert assignment is not None
    with pytest.raises(InputError, match="not yours"):
        give_answer(store, other, assignment, YES)


def test_the_last_answer_can_be_taken_back_and_changed(store: StudyStore) -> None:
    (token,) = begun(store)
    first = view(store, token)
    answered(store, token)
    again = take_back(store, token)
    assert first.item is not None
    assert again.item is not None
    assert again.item.name == first.item.name
    assert again.draft == YES
    assert not store.answers(store.study("first").id), "an answer that was taken back is no answer"
    answered(store, token, NO)
    assert [each.answer for each in store.answers(store.study("first").id)] == [NO]


def test_nothing_to_take_back(store: StudyStore) -> None:
    (token,) = begun(store)
    with pytest.raises(InputError, match="no answer to take back"):
        take_back(store, token)


def test_withdrawing_leaves_nothing_behind(store: StudyStore) -> None:
    one, other = begun(store, people=2)
    for token in (one, other):
        shown = view(store, token)
        assert shown.assignment is not None
        give_answer(store, token, shown.assignment, YES, comment=f"remark {store.person(token).code}")
    withdraw(store, one)
    left = store.answers(store.study("first").id)
    assert [(each.person, each.comment) for each in left] == [("p2", "remark p2")]
    with pytest.raises(UnknownToken):
        view(store, one)
    assert [code for (code,) in store.database.rows("SELECT code FROM people")] == ["p2"]
    assert not store.database.rows("SELECT 1 FROM assignments WHERE person NOT IN (SELECT id FROM people)")
    assert [event.what for event in store.events(store.study("first").id)][-1] == "somebody withdrew"


def test_no_byte_of_a_withdrawn_answer_is_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    with open_study_store(path) as store:
        (token,) = begun(store)
        shown = view(store, token)
        assert shown.assignment is not None
        give_answer(store, token, shown.assignment, YES, comment="xylophone quince")
        files = [path, path.with_name("studies.db-wal")]
        assert any(b"xylophone quince" in file.read_bytes() for file in files if file.exists())
        withdraw(store, token)
        assert not any(b"xylophone" in file.read_bytes() for file in files if file.exists())


def test_a_link_that_was_ended_gives_nothing_and_takes_nothing(store: StudyStore) -> None:
    (token,) = begun(store)
    answered(store, token)
    assignment = view(store, token).assignment
    assert assignment is not None
    store.end("first", "p1")
    assert view(store, token).state == "closed"
    with pytest.raises(InputError):
        give_answer(store, token, assignment, YES)
    assert len(store.answers(store.study("first").id)) == 1, "what was answered stays"


def test_a_closed_study_can_be_opened_again(store: StudyStore) -> None:
    (token,) = begun(store)
    store.close_study("first")
    assert view(store, token).state == "closed"
    store.close_study("first", is_closed=False)
    assert view(store, token).state == "item"


def test_an_item_not_answered_in_time_goes_to_somebody_else(store: StudyStore) -> None:
    one, other = begun(store, people=2, count=1, people_per_item=1)
    assert view(store, one).state == "item"
    assert view(store, other).state == "done", "it is with somebody"
    with store.transaction():
        store.database.rows("UPDATE assignments SET given = ?", ("2020-01-01T00:00:00.000Z",))
    assert view(store, other).state == "item"


def test_attention_checks_come_after_the_first_answer_and_are_not_the_studys_items(store: StudyStore) -> None:
    own = study(checks=1)
    store.add_study("first", own, [*items(), *attention_checks(own, items())])
    (token,) = store.invite("first", 1)
    give_consent(store, token, {})
    seen = []
    while (shown := view(store, token)).item is not None:
        seen.append(shown.item)
        expected = shown.item.expected
        answered(store, token, dict(expected) if expected is not None else YES)
    checks = [number for number, item in enumerate(seen) if item.is_check]
    assert len(seen) == 4
    assert len(checks) == 1
    assert checks[0] > 0


def test_an_item_that_follows_others_waits_for_them_and_goes_to_somebody_new(store: StudyStore) -> None:
    first, last = items(2)
    store.add_study("first", study(people_per_item=1), [first, replace(last, after=(first.name,), people=1)])
    one, other = store.invite("first", 2)
    give_consent(store, one, {})
    give_consent(store, other, {})
    answered(store, one)
    assert view(store, one).state == "done"
    shown = view(store, other).item
    assert shown is not None
    assert shown.name == last.name


def test_a_study_that_has_begun_keeps_its_items(store: StudyStore) -> None:
    begun(store)
    store.add_study("first", study(title="Another title"), items())
    assert store.study("first").study.title == "Another title"
    with pytest.raises(InputError, match="other items"):
        store.add_study("first", study(seed=7), items())


def test_two_connections_racing_give_each_answer_once(location: str) -> None:
    with open_study_store(location) as one, open_study_store(location) as other:
        tokens = begun(one, people=8, count=8, people_per_item=2, items_per_person=2)
        errors: list[BaseException] = []

        def take(store: StudyStore, own: list[str]) -> None:
            try:
                for _ in range(2):
                    for token in own:
                        answered(store, token)
            except BaseException as error:
                errors.append(error)

        threads = [Thread(target=take, args=(store, tokens[n::2])) for n, store in enumerate((one, other))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        counts = Counter(each.item.name for each in one.answers(one.study("first").id))
        assert counts == dict.fromkeys((item.name for item in items(8)), 2)


def test_taking_back_twice_loses_nothing(store: StudyStore) -> None:
    """The second request comes from a page whose first response was lost."""
    (token,) = begun(store)
    answered(store, token, NO)
    answered(store, token, YES)
    take_back(store, token)
    again = take_back(store, token)
    assert again.draft == YES
    assert [each.answer for each in store.answers(store.study("first").id)] == [NO]


def test_a_comment_comes_back_with_the_answer(store: StudyStore) -> None:
    (token,) = begun(store)
    assignment = view(store, token).assignment
    assert assignment is not None
    give_answer(store, token, assignment, YES, comment="I hesitated")
    assert take_back(store, token).comment == "I hesitated"


def test_who_waits_for_others_is_told_so(store: StudyStore) -> None:
    first, last = items(2)
    store.add_study("first", study(people_per_item=1), [first, replace(last, after=(first.name,), people=1)])
    one, other = store.invite("first", 2)
    give_consent(store, one, {})
    assert give_consent(store, other, {}).state == "waiting"
    answered(store, one)
    assert view(store, other).state == "item"


def test_an_item_that_others_filled_meanwhile_is_given_up(store: StudyStore) -> None:
    one, other = begun(store, people=2, count=2, people_per_item=1, items_per_person=2)
    first = view(store, one).item
    assert first is not None
    with store.transaction():
        store.database.rows("UPDATE assignments SET given = ?", ("2020-01-01T00:00:00.000Z",))
    for _ in range(2):
        answered(store, other)
    assert view(store, one).state == "done"
    assert len(store.answers(store.study("first").id)) == 2


def test_codes_are_never_given_again(store: StudyStore) -> None:
    begun(store, people=2)
    (third,) = store.invite("first", 1)
    withdraw(store, third)
    (fourth,) = store.invite("first", 1)
    assert store.person(fourth).code == "p4"


def test_consent_to_a_closed_study_keeps_nothing(store: StudyStore) -> None:
    store.add_study("first", study(ask=("age",)), items())
    (token,) = store.invite("first", 1)
    store.close_study("first")
    assert give_consent(store, token, {"age": "40"}).state == "closed"
    assert not store.asked_of(store.study("first").id)
