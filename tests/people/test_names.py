"""Names inside texts."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.people.names import HIDDEN, CharacterNames, NameIndex, derangement, is_generic
from understudy.story.types import Character

FRIENDS = CharacterNames(
    {"Rose Tyler": ("Rose Tyler", "Rosie"), "Ann Bell": ("Ann Bell",), "Anna Bell": ("Anna Bell", "Captain Bell")}
)


def called(text: str, names: CharacterNames = FRIENDS) -> list[tuple[str, str | None]]:
    return [(text[call.start : call.end], call.who) for call in names.calls(text)]


def test_a_name_inside_another_is_not_found() -> None:
    assert called("Anna, where is Ann? Annabel knows.") == [("Anna", "Anna Bell"), ("Ann", "Ann Bell")]


def test_the_longest_name_counts_once() -> None:
    assert called("Rose Tyler's coat, Rosie.") == [("Rose Tyler", "Rose Tyler"), ("Rosie", "Rose Tyler")]


def test_a_shared_name_is_nobodys_in_particular() -> None:
    assert called("Miss Bell?") == [("Bell", None)]


def test_small_letters_are_no_name_and_titles_are_nobody() -> None:
    assert called("a rose is a rose, captain") == []


def test_hidden_covers_shared_names_too() -> None:
    assert FRIENDS.hidden("Rosie, is Bell with Anna's aunt?") == f"{HIDDEN}, is {HIDDEN} with {HIDDEN}'s aunt?"


def test_swapped_puts_full_names_for_full_names_and_first_for_first() -> None:
    instead = {"Rose Tyler": "Ann Bell", "Ann Bell": "Anna Bell", "Anna Bell": "Rose Tyler"}
    assert FRIENDS.swapped("Rose Tyler, Rose, Tyler; Ann; Anna; Bell.", instead) == (
        "Ann Bell, Ann, Bell; Anna; Rose; Bell."
    )


@pytest.mark.parametrize(("language", "name", "text"), [("ja", "太郎", "太郎さん、来て"), ("zh", "小明", "你好小明啊")])
def test_names_are_found_where_words_are_not_spaced(language: str, name: str, text: str) -> None:
    assert called(text, CharacterNames({name: (name,)}, language)) == [(name, name)]


def test_nobody_has_no_names() -> None:
    assert CharacterNames({}).calls("Rose") == []
    assert CharacterNames({}).hidden("Rose") == "Rose"


@given(st.lists(st.text(min_size=1), min_size=2, max_size=8, unique=True), st.integers(0, 2**31))
def test_a_derangement_gives_everybody_anothers_name(people: list[str], seed: int) -> None:
    results = derangement(people, seed)
    assert sorted(results.values()) == sorted(people)
    assert all(who != second for who, second in results.items())


@given(st.text())
def test_calls_are_apart_and_in_order(text: str) -> None:
    calls = FRIENDS.calls(text)
    assert all(a.end <= b.start for a, b in pairwise(calls))


@given(st.text(alphabet="Ann Mr.'-Oé,", max_size=40))
def test_names_looked_up_are_those_that_the_pattern_would_find(text: str) -> None:
    forms = {"Ann": ("Mr. Ann", "'Ann"), "O'An": (), "Anné": ()}
    names = CharacterNames(forms)
    either = "|".join(sorted(map(re.escape, names._written), key=len, reverse=True))
    assert names.hidden(text) == re.sub(rf"(?<!\w)(?:{either})(?!\w)", HIDDEN, text)


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
