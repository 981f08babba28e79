"""What counts as a person, a name or a thing of the story's own."""

from __future__ import annotations

from collections.abc import Callable

from understudy.people.continuity.terms import Term, TermFinder
from understudy.story.storyfile import Story

MakeStory = Callable[..., Story]

SCENE = """Present: Ines Vale, Tobias Rook
INES: We sailed to Varrenholm, and a guard met us, and another guard at Port Amber.
TOBIAS: Then it was Guard Varrenholm, not Port Amber; I asked Ines in Paris."""


def test_people_names_and_loose_names(make_story: MakeStory) -> None:
    finder = TermFinder(make_story(SCENE))
    assert finder.find("Was Ines in Varrenholm's harbour?") == [Term("person", "Ines Vale"), Term("name", "Varrenholm")]
    assert finder.find("It was Port Amber.") == [Term("name", "Port Amber", is_loose=True)]
    assert not finder.find("The Guard was in Paris with some ines.")


def test_an_ordinary_word_is_nobodys_name(make_story: MakeStory) -> None:
    finder = TermFinder(make_story(SCENE))
    assert (
        finder.is_proper_name("Tobias Rook") and not finder.is_proper_name("Guard") and not finder.is_proper_name("Mom")
    )


def test_things_of_facts_that_not_everybody_knows(make_story: MakeStory) -> None:
    fact = '[[fact]]\nwho = "Ines Vale"\nattribute = "{}"\nvalue = "{}"\nfrom = "1.1"\nknown_to = []\n'
    facts = fact.format("belongings", "the copper kettle") + fact.format("secret", "I hid the map in a tin box")
    finder = TermFinder(make_story(SCENE, facts=facts))
    assert finder.find("A copper kettle and the tin boxes, the tin box.") == [
        Term("thing", "copper kettle"),
        Term("thing", "tin box"),
    ]
    assert not finder.find("I hid, map in hand.")
    assert [fact.who for fact in finder.facts_about(Term("thing", "tin box"))] == ["Ines Vale"]
