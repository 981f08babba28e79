"""Personas that people write: rules as one types, and files that other studies and commands take."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.samples import crowd, items_of, study_of
from understudy.formats import read
from understudy.formats.chat_records import read_persona_records
from understudy.story.persona import persona_at
from understudy.studies.item import Problem
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import KINDS

KIND = KINDS["personas"]
FIVE = ["I ski.", "I knit.", "I sail.", "I bake.", "I paint."]


def test_a_persona_has_at_least_five_sentences_of_at_most_fifteen_words(tmp_path: Path) -> None:
    items = items_of(KIND, study_of(KIND, tmp_path, count=2))
    assert [item.name for item in items] == ["persona 1", "persona 2"]
    (question,) = items[0].questions
    assert (question.type, question.least, question.most_words) == ("texts", 5, 15)


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        (FIVE, []),
        ([*FIVE, "", ""], []),
        (["I ski.", "", "I knit."], [(1, "blank")]),
        (["I ski.", "I knit.", " i SKI !"], [(2, "sentence 1")]),
        (["", "I ski."], [(0, "blank")]),
    ],
)
def test_blank_and_repeated_sentences_are_named(tmp_path: Path, texts: list[str], named: list[tuple[int, str]]) -> None:
    item = items_of(KIND, study_of(KIND, tmp_path))[0]
    problems = KIND.problems(item, {"sentences": texts})
    assert [problem.index for problem in problems] == [index for index, _ in named]
    assert all(word in problem.message for problem, (_, word) in zip(problems, named))
    assert all(isinstance(problem, Problem) and problem.question == "sentences" for problem in problems)


def test_personas_are_read_by_a_study_that_revises_them(tmp_path: Path) -> None:
    study = study_of(KIND, tmp_path, count=3)
    given = crowd(KIND, items_of(KIND, study), people=1)
    path = tmp_path / "personas.jsonl"
    KIND.outputs["personas"](study, given, path)
    assert [list(record.sentences) for record in read_persona_records(path)] == [
        each.answer["sentences"] for each in given
    ]
    revise = KINDS["revise"]
    items = items_of(revise, study_of(revise, tmp_path, story=None, personas="personas.jsonl"))
    assert [line.text for line in items[0].blocks[0].lines] == given[0].answer["sentences"]


def test_a_card_is_somebody_to_talk_with(tmp_path: Path) -> None:
    study = study_of(KIND, tmp_path)
    item = items_of(KIND, study)[0]
    KIND.outputs["cards"](study, [GivenAnswer(item, "p1", {"sentences": [*FIVE, " "]})], tmp_path / "cards")
    assert persona_at(read(tmp_path / "cards" / "person-1.json"), "Person 1", "end").profile == tuple(FIVE)
