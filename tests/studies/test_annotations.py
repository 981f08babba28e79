from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.story.types import Moment, Schema
from understudy.studies.annotations import COLUMNS, AnnotatedChapter, AnnotatedFact, AnnotatedTie, claims_in

LEVELS = ("part", "chapter", "scene", "line")
NAMES = {"inesvale": ["Ines Vale"], "ines": ["Ines Vale"], "sparrow": ["Ines Vale", "Pia"], "pia": ["Pia"]}
CHAPTER = AnnotatedChapter(Moment((2, 3), LEVELS), NAMES, Schema(), {"2.3.1": 4})

moments = st.one_of(
    st.tuples(st.just(2), st.just(3), st.integers(0, 99), st.integers(0, 99)), st.tuples(st.just(1), st.integers(0, 9))
).map(lambda numbers: Moment(numbers, LEVELS))
words = st.text(st.characters(categories=("L", "N"), include_characters=" '"), min_size=1).map(
    lambda text: " ".join(text.split()) or "x"
)


@given(st.sampled_from(["Ines Vale", "Pia"]), st.sampled_from(Schema().attributes[:13]), words, moments)
def test_a_fact_survives_its_row(who: str, attribute: str, value: str, since: Moment) -> None:
    claim = AnnotatedFact(who, attribute, value, since)

    (again,) = claims_in("facts", claim.row(), CHAPTER)

    assert again.key == claim.key


@given(st.integers(-10, 10), moments)
def test_a_tie_survives_its_row(level: int, since: Moment) -> None:
    claim = AnnotatedTie("Pia", "Ines Vale", "affection", str(level), since)

    assert claims_in("ties", claim.row(), CHAPTER) == [claim]


@given(st.sampled_from(list(COLUMNS)), st.dictionaries(st.sampled_from(["who", "of", "kind", "first"]), st.text()))
def test_whatever_is_typed_is_read_or_refused_with_a_reason(table: str, row: dict[str, str]) -> None:
    try:
        claims_in(table, row, CHAPTER)
    except InputError as error:
        assert str(error)


def test_an_alias_means_its_person_unless_it_may_be_another() -> None:
    assert CHAPTER.person("INES") == "Ines Vale"
    with pytest.raises(InputError, match="may be Ines Vale or Pia"):
        CHAPTER.person("Sparrow")


@pytest.mark.parametrize(("text", "numbers"), [("", (2, 3)), ("[2.3.1.4]", (2, 3, 1, 4)), ("1.9", (1, 9))])
def test_what_holds_since_before_may_be_dated_before(text: str, numbers: tuple[int, ...]) -> None:
    assert CHAPTER.since(text).numbers == numbers


def test_a_chapter_survives_the_store() -> None:
    document: dict[str, Any] = json.loads(json.dumps(CHAPTER.document()))

    assert AnnotatedChapter.from_document(document) == CHAPTER
