"""What counts as a person, a name or a thing of the story's own."""

from __future__ import annotations

from collections.abc import Callable

from understudy.people.continuity import check_continuity
from understudy.people.continuity.scenes import StoryTerm, TermFinder
from understudy.story.storyfile import Story

MakeStory = Callable[..., Story]

SCENE = """Present: Ines Vale, Tobias Rook
INES: We sailed to Varrenholm, and a guard met us, and another guard at Port Amber.
TOBIAS: Then it was Guard Varrenholm, not Port Amber; I asked Ines in Paris."""


def test_people_names_and_loose_names(make_story: MakeStory) -> None:
    finder = TermFinder(make_story(SCENE))
    found = finder.find("Was Ines in Varrenholm's harbour?")
    assert found == [StoryTerm("person", "Ines Vale"), StoryTerm("name", "Varrenholm")]
    assert finder.find("It was Port Amber.") == [StoryTerm("name", "Port Amber", is_loose=True)]
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
        StoryTerm("thing", "copper kettle"),
        StoryTerm("thing", "tin box"),
    ]
    assert not finder.find("I hid, map in hand.")
    assert [fact.who for fact in finder.facts_about(StoryTerm("thing", "tin box"))] == ["Ines Vale"]


# Who hears of what first when.


TOLD = "Present: Ines Vale, Tobias Rook\nINES: The boat came from old Varrenholm.\nTOBIAS: From Varrenholm?"
AGAIN = "Present: Tobias Rook, Mara Quill\nTOBIAS: It came from Varrenholm.\nMARA: Oh."


def test_each_person_learns_it_where_they_first_hear_it(make_story: MakeStory) -> None:
    learning = check_continuity(make_story(TOLD, AGAIN, AGAIN)).learnings["Varrenholm"]
    heard = {who: moment.dotted for who, moment in learning.hearings.items()}
    assert heard == {"Ines Vale": "1.1.1", "Tobias Rook": "1.1.1", "Mara Quill": "1.2.1"}
    assert learning.steps == 2


def test_what_is_mentioned_in_one_scene_is_left_out(make_story: MakeStory) -> None:
    everybody = TOLD.replace("Present:", "Present: Mara Quill, Odo Fenn,")
    assert "Varrenholm" not in check_continuity(make_story(everybody)).learnings
