from __future__ import annotations

from understudy.readers.aliases import unambiguous


def test_a_further_name_of_one_person_is_kept_once_and_in_order() -> None:
    assert unambiguous({"Wren": ["WREN", "Little Wren", "Birdie", "little wren"]}) == {
        "Wren": ("Little Wren", "Birdie")
    }


def test_a_name_that_two_people_answer_to_is_nobodys() -> None:
    assert unambiguous({"Mr. Reed": ["Reed"], "Mrs. Reed": ["Reed", "Ada"]}) == {"Mr. Reed": (), "Mrs. Reed": ("Ada",)}


def test_somebody_elses_own_name_is_no_alias() -> None:
    assert unambiguous({"Reed": [], "Mr. Reed": ["REED"]}) == {"Reed": (), "Mr. Reed": ()}


def test_a_word_for_many_is_no_alias() -> None:
    assert unambiguous({"Wren": ["All", "Everybody"]}) == {"Wren": ()}
