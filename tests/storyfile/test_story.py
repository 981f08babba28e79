from __future__ import annotations

from pathlib import Path

from understudy.readers import read
from understudy.story import Moment


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
