"""Who is meant by a name at a moment: by a reader, who knows what was told by then, and by an author, who knows all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated import reachable
from stories import FALSE, HIDDEN, KNOWN, MASKED, TRUE, UNMASKED, masks
from understudy.errors import UnknownCharacter
from understudy.formats import read
from understudy.story.dialogue import situation_at
from understudy.story.names import Person, character_at, people_at, people_called, shown_names, shown_names_at
from understudy.story.persona import Other, died_at
from understudy.story.spoiler_free import courses_so_far, scenes_before
from understudy.story.storyfile import Story
from understudy.story.types import Moment


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
    assert names.in_text(f"I am {TRUE}, of the Vaneshire.") == f"I am {FALSE}, of the Vaneshire."
    told = shown_names_at(story, story.moment(UNMASKED))
    assert told.called == {"Bea Moor": "Countess Halm"}
    assert told.in_text(TRUE) == TRUE


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Good day, Mr Vane.", "Good day, Mr Lodger."),
        ("RODERICK! Vane's hat.", "SILAS! Lodger's hat."),
        ("The Duke came. So the Duke it is.", "Silas Lodger came. So Silas Lodger it is."),
        ("Mr Lodger and Silas", "Mr Lodger and Silas"),
        ("A weathervane, the Vanes, Vaneless", "A weathervane, the Vanes, Vaneless"),
    ],
)
def test_what_else_gives_somebody_away_is_replaced_as_the_full_name_is(story: Story, said: str, shown: str) -> None:
    assert shown_names_at(story, story.moment("1.2")).in_text(said) == shown


def test_a_name_that_others_have_as_well_gives_nobody_away(tmp_path: Path) -> None:
    cast = """
[[character]]
name = "Anton Reuss"
aliases = ["Anton"]

[[character]]
name = "Danilo Reuss"
aliases = ["Reuss", "Danilo", "Hand of the North"]

[[fact]]
who = "Danilo Reuss"
attribute = "goes by"
value = "Benedek"
from = "1.1"
"""
    story = told(tmp_path, cast, "ANTON: Here.\nDANILO: There.\n")
    names = shown_names_at(story, story.moment("1.1.2"))
    assert names.in_text("Anton Reuss, Danilo Reuss, Danilo; Reuss?") == "Anton Reuss, Benedek, Benedek; Reuss?"
    assert names.in_text("The Hand of the North") == "The Benedek"


def test_the_demo_shows_a_false_name_until_it_is_known_to_all() -> None:
    demo = read("demo")
    assert shown_names(demo, demo.moment("1.1")) == {"Danilo Reuss": "Aurel Benedek"}
    assert shown_names(demo, demo.moment("end")) == {}


def told(folder: Path, cast: str, *scenes: str) -> Story:
    """A story of one act: a scene a text."""
    (folder / "cast.toml").write_text(cast, encoding="utf-8")
    script = "# act 1: The water\n" + "".join(f"## scene {n}: The quay\n{text}\n" for n, text in enumerate(scenes, 1))
    (folder / "act-1.txt").write_text(script, encoding="utf-8")
    return read(folder)


STRANGER = """
[[character]]
name = "Ann Archer"
aliases = ["Ann", "Sparrow"]
profile = ["I am the only child of Marius Archer."]

[[character]]
name = "Bea Moor"
aliases = ["Bea", "Bumble"]
profile = ["They call me Bumble."]

[[character]]
name = "Ottoline Sool"
aliases = ["Commissary Sool", "Sool", "Ottoline", "the Fox"]

[[character]]
name = "Marius Archer"
aliases = ["Marius"]

[[relation]]
of = "Ann Archer"
to = "Ottoline Sool"
affection = -3
from = "1.1"

[[relation]]
of = "Ann Archer"
to = "Ottoline Sool"
affection = 2
from = "1.2"

[[relation]]
of = "Ann Archer"
to = "Marius Archer"
affection = 8
from = "1.1"
"""


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return told(
        tmp_path_factory.mktemp("spoken"), STRANGER,
        "ANN: Marius is late.\nBEA: The Commissary Sool is coming, Ann.\nANN: Sool? Here?\n",
        "BEA: Sparrow, they say. You are their Sparrow.\nANN: Am I, Bumble?\n",
        "SOOL: Ottoline Sool. They call me the Fox.\nANN: Do they?\n",
    )  # fmt: skip


def test_who_is_only_spoken_of_is_called_what_was_said(spoken: Story) -> None:
    at = spoken.moment("1.2")
    assert shown_names(spoken, at) == {"Ottoline Sool": "Commissary Sool"}
    situation = situation_at(spoken, "Ann", at, facing="Bea")
    assert {tie.to for tie in situation.persona.relations} == {"Commissary Sool", "Marius Archer"}
    assert not [text for text in reachable(situation) if "Ottoline" in text]
    assert courses_so_far(spoken, situation.persona)["Commissary Sool"][-1][1] == 2
    assert situation_at(spoken, "Ann", at, facing="Ottoline Sool").faced == Other(
        "Commissary Sool", relations=tuple(tie for tie in situation.persona.relations if tie.to == "Commissary Sool")
    )


def test_once_seen_somebody_has_the_full_name(spoken: Story) -> None:
    at = spoken.moment("1.3.2")
    assert shown_names(spoken, at) == {}
    assert "Ottoline Sool" in {tie.to for tie in situation_at(spoken, "Ann", at).persona.relations}


def test_a_name_that_is_said_later_is_nobodys_yet(spoken: Story) -> None:
    assert called(spoken, "Sparrow", "1.2") == []
    assert called(spoken, "Sparrow", "1.3") == called(spoken, "Ann", "start") == ["Ann Archer"]
    assert called(spoken, "Bumble", "start") == ["Bea Moor"]  # her profile tells it
    assert called(spoken, "the Fox", "end") == ["Ottoline Sool"]


@pytest.mark.parametrize("name", ["demo", "demo-ja", "demo-zh"])
def test_no_situation_of_the_demos_has_a_name_that_nobody_has_heard(name: str) -> None:
    story = read(name)
    cast = [member.character for member in story.cast()]
    for at in dict.fromkeys(Moment(scene.numbers[:2], story.levels) for scene, *_ in story.outline()):
        text = "\n".join(_text_before(story, at))
        forms = {part for who in cast for known in (who.name, *who.aliases) for part in known.split()}
        unheard = {form for form in forms if form not in text}
        for person in people_at(story, at):
            if died_at(story.facts(person.name), at) is not None:
                continue
            reached = reachable(situation_at(story, person.name, at))
            assert not [(string, form) for string in reached for form in unheard if form in string]


def _text_before(story: Story, at: Moment) -> Iterator[str]:
    """All that a reader has been told by a moment."""
    for scene in scenes_before(story, at):
        yield from (scene.setting, *scene.present, *(line.text for line in scene.lines))
    for fact in story.facts():
        yield from fact.values if fact.since <= at else ()
    people = {person.name for person in people_at(story, at)}
    for member in story.cast():
        yield from (member.character.name, *member.character.profile) if member.character.name in people else ()


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
