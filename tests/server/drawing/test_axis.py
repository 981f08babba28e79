from __future__ import annotations

from pathlib import Path

from understudy.readers import read
from understudy.server.drawing.axis import Axis, axis_to
from understudy.spoiler_free import timeline
from understudy.story import Moment


def axis(story: Path, at: str) -> Axis:
    told = read(story)
    moment = told.moment(at)
    return axis_to(list(timeline(told, moment)), moment)


def test_scenes_are_equally_wide_up_to_now(story: Path) -> None:
    line = axis(story, "2.2")
    assert [line.position(Moment(place)) for place in ((1,), (1, 1), (1, 2), (2,), (2, 1), (2, 2))] == [
        0, 0, 1 / 3, 2 / 3, 2 / 3, 1,
    ]  # fmt: skip


def test_a_moment_in_a_scene_lies_in_its_stretch(story: Path) -> None:
    line = axis(story, "2.1")
    assert 0 < line.position(Moment((1, 1, 3))) < line.position(Moment((1, 1, 4))) < line.position(Moment((1, 2)))


def test_what_was_not_reached_takes_no_room(story: Path) -> None:
    line = axis(story, "1.2")
    assert [stop.moment.dotted for stop in line.scenes] == ["1.1"]
    assert [stop.moment.dotted for stop in line.chapters] == ["1"]


def test_the_scene_of_a_moment(story: Path) -> None:
    line = axis(story, "2.2")
    found = [line.scene_at(Moment(place)) for place in ((1,), (1, 1, 2), (2,), (2, 2))]
    assert [None if stop is None else stop.moment.dotted for stop in found] == ["1.1", "1.1", "2.1", None]


def test_before_anything_has_happened_there_is_only_now(story: Path) -> None:
    line = axis(story, "start")
    assert line.scenes == [] and line.position(Moment((0,))) == 1.0
