from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from understudy.server.drawing.axis import Axis
from understudy.server.drawing.courses import course_chart, sparkline
from understudy.spoiler_free import Course, Stop
from understudy.story import Moment

SVG = "{http://www.w3.org/2000/svg}"
AXIS = Axis(
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
    (line,) = [one for one in root.iter(f"{SVG}polyline") if kind in str(one.get("class")).split()]
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


def test_alone_nothing_is_a_link() -> None:
    markup = course_chart("Ines", "Tobias", {"affection": WENT}, AXIS, "at 2", alone=True)
    assert not list(ElementTree.fromstring(markup).iter(f"{SVG}a"))


def test_chapter_numbers_never_run_into_each_other() -> None:
    many = [Stop(Moment((1, number)), True) for number in range(1, 201)]
    scenes = [Stop(Moment((1, number, 1)), True, lines=3) for number in range(1, 201)]
    markup = course_chart("A", "B", {"affection": [(Moment((1, 1)), 3)]}, Axis(scenes, many, Moment((2,))), "at 2")
    root = ElementTree.fromstring(markup)
    (time,) = [group for group in root.iter(f"{SVG}g") if group.get("class") == "time"]
    places = sorted(float(text.get("x", "")) for text in time.iter(f"{SVG}text"))
    assert 5 < len(places) < 30 and min(b - a for a, b in pairwise(places)) > 24


@pytest.mark.parametrize("course", [WENT, WENT[:1]])
def test_a_sparkline_ends_where_the_feeling_stands(course: Course) -> None:
    root = ElementTree.fromstring(sparkline("Tobias <Rook>", course, AXIS))
    (end,) = root.iter(f"{SVG}circle")
    last = corners(root, "spark")[-1]
    assert (float(end.get("cx", "")), float(end.get("cy", ""))) == last
    assert str(root.get("aria-label")).startswith("Affection towards Tobias <Rook>: +10 from 1.1")
