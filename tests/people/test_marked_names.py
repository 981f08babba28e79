from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.people.names import NameIndex, is_generic
from understudy.story.types import Character

INDEX = NameIndex(
    [Character("Nora Vale", ("Nora",)), Character("Mr. Vale"), Character("Will"), Character("Waiter"), Character("Pia")]
)


@pytest.mark.parametrize(
    ("text", "marked", "people"),
    [
        ("This is my wife, Nora.", "this is my wife, @0.", ("Nora Vale",)),
        ("Nora’s brother and Mr. Vale", "@0's brother and @1", ("Nora Vale", "Mr. Vale")),
        ("Will you come, Will?", "will you come, @0?", ("Will",)),
        ("My friend Casimir left.", "my friend # left.", ()),
        ("Is Nora Vale here?", "is @0 here?", ("Nora Vale",)),
    ],
)
def test_names_are_put_aside(text: str, marked: str, people: tuple[str, ...]) -> None:
    found = INDEX.mark(text)
    assert (found.text, found.people) == (marked, people)


def test_what_somebody_is_is_no_name() -> None:
    assert is_generic("The Waiter")
    assert is_generic("Girl 2")
    assert not is_generic("Mrs. Kim")


@given(st.text(alphabet="NoraPi aVlMr.'’,@# \n", max_size=40))
def test_every_mark_has_its_person(text: str) -> None:
    INDEX.mark(text)
