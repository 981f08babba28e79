"""How affection and familiarity towards somebody went, up to now: steps, with a mark for each scene of change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from markupsafe import Markup

from understudy.server.drawing.axis import Axis
from understudy.server.drawing.relations import feeling_class, signed
from understudy.server.drawing.svg import drawing, element, width_of
from understudy.spoiler_free import Course
from understudy.story import Moment

__all__ = ["course_chart", "sparkline"]

WIDTH, HEIGHT = 460.0, 290.0
LEFT, RIGHT, TOP, BOTTOM = 40.0, 34.0, 34.0, 40.0
LOW, HIGH = -10, 10
TYPE = 12.0
SPARK = (132.0, 36.0)
Point = tuple[float, float]


def course_chart(
    name: str,
    to: str,
    courses: Mapping[str, Course],
    axis: Axis,
    when: str,
    link: Callable[[Moment], str] | None = None,
    alone: bool = False,
) -> Markup:
    """`courses` has one for each kind of level that is to be drawn; `link` gives where a scene is read."""
    kinds = " and ".join(courses) or "affection"
    lines = [(kind, course, [_place(axis, point) for point in course]) for kind, course in courses.items() if course]
    low = LOW if "affection" in courses or not courses else 0
    return drawing(
        f"{name}'s {kinds} towards {to}, {when}",
        (0, 0, WIDTH, HEIGHT),
        _grid(low),
        _chapters(axis),
        element("g", *(_legend(kind, number) for number, (kind, _, _) in enumerate(lines)), class_="legend"),
        *(element("polyline", class_=f"course {kind}", points=_steps(places)) for kind, _, places in lines),
        *(_ends(lines)),
        *(_marks(kind, course, places, axis, link) for kind, course, places in lines),
        class_="chart",
        alone=alone,
    )


def sparkline(name: str, course: Course, axis: Axis) -> Markup:
    """The course of affection at the size of a word."""
    width, height = SPARK
    places = [(4 + (width - 8) * axis.position(at), _height(level, 4, height - 4)) for at, level in course]
    last = course[-1][1]
    end = (width - 4, places[-1][1])
    said = ", ".join(f"{signed(level)} from {at.dotted}" for at, level in course[-12:])
    return drawing(
        f"Affection towards {name}: {said}",
        (0, 0, width, height),
        element("line", class_="zero", x1=0, x2=width, y1=_height(0, 4, height - 4), y2=_height(0, 4, height - 4)),
        element("polyline", class_=f"spark {feeling_class(last)}", points=_steps([*places, end], open_end=False)),
        element("circle", class_=f"spark-end {feeling_class(last)}", cx=end[0], cy=end[1], r=3),
        class_="sparkline",
        alone=False,
    )


def _place(axis: Axis, point: tuple[Moment, int]) -> Point:
    moment, level = point
    return LEFT + (WIDTH - LEFT - RIGHT) * axis.position(moment), _height(level, TOP, HEIGHT - BOTTOM)


def _height(level: int, top: float, bottom: float) -> float:
    return top + (bottom - top) * (HIGH - level) / (HIGH - LOW)


def _steps(places: Sequence[Point], open_end: bool = True) -> str:
    """Along at the old level, then up or down to the new one; the last level goes on to now."""
    if open_end:
        places = [*places, (WIDTH - RIGHT, places[-1][1])]
    corners = [places[0]]
    for (_, before), (x, after) in pairwise(places):
        corners += [(x, before), (x, after)]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def _grid(low: int) -> Markup:
    rows = []
    for level in range(low, HIGH + 1, 5):
        y = _height(level, TOP, HEIGHT - BOTTOM)
        rows += [
            element("line", class_="zero" if level == 0 else "rule", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y),
            element("text", signed(level), x=LEFT - 8, y=y + 4, font_size=TYPE, text_anchor="end"),
        ]
    return element("g", *rows, class_="scale", aria_hidden="true")


def _chapters(axis: Axis) -> Markup:
    """A tick for each chapter, as many with their number as there is room for; the first and now always have one."""
    ticks = []
    room = WIDTH - RIGHT - width_of("now", TYPE) / 2 - 6
    free = LEFT - 16
    for chapter in axis.chapters:
        x = LEFT + (WIDTH - LEFT - RIGHT) * axis.position(chapter.moment)
        half = width_of(chapter.moment.dotted, TYPE) / 2
        ticks.append(element("line", class_="tick", x1=x, x2=x, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 5))
        if x - half >= free and x + half <= room:
            ticks.append(_under(chapter.moment.dotted, x))
            free = x + half + 8
    ticks.append(_under("now", WIDTH - RIGHT))
    axis_line = element("line", class_="axis", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM)
    now = element("line", class_="now", x1=WIDTH - RIGHT, x2=WIDTH - RIGHT, y1=TOP, y2=HEIGHT - BOTTOM)
    return element("g", axis_line, now, *ticks, class_="time", aria_hidden="true")


def _under(text: str, x: float) -> Markup:
    return element("text", text, x=x, y=HEIGHT - BOTTOM + 20, font_size=TYPE, text_anchor="middle")


def _legend(kind: str, number: int) -> Markup:
    x = LEFT + 130 * number
    return element(
        "g",
        element("line", class_=f"course {kind}", x1=x, x2=x + 26, y1=14, y2=14),
        element("text", kind, x=x + 34, y=18, font_size=TYPE),
    )


def _ends(lines: Sequence[tuple[str, Course, list[Point]]]) -> list[Markup]:
    """The level each course has come to; two that end close to each other are moved apart."""
    ends = sorted((places[-1][1], kind, course[-1][1]) for kind, course, places in lines)
    shift = 8.0 if len(ends) == 2 and ends[1][0] - ends[0][0] < 14 else 0.0
    return [
        element(
            "text", signed(level) if kind == "affection" else str(level), class_=f"end {kind}", font_size=TYPE,
            x=WIDTH - RIGHT + 6, y=y + 4 + shift * (1 if number else -1), aria_hidden="true",
        )
        for number, (y, kind, level) in enumerate(ends)
    ]  # fmt: skip


def _marks(
    kind: str, course: Course, places: Sequence[Point], axis: Axis, link: Callable[[Moment], str] | None
) -> Markup:
    marks = []
    before: int | None = None
    for (moment, level), (x, y) in zip(course, places):
        scene = axis.scene_at(moment)
        where = f"{moment.dotted}" + (f", {scene.setting}" if scene is not None and scene.setting else "")
        went = signed(level) if before is None else f"{signed(before)} to {signed(level)}"
        inside = (
            element("title", f"{where}: {kind} {went}"),
            element("circle", class_="reach", cx=x, cy=y, r=11),
            element("circle", class_=f"mark {kind}", cx=x, cy=y, r=4.5),
        )
        about = {"class_": "change", "data_moment": moment.dotted, "data_level": level}
        marks.append(
            element("g", *inside, **about) if link is None else element("a", *inside, href=link(moment), **about)
        )
        before = level
    return element("g", *marks, class_=f"marks {kind}")
