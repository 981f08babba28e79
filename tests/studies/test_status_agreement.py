"""Agreement of a study's people, worked out by hand, and agents under letters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from studies.samples import items, study
from understudy.metrics.agreement import krippendorff_alpha
from understudy.studies import status
from understudy.studies.item import Option, Question, StudyItem
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import kind_of
from understudy.studies.opening import attention_checks
from understudy.studies.status import agreement_of, answers_that_count, failed_checks, tables_of

YES, NO = "likely", "unlikely"


def given(answers: Mapping[str, Sequence[str]], asked: Sequence[StudyItem]) -> list[GivenAnswer]:
    """Each person's answers to the items in turn."""
    return [
        GivenAnswer(item, person, {"likely": value})
        for person, values in answers.items()
        for item, value in zip(asked, values)
    ]


def value_of(rows: Sequence[dict[str, object]], metric: str) -> float:
    (value,) = [row["value"] for row in rows if row["metric"] == metric]
    assert isinstance(value, float | int)
    return float(value)


def test_alpha_of_two_people_by_hand() -> None:
    """Four items, one disagreement: D_o = 2/8, D_e = 2 * 5 * 3 / (8 * 7), alpha = 1 - D_o / D_e."""
    answers = given({"p1": [YES, YES, NO, NO], "p2": [YES, YES, NO, YES]}, items(4))
    rows = agreement_of(study(), answers).rows
    assert value_of(rows, "alpha") == pytest.approx(1 - (2 / 8) / (2 * 5 * 3 / 56))
    assert value_of(rows, "cohen_kappa") == pytest.approx((0.75 - 0.5) / 0.5)


def test_the_item_people_differ_on_is_to_be_looked_at() -> None:
    answers = given({"p1": [YES, NO, NO], "p2": [YES, NO, YES]}, items(3))
    looked_at = agreement_of(study(), answers).items
    assert [row["item"] for row in looked_at] == ["line 3"]


def test_attention_checks_are_no_answers_and_who_fails_one_can_be_left_out() -> None:
    (check,) = attention_checks(study(checks=1), items())
    assert check.expected is not None
    wrong = NO if check.expected["likely"] == YES else YES
    answers = given({"p1": [YES], "p2": [NO]}, items(1))
    answers += [GivenAnswer(check, "p1", {"likely": wrong}), GivenAnswer(check, "p2", dict(check.expected))]
    assert failed_checks(answers) == {"p1": 1, "p2": 0}
    assert len(answers_that_count(answers)) == 2
    assert [each.person for each in answers_that_count(answers, attentive_only=True)] == ["p2"]


def test_agents_stand_under_letters_until_unblinded(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    row = {"agent": "tfidf", "against": "encoder", "metric": "win_rate", "value": 0.5, "paper": 0.1}
    kind = replace(kind_of("likely"), figures=lambda _study, _given: [row])
    monkeypatch.setattr(status, "kind_of", lambda _: kind)
    answers = given({"p1": [YES], "p2": [NO]}, items(1))
    (blind,) = agreement_of(study(), answers).figures
    assert {blind["agent"], blind["against"]} == {"agent A", "agent B"}
    assert blind["paper"] is None, "a paper's figure would tell which agent it is"
    (open_row,) = agreement_of(study(), answers, unblinded=True).figures
    assert open_row["agent"] == "tfidf"


def test_people_needed_grows_as_the_interval_narrows() -> None:
    people = {f"p{n}": [YES if (n + m) % 3 else NO for m in range(12)] for n in range(6)}
    wide = value_of(agreement_of(study(), given(people, items(12)), width=0.4).rows, "people_needed")
    narrow = value_of(agreement_of(study(), given(people, items(12)), width=0.2).rows, "people_needed")
    assert 1 <= wide < narrow
    assert not math.isnan(narrow)


def test_the_same_question_of_several_speakers_is_one_question() -> None:
    """Two scenes of one masked speaker each, named alike by both people: four ratings of 'who', all agreed."""
    cast = (Option("Ann", "Ann"), Option("Bea", "Bea"))
    scene = StudyItem(
        "scene", (), tuple(Question(f"P{n} who", "choice", "Who?", cast, about=f"P{n}") for n in range(2))
    )
    answer = {"P0 who": "Ann", "P1 who": "Bea"}
    tables, _ = tables_of([GivenAnswer(scene, person, answer) for person in ("p1", "p2")])
    assert list(tables) == ["who"]
    assert tables["who"].items == ("scene P0", "scene P1")
    alpha = krippendorff_alpha(tables["who"])
    assert alpha.value == 1
