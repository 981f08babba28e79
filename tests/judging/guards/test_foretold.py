"""What is to come, told in other words than the story's."""

from __future__ import annotations

from pathlib import Path

import pytest

from understudy.formats import read
from understudy.judging.guards import StoryViews
from understudy.judging.guards.foretold import (
    THRESHOLD,
    ForetellingFeatures,
    chance_of_foretelling,
    features_of,
    foretold,
)
from understudy.story.dialogue import Draft, Turn, situation_at
from understudy.story.storyfile import Story


@pytest.fixture(scope="module")
def demo() -> Story:
    return read("demo")


def passes(story: Story, who: str, at: str, facing: str, asked: str, text: str) -> bool:
    situation = situation_at(story, who, at, facing)
    verdict = foretold(StoryViews(lambda _: [story]))(situation, (Turn(facing, asked),), Draft(text, "writer"))
    assert verdict.passed or (verdict.is_spoiler and verdict.reason == "not known yet")
    return verdict.passed


@pytest.mark.parametrize(
    ("who", "at", "facing", "asked", "text"),
    [
        ("Pia Lenk", "1.4", "Zita Karst", "And after?", "Dr Bohm will be dead of the fever, and Haake sorry for it."),
        ("Nan Lenk", "1.3", "Zita Karst", "Is the doctor well?", "Bohm will die of the fever with Zita by the cot."),
        (
            "Danilo Reuss",
            "2.3",
            "Zita Karst",
            "And the Captain?",
            "Haake will be master of the wharf, under the Prior.",
        ),
    ],
)
def test_what_happens_later_is_stopped_in_any_words(
    demo: Story, who: str, at: str, facing: str, asked: str, text: str
) -> None:
    assert not passes(demo, who, at, facing, asked, text)


@pytest.mark.parametrize(
    "text",
    [
        "I will be at the brazier at six, and you will be late.",
        "The Prior will be told of it, I think, and not by me.",
        "Perhaps Pia will marry somebody with a boat.",
        "I do not know what will become of any of us.",
        "I count them. It is what one does with letters.",
        "Is the Captain going to sail without her papers?",
    ],
)
def test_plans_guesses_and_small_talk_pass(demo: Story, text: str) -> None:
    assert passes(demo, "Zita Karst", "2.3", "Pia Lenk", "What will happen now?", text)


@pytest.mark.parametrize("text", ["I'm ship's boy in the Good Daughter.", "Tovey Marl. I am ship's boy here."])
def test_who_says_what_describes_them_foretells_nothing(demo: Story, text: str) -> None:
    assert passes(demo, "Tovey Marl", "3.3", "Pia Lenk", "What's your name?", text)


def test_flat_prophecy_of_what_the_story_never_tells_passes() -> None:
    nothing = ForetellingFeatures(0.0, 0.0, 0.0, 4.0, 0.0, 3.0, 2.0, 1.0, 0.0, 0.0, 2.0)
    assert chance_of_foretelling(nothing) == 0.0
    told = ForetellingFeatures(6.0, 1.8, 1.2, 2.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 2.0)
    assert chance_of_foretelling(told) >= THRESHOLD


def test_at_the_end_of_a_story_and_in_other_languages_nothing_is_foretold(demo: Story) -> None:
    views = StoryViews(lambda _: [demo])
    situation = situation_at(demo, "Zita Karst", "2.3", "Pia Lenk")
    (view,) = views(situation)
    assert features_of(view, situation, (), "Bohm wird sterben, und Haake leitet bald den Hafen.") is None
    assert features_of(view, situation, (), "Will Bohm die of it?") is None
    assert features_of(view, situation, (), "Bohm will die of it.") is not None


def test_what_the_character_has_heard_joined_is_no_news(demo: Story) -> None:
    situation = situation_at(demo, "Zita Karst", "2.3", "Pia Lenk")
    (view,) = StoryViews(lambda _: [demo])(situation)
    said = max((line.text for line in situation.persona.past.lines()), key=len)
    features = features_of(view, situation, (), said)
    assert features is not None and features.more_than_heard <= 0 and features.new_names == 0


def test_a_pair_whose_first_term_was_heard_wherever_it_stands_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "story.txt"
    path.write_text(
        "# act 1: First\n## scene 1: Here\nANN: The lighthouse is dark tonight.\n"
        "## scene 2: There\nBEN: A pelican came and went.\nCAT: I saw the pelican too.\n",
        encoding="utf-8",
    )
    story = read(path)
    situation = situation_at(story, "Ann", "1.2", "Ben")
    (view,) = StoryViews(lambda _: [story])(situation)
    assert features_of(view, situation, (), "The lighthouse has a pelican, and I have seen it.") is not None
