"""Who is meant by a name at a moment: by a reader, who knows what was told by then, and by an author, who knows all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masks import FALSE, HIDDEN, KNOWN, MASKED, TRUE, UNMASKED, masks
from understudy.errors import UnknownCharacter
from understudy.names import Person, character_at, people_at, people_called, shown_names, shown_names_at
from understudy.readers import read
from understudy.storyfile import Story


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return read(masks(tmp_path_factory.mktemp("masks")))


def called(story: Story, name: str, at: str) -> list[str]:
    return [one.name for one in people_called(people_at(story, story.moment(at)), name)]


@pytest.mark.parametrize("at", MASKED)
def test_while_a_false_name_holds_only_it_is_known(story: Story, at: str) -> None:
    assert all(called(story, name, at) == [TRUE] for name in KNOWN)
    assert all(called(story, name, at) == [] for name in HIDDEN)


def test_then_every_name_is_known(story: Story) -> None:
    assert all(called(story, name, UNMASKED) == [TRUE] for name in (*KNOWN, *HIDDEN))


def test_a_false_name_that_is_only_taken_later_is_unknown(story: Story) -> None:
    assert called(story, "Bea", "1.1") == called(story, "Bea Moor", "2.1") == ["Bea Moor"]
    assert called(story, "Countess Halm", "2.1") == called(story, "Halm", "2.1") == []
    assert called(story, "Halm", "2.2") == ["Bea Moor"]
    assert called(story, "Bea", "end") == []  # it is never told who the countess is


def test_namesakes_who_come_later_change_nothing(story: Story) -> None:
    assert called(story, "Ann", "3.1") == ["Ann Archer"]
    assert called(story, "Silas", "3.1") == [TRUE]
    assert set(called(story, "Ann", "end")) == {"Ann Archer", "Ann Zephyr"}
    at = story.moment("3.1")
    assert character_at(story, "Ann", at).name == "Ann Archer"
    with pytest.raises(UnknownCharacter, match="'Ann' may be Ann Archer or Ann Zephyr: give the full name"):
        character_at(story, "Ann", story.moment("end"))


def test_an_author_finds_everybody_by_every_name(story: Story) -> None:
    for at in MASKED:
        moment = story.moment(at)
        assert {character_at(story, name, moment).name for name in (*HIDDEN, *KNOWN)} == {TRUE}
        assert character_at(story, "Zephyr", moment).name == "Ann Zephyr"


def test_who_pretends_to_be_somebody_is_not_given_away_by_a_question_which_of_them_is_meant() -> None:
    real, pretender = Person("Ann", "Ann", ("Ann",)), Person("Bob", "Ann", ("Ann",))
    assert people_called([pretender, real], "Ann") == [real]
    assert people_called([pretender], "Ann") == [pretender]


def test_text_is_shown_under_false_names(story: Story) -> None:
    names = shown_names_at(story, story.moment("1.2"))
    assert names.of(TRUE) == FALSE and names.of("Ann Archer") == "Ann Archer"
    assert names.in_text(f"I am {TRUE}, of the {TRUE}shire.") == f"I am {FALSE}, of the {TRUE}shire."
    told = shown_names_at(story, story.moment(UNMASKED))
    assert told.false == {"Bea Moor": "Countess Halm"}
    assert told.in_text(TRUE) == TRUE


def test_the_demo_shows_a_false_name_until_it_is_known_to_all() -> None:
    demo = read("demo")
    assert shown_names(demo, demo.moment("1.1")) == {"Danilo Reuss": "Aurel Benedek"}
    assert shown_names(demo, demo.moment("end")) == {}


words = st.sampled_from(["Ann", "Bob", "Cora", "Dov", "Vane", "Moor", "Mr"])
names = st.lists(words, min_size=1, max_size=3, unique=True).map(" ".join)


@given(
    st.lists(st.tuples(names, st.lists(names, max_size=2)), min_size=1, max_size=5, unique_by=lambda one: one[0]), names
)
def test_a_name_means_nobody_who_may_not_be_called_so(cast: list[tuple[str, list[str]]], name: str) -> None:
    people = [Person(f"true {number}", shown, (shown, *known)) for number, (shown, known) in enumerate(cast)]
    found = people_called(people, name)
    for one in people:
        whole = name in one.known_as
        part = name in {part for known in one.known_as for part in known.split()}
        if one in found:
            assert whole or part
        elif whole:
            assert any(name in other.known_as for other in found)
    for one in people:
        assert people_called(people, one.shown), "whoever is shown can be asked for by that name"
