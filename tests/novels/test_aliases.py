"""Which names are one person's, on little passages."""

from __future__ import annotations

import pytest

from novel_texts import called, names_of, quoted_prose
from understudy.novels.cast import find_cast


def test_genders_that_clash_are_two_people() -> None:
    text = "Mr. Francis Hale bowed. " * 3 + "Miss Hale smiled. " * 3 + "Hale laughed. " * 3
    cast = find_cast(quoted_prose(text))
    assert names_of(called(cast, "Hale")) == {"Mr. Francis Hale", "Hale"}
    assert names_of(called(cast, "Miss Hale")) == {"Miss Hale"}


def test_names_side_by_side_are_two_people() -> None:
    text = "Clara Holt read. " * 3 + "Miss Holt and Clara went out. " * 3 + "Miss Holt said nothing. "
    cast = find_cast(quoted_prose(text))
    assert names_of(called(cast, "Miss Holt")) == {"Miss Holt"}


def test_the_eldest_sister_goes_by_the_surname() -> None:
    text = (
        "Clara Holt read. Rosa Holt sang. Miss Rosa smiled. " * 3
        + "Miss Rosa Holt laughed. " * 3
        + "Miss Holt rose. " * 2
    )
    cast = find_cast(quoted_prose(text))
    assert names_of(called(cast, "Miss Holt")) == {"Miss Holt", "Clara Holt"}
    assert names_of(called(cast, "Miss Rosa")) == {"Rosa Holt", "Miss Rosa", "Miss Rosa Holt"}


def test_a_mother_is_not_her_unmarried_daughter() -> None:
    text = "Lucy Marsh ran. Miss Marsh laughed. Mrs. Marsh called her back. " * 3
    cast = find_cast(quoted_prose(text))
    assert names_of(called(cast, "Mrs. Marsh")) == {"Mrs. Marsh"}
    assert names_of(called(cast, "Lucy Marsh")) == {"Lucy Marsh", "Miss Marsh"}


def test_a_wife_by_her_husbands_name_is_not_her_husband() -> None:
    text = "John Holt slept. " * 4 + "Mrs. John Holt knitted. Mrs. John Holt sighed. " + "Mr. Holt rode out. " * 5
    cast = find_cast(quoted_prose(text))
    assert names_of(called(cast, "Mrs. John Holt")) == {"Mrs. John Holt"}
    assert called(cast, "Mrs. John Holt").gender == "f"
    assert names_of(called(cast, "Mr. Holt")) == {"Mr. Holt"}, "her husband needs his first name: another is Mr. Holt"


@pytest.mark.parametrize(
    ("narrated", "is_one"),
    [pytest.param(0, True, id="only in talk"), pytest.param(20, False, id="a father and a son")],
)
def test_a_short_form_is_the_same_person_where_only_talk_has_it(narrated: int, is_one: bool) -> None:
    text = (
        "Thomas walked on. When Thomas looked up, he smiled. " * 10
        + '"Run, Tom!" cried Ada. "Tom, wait," said Ada. ' * 3
        + "Tom ran on. But Tom looked back, and he laughed. " * narrated
    )
    assert ("Tom" in names_of(called(find_cast(quoted_prose(text)), "Thomas"))) is is_one


def test_a_general_is_no_captain() -> None:
    text = "General Ross frowned. Captain Ross bowed. Mr. Ross laughed. " * 3
    assert len(find_cast(quoted_prose(text))) == 3


def test_a_family_is_nobody() -> None:
    text = "Mr. Weller smiled. The Wellers dined at six. All the Wellers laughed. " * 3
    assert [names_of(character) for character in find_cast(quoted_prose(text))] == [{"Mr. Weller"}]


def test_particles_belong_to_a_name() -> None:
    text = "Countess Maria von der Aue rose. Maria bowed to her. Countess von der Aue smiled. " * 3
    (countess,) = find_cast(quoted_prose(text))
    assert names_of(countess) == {"Countess Maria von der Aue", "Maria", "Countess von der Aue"}


def test_who_has_no_other_name_in_narration_is_the_miss() -> None:
    text = "Rosa Holt sang, and Rosa laughed. " * 8 + "When Miss Holt rose, she spoke. " * 16
    cast = find_cast(quoted_prose(text + '"My aunt, Clara Holt," said Rosa. ' * 2))
    assert names_of(called(cast, "Miss Holt")) == {"Miss Holt", "Clara Holt"}


def test_a_surname_of_several_that_is_hardly_used_is_nobodys() -> None:
    text = "Mr. Hale bowed. Mrs. Hale smiled. " * 20
    assert not any("Hale" in names_of(character) for character in find_cast(quoted_prose(text + "So said Hale.")))
    assert "Hale" in names_of(called(find_cast(quoted_prose(text + "And Hale laughed. " * 5)), "Mr. Hale"))


def test_what_she_is_called_in_talk_is_hers_though_narration_has_both_at_times() -> None:
    narrated = "Clara Holt rose. " * 3 + "Clara smiled, and she sat down. " * 40
    together = "Clara saw that Miss Holt was wanted. " * 16
    talk = '"You are kind, Miss Holt," he said. ' * 60
    assert "Miss Holt" in names_of(called(find_cast(quoted_prose(narrated + together + talk)), "Clara"))
    assert "Miss Holt" not in names_of(called(find_cast(quoted_prose(narrated + together)), "Clara"))
