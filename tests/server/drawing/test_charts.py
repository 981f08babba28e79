"""The chart of a course, the axis of story time under it, and the chart of who learns what when."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from understudy.formats import read
from understudy.people.continuity.scenes import Learning
from understudy.server.drawing.charts import TimeAxis, course_chart, learning_chart, sparkline, time_axis
from understudy.story.spoiler_free import Course, Stop, timeline
from understudy.story.storyfile import Story
from understudy.story.types import Moment

SVG = "{http://www.w3.org/2000/svg}"
AXIS = TimeAxis(
    [Stop(Moment((1, number)), True, setting=f"Place {number}", lines=10) for number in range(1, 5)],
    [Stop(Moment((1,)), True)],
    Moment((2,)),
)
WENT: Course = [(Moment((1, 1)), 10), (Moment((1, 2)), -10), (Moment((1, 4)), 0)]


def chart(**courses: Course) -> ElementTree.Element:
    markup = course_chart(
        "Ines", "Tobias", courses, AXIS, "at 2", link=lambda moment: f"/story?see={moment.dotted}&x#m-{moment.dotted}"
    )
    return ElementTree.fromstring(markup)


def corners(root: ElementTree.Element, kind: str) -> list[tuple[float, float]]:
    (line,) = [shape for shape in root.iter(f"{SVG}polyline") if kind in str(shape.get("class")).split()]
    pairs = [point.split(",") for point in str(line.get("points")).split()]
    return [(float(x), float(y)) for x, y in pairs]


def test_levels_lie_at_their_heights_and_changes_at_their_scenes() -> None:
    steps = corners(chart(affection=WENT), "affection")
    heights = [y for _, y in steps]
    top, bottom = heights[0], heights[2]
    assert heights == [top, top, bottom, bottom, (top + bottom) / 2, (top + bottom) / 2, (top + bottom) / 2]
    (start, _), (end, _) = steps[0], steps[-1]
    assert [round((x - start) / (end - start), 2) for x, _ in steps] == [0, 0.25, 0.25, 0.75, 0.75, 1, 1]


def test_the_scale_says_the_same_heights_as_the_course() -> None:
    root = chart(affection=WENT)
    rules = {
        "".join(text.itertext()): float(line.get("y1", ""))
        for group in root.iter(f"{SVG}g")
        if group.get("class") == "scale"
        for line, text in zip(group.iter(f"{SVG}line"), group.iter(f"{SVG}text"), strict=True)
    }
    heights = [y for _, y in corners(root, "affection")]
    assert (rules["+10"], rules["−10"], rules["0"]) == (heights[0], heights[2], heights[-1])


def test_each_change_is_a_mark_that_leads_to_its_scene() -> None:
    links = list(chart(affection=WENT).iter(f"{SVG}a"))
    assert [link.get("href") for link in links] == [f"/story?see={at}&x#m-{at}" for at in ("1.1", "1.2", "1.4")]
    assert [link.findtext(f"{SVG}title") for link in links] == [
        "1.1, Place 1: affection +10",
        "1.2, Place 2: affection +10 to −10",
        "1.4, Place 4: affection −10 to 0",
    ]
    circles = [float(next(link.iter(f"{SVG}circle")).get("cy", "")) for link in links]
    assert circles == [y for _, y in corners(chart(affection=WENT), "affection")][::2][:3]


def test_both_kinds_have_a_line_of_their_own_and_a_name() -> None:
    root = chart(affection=WENT, familiarity=[(Moment((1, 1)), 2)])
    assert len(list(root.iter(f"{SVG}polyline"))) == 2
    said = {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}
    assert {"affection", "familiarity", "now"} <= said
    assert root.get("aria-label") == "Ines's affection and familiarity towards Tobias, at 2"


def test_standalone_nothing_is_a_link() -> None:
    markup = course_chart("Ines", "Tobias", {"affection": WENT}, AXIS, "at 2", standalone=True)
    assert not list(ElementTree.fromstring(markup).iter(f"{SVG}a"))


def test_chapter_numbers_never_run_into_each_other() -> None:
    many = [Stop(Moment((1, number)), True) for number in range(1, 201)]
    scenes = [Stop(Moment((1, number, 1)), True, lines=3) for number in range(1, 201)]
    markup = course_chart("A", "B", {"affection": [(Moment((1, 1)), 3)]}, TimeAxis(scenes, many, Moment((2,))), "at 2")
    root = ElementTree.fromstring(markup)
    (time,) = [group for group in root.iter(f"{SVG}g") if group.get("class") == "time"]
    labels = sorted(float(text.get("x", "")) for text in time.iter(f"{SVG}text"))
    assert 5 < len(labels) < 30 and min(b - a for a, b in pairwise(labels)) > 24


@pytest.mark.parametrize("course", [WENT, WENT[:1]])
def test_a_sparkline_ends_where_the_feeling_stands(course: Course) -> None:
    root = ElementTree.fromstring(sparkline("Tobias <Rook>", course, AXIS))
    (end,) = root.iter(f"{SVG}circle")
    last = corners(root, "spark")[-1]
    assert (float(end.get("cx", "")), float(end.get("cy", ""))) == last
    assert str(root.get("aria-label")).startswith("Affection towards Tobias <Rook>: +10 from 1.1")


def axis(folder: Path, at: str) -> TimeAxis:
    story = read(folder)
    moment = story.moment(at)
    return time_axis(list(timeline(story, moment)), moment)


def test_scenes_are_equally_wide_up_to_now(story: Path) -> None:
    line = axis(story, "2.2")
    assert [line.position(Moment(numbers)) for numbers in ((1,), (1, 1), (1, 2), (2,), (2, 1), (2, 2))] == [
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
    scenes = [line.scene_at(Moment(numbers)) for numbers in ((1,), (1, 1, 2), (2,), (2, 2))]
    assert [None if stop is None else stop.moment.dotted for stop in scenes] == ["1.1", "1.1", "2.1", None]


def test_before_anything_has_happened_there_is_only_now(story: Path) -> None:
    line = axis(story, "start")
    assert line.scenes == [] and line.position(Moment((0,))) == 1.0


def chart_of_learning(story: Story, *items: Learning, link: bool = False) -> ElementTree.Element:
    drawn = learning_chart(story, items, (lambda moment: f"/at/{moment.dotted}") if link else None, standalone=True)
    return ElementTree.fromstring(str(drawn))


def test_marks_stand_in_story_order_and_do_not_overlap(stories: dict[str, Story]) -> None:
    story = stories["brass-key"]
    early, late = Moment((1, 1, 2)), Moment((2, 2, 1))
    both = [Learning("a", {"Ines Vale": early, "Tobias Rook": late}), Learning("b", {"Ines Vale": early})]
    marks = [
        (float(circle.get("cx", "0")), float(circle.get("cy", "0")))
        for group in chart_of_learning(story, *both).iter(f"{SVG}g")
        if "heard" in (group.get("class") or "")
        for circle in group.iter(f"{SVG}circle")
    ]
    (first, second, third) = marks
    assert first[0] == second[0] and second[1] - first[1] >= 18 and third[0] > first[0]


def test_a_mark_leads_to_its_scene_and_text_is_escaped(stories: dict[str, Story]) -> None:
    item = Learning("<b>&", {"Ines Vale": Moment((1, 1, 2))})
    drawn = chart_of_learning(stories["brass-key"], item, link=True)
    (anchor,) = drawn.iter(f"{SVG}a")
    assert anchor.get("href") == "/at/1.1.2" and "<b>&" in "".join(drawn.itertext())
