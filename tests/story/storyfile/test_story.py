from __future__ import annotations

from pathlib import Path

import pytest

from understudy.errors import InputError
from understudy.formats import read
from understudy.story.persona import persona_at
from understudy.story.types import Moment


def test_lines_with_something_in_them_up_to_a_moment(story: Path) -> None:
    told = read(story)

    def found(word: str, before: str) -> list[str]:
        return [line.moment.dotted for line in told.lines_with(lambda text: word in text, told.moment(before))]

    assert found("key", "end") == ["1.1.2", "1.2.1", "2.1.1", "2.2.1"]
    assert found("key", "2.1") == ["1.1.2", "1.2.1"]
    assert found("key", "2.1.1") == ["1.1.2", "1.2.1"]
    assert found("key", "2.1.2") == ["1.1.2", "1.2.1", "2.1.1"]
    assert found("key", "start") == []


def test_a_found_line_is_the_one_in_its_scene(story: Path) -> None:
    told = read(story)
    lines = [line for scene in told.scenes() for line in scene.lines]
    assert list(told.lines_with(lambda text: True, Moment.end())) == lines
    (rain,) = told.lines_with(lambda text: "Rain" in text, Moment.end())
    assert rain.speaker is None and rain.source is not None


def test_a_story_that_was_replaced_is_not_mixed_with_the_new_one(story: Path, tmp_path: Path) -> None:
    path = tmp_path / "made.story"
    told = read(story, path)
    before = persona_at(told, "Ines Vale", "2.1").past
    read("demo-zh", path)
    with pytest.raises(InputError, match=r"made\.story: was replaced while it was open"):
        persona_at(told, "Ines Vale", "1.2")
    assert before.lines()
    assert list(told.scenes())  # what is open stays what it was
