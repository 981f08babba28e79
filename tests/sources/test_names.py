from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.sources.names import display_name, fold, is_group, merge_labels, unambiguous_aliases
from understudy.story.types import Character


def never(_: str, __: str) -> bool:
    return False


def always(_: str, __: str) -> bool:
    return True


def names(labels: dict[str, int], together: Callable[[str, str], bool] = never) -> dict[str, set[str]]:
    return {one.name: set(one.aliases) for one in merge_labels(labels, together, [])}


def test_case_punctuation_and_notes_make_no_new_person() -> None:
    assert names({"Ross": 5, "ROSS": 9, "ROSS (off)": 1, "Mrs. Kim": 3, "MRS KIM": 4}) == {
        "Ross": set(),
        "Mrs Kim": set(),
    }


def test_a_full_name_joins_the_first_name_but_a_title_does_not() -> None:
    found = names({"Ross": 50, "Ross Geller": 3, "Mr. Geller": 20, "Mrs. Geller": 20})
    assert found == {"Ross": {"Ross Geller"}, "Mr. Geller": set(), "Mrs. Geller": set()}


def test_two_who_are_heard_in_one_scene_are_two() -> None:
    assert set(names({"Ross": 50, "Ross Geller": 3}, always)) == {"Ross", "Ross Geller"}


@pytest.mark.parametrize(
    ("one", "other"),
    [("Mona", "Monica"), ("Martin", "Marvin"), ("Jan", "Jen"), ("Niles", "Giles"), ("Daphne", "Dafne")],
)
def test_names_that_look_alike_stay_apart(one: str, other: str) -> None:
    assert len(names({one: 3000, other: 10, "Zoe": 2000})) == 3


@pytest.mark.parametrize(
    ("label", "person"), [("RACH", "Rachel"), ("R", "Rachel"), ("MNCA", "Monica"), ("Rachell", "Rachel")]
)
def test_short_forms_and_slips_of_a_leading_part(label: str, person: str) -> None:
    counts = {"Rachel": 8000, "Monica": 7000, label: 12}
    assert names(counts)[person] == {display_name(label)}


def test_a_short_form_that_could_mean_two_is_left_alone() -> None:
    assert set(names({"Christopher": 900, "Christine": 800, "Chris": 20})) == {"Christopher", "Christine", "Chris"}


def test_a_short_name_is_a_person_of_its_own_beside_a_small_part() -> None:
    assert set(names({"Anna": 5000, "Jimmy": 30, "Jim": 3})) == {"Anna", "Jimmy", "Jim"}


def test_roles_and_suffixes_make_other_people() -> None:
    labels = {
        "Guy": 20,
        "Pizza Guy": 4,
        "Frank": 30,
        "Frank Sr.": 5,
        "Leonard": 90,
        "Past Leonard": 9,
        "Mike": 9,
        "Mike R": 2,
    }
    assert set(names(labels)) == set(labels)


def test_an_article_makes_no_other_person() -> None:
    assert names({"The Director": 9, "Director": 5}) == {"The Director": {"Director"}}


def test_declared_characters_win() -> None:
    ross = Character("Ross Geller", ("Ross", "Dr. Geller"), ("A palaeontologist.",))
    found = merge_labels({"ROSS": 50, "Dr Geller": 3, "Ross Gellar": 1, "Mona": 2}, never, [ross])
    assert found[0].name == "Ross Geller"
    assert found[0].profile == ross.profile
    assert {"Ross", "Dr. Geller", "Ross Gellar"} <= set(found[0].aliases)
    assert [one.name for one in found[1:]] == ["Mona"]


def test_a_label_that_is_part_of_one_declared_name_means_it() -> None:
    declared = [Character("Zita Karst"), Character("Ivo Karst"), Character("Dr. Moss")]
    found = {one.name: one.aliases for one in merge_labels({"ZITA": 9, "KARST": 3, "Dr": 1}, never, declared)}
    assert found == {"Zita Karst": ("Zita",), "Ivo Karst": (), "Dr. Moss": (), "Karst": (), "Dr": ()}


@pytest.mark.parametrize(
    ("label", "written"),
    [
        ("MRS. KIM", "Mrs. Kim"),
        ("T.J.", "T.J."),
        ("T.J.'S BROTHER", "T.J.'s Brother"),
        ("MS. MCKENNA", "Ms. McKenna"),
        ("ross", "Ross"),
        ("DeAngelo", "DeAngelo"),
        ("MAN ON TV", "Man On TV"),
        ("アン", "アン"),
    ],
)
def test_how_a_name_is_written(label: str, written: str) -> None:
    assert display_name(label) == written


@pytest.mark.parametrize(
    "label", ["All", "EVERYONE", "Both", "The Guys", "Girls", "Crowd", "Everyone but Ann", "Ann's Friends"]
)
def test_groups(label: str) -> None:
    assert is_group(label)


@pytest.mark.parametrize("label", ["Ann", "Guy", "Alla", "The Girl", "Allan"])
def test_people_are_no_groups(label: str) -> None:
    assert not is_group(label)


LABEL = st.one_of(
    st.sampled_from(
        ["Ross", "ROSS", "Ross Geller", "R", "Ro", "ROSSS", "The Ross", "Mr. Ross", "All", "Mona", "Monica", "MNCA"]
    ),
    st.text(min_size=1, max_size=8),
)


@given(st.dictionaries(LABEL, st.integers(1, 5000), max_size=12), st.booleans(), st.lists(LABEL, max_size=2))
def test_every_label_is_exactly_one_character(labels: dict[str, int], together: bool, declared: list[str]) -> None:
    given_characters = [Character(name) for name in {fold(name): name for name in declared}.values()]
    found = merge_labels(labels, lambda a, b: together, given_characters)
    owners: dict[str, int] = {}
    for number, character in enumerate(found):
        for name in (character.name, *character.aliases):
            assert owners.setdefault(fold(name), number) == number
    assert all(fold(label) in owners for label in labels)


@given(st.text("aB é.'’-(](#&/ ", max_size=20))
def test_folding_a_folded_name_changes_nothing(label: str) -> None:
    assert fold(fold(label)) == fold(label)


def test_a_further_name_of_one_person_is_kept_once_and_in_order() -> None:
    assert unambiguous_aliases({"Wren": ["WREN", "Little Wren", "Birdie", "little wren"]}) == {
        "Wren": ("Little Wren", "Birdie")
    }


def test_a_name_that_two_people_answer_to_is_nobodys() -> None:
    assert unambiguous_aliases({"Mr. Reed": ["Reed"], "Mrs. Reed": ["Reed", "Ada"]}) == {
        "Mr. Reed": (),
        "Mrs. Reed": ("Ada",),
    }


def test_somebody_elses_own_name_is_no_alias() -> None:
    assert unambiguous_aliases({"Reed": [], "Mr. Reed": ["REED"]}) == {"Reed": (), "Mr. Reed": ()}


def test_a_word_for_many_is_no_alias() -> None:
    assert unambiguous_aliases({"Wren": ["All", "Everybody"]}) == {"Wren": ()}
