"""Somebody who is not in the story can be faced, and nobody can pass for a character of it."""

from __future__ import annotations

import pytest

from understudy.errors import StoryError
from understudy.formats import read
from understudy.story.dialogue import outsider, situation_at
from understudy.story.persona import Other


def test_a_description_becomes_sentences_that_can_be_told() -> None:
    assert outsider("Tom", "a sailor, 40") == Other("Tom", ("Tom: a sailor, 40",))
    assert outsider(" Tom ", "Tom is 40.5 years old! He drinks.\nNot much").profile == (
        "Tom is 40.5 years old!",
        "He drinks.",
        "Not much",
    )


@pytest.mark.parametrize(
    ("name", "description"), [("", "a sailor"), ("Tom", " "), ("T" * 81, "x"), ("Tom", "x" * 1001)]
)
def test_what_is_missing_or_too_long_is_refused(name: str, description: str) -> None:
    with pytest.raises(StoryError):
        outsider(name, description)


def test_somebody_of_ones_own_is_faced_and_knows_no_secret() -> None:
    story = read("demo")
    written = situation_at(story, "Benedek", "2.3", "Tom: a sailor, 40")
    given = situation_at(story, "Benedek", "2.3", Other("Tom", ("Tom: a sailor, 40",)))
    assert written.faced == given.faced == Other("Tom", ("Tom: a sailor, 40",))
    assert written.secrets == situation_at(story, "Benedek", "2.3").secrets


@pytest.mark.parametrize("name", ["Zita", "zita karst", "the Prior", "Lenk"])
def test_nobody_goes_by_a_name_of_the_story(name: str) -> None:
    with pytest.raises(StoryError, match="somebody in the story"):
        situation_at(read("demo"), "Benedek", "2.3", f"{name}: a spy")
