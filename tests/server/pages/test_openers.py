"""Questions to begin with: the character has something to say to each, and none tells of what is to come."""

from __future__ import annotations

import pytest

from understudy.formats import read
from understudy.server.pages.talk import openers
from understudy.server.story_registry import situation_as_shown, situation_of
from understudy.story.dialogue import Situation
from understudy.story.names import people_at, shown_names_at
from understudy.story.persona import Persona
from understudy.story.storyfile import Story


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


def offered(story: Story, who: str, at: str, facing: str | None = None) -> list[str]:
    moment = story.moment(at)
    situation = situation_as_shown(situation_of(story, who, moment, facing), shown_names_at(story, moment))
    return openers(situation, {person.shown for person in people_at(story, moment)})


def test_they_ask_about_those_the_character_has_ties_to(demo: Story) -> None:
    assert offered(demo, "Zita", "2.3") == [
        "Who are you?",
        "What do you think of Casimir Ould?",
        "What do you think of Aurel Benedek?",
        "What happened last?",
    ]


def test_who_is_faced_asks_about_themselves(demo: Story) -> None:
    asked = offered(demo, "Zita", "2.3", "Benedek")
    assert asked[0] == "What do you think of me?"
    assert not any("Benedek" in question for question in asked)


def test_nobody_is_named_before_their_time_or_by_a_true_name(demo: Story) -> None:
    everybody = {member.character.name for member in demo.cast()}
    for at in ("1.1.2", "1.2", "1.4", "2.2", "3.1"):
        moment = demo.moment(at)
        shown = {person.shown for person in people_at(demo, moment)}
        for person in people_at(demo, moment):
            if not demo.cast_before(moment) or person.name not in {m.character.name for m in demo.cast_before(moment)}:
                continue
            for question in offered(demo, person.shown, at):
                assert not any(name in question for name in everybody - shown), (at, person.shown, question)


def test_of_a_profile_alone_only_what_it_holds_is_asked() -> None:
    assert openers(Situation(Persona("Ann", profile=("I fish.",))), set()) == ["Who are you?"]
    assert openers(Situation(Persona("Ann", attributes={"hobby": ("figs",)})), set()) == ["What do you enjoy most?"]
    assert openers(Situation(Persona("安", profile=("…",), language="zh")), set()) == []
