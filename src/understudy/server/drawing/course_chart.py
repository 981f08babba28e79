"""The chart of affection and familiarity towards a person up to a moment: step lines, with a mark at each change.

The horizontal axis is story time, on which every scene that was reached is equally wide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from understudy.server.drawing.svg import drawing, element, text_width
from understudy.server.drawing.ties_graph import feeling_class, signed
from understudy.story.spoiler_free import Course, Stop
from understudy.story.types import Moment

__all__ = ["TimeAxis", "course_chart", "sparkline", "time_axis"]

WIDTH, HEIGHT = 460.0, 290.0
LEFT, RIGHT, TOP, BOTTOM = 40.0, 34.0, 34.0, 40.0
LOW, HIGH = -10, 10  # levels
FONT_SIZE = 12.0
SPARKLINE_SIZE = (132.0, 36.0)
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """The scenes that began before `now`, each with the number of its lines so far, and their chapters."""

    scenes: Sequence[Stop]
    chapters: Sequence[Stop]
    now: Moment

    def position(self, moment: Moment) -> float:
        """From 0, the story's first scene, to 1, now. Inside a scene, lines are equally wide."""
        if moment >= self.now or not self.scenes:
            return 1.0 if self.scenes or moment >= self.now else 0.0
        index = bisect_left(self.scenes, moment, key=_start)
        scenes = float(index)
        if index and moment.within(self.scenes[index - 1].moment):
            scene = self.scenes[index - 1]
            lines = max(scene.lines or 0, 1)
            scenes += min((moment.numbers[len(scene.moment.numbers)] - 1) / lines, 1.0) - 1
        return min(scenes / len(self.scenes), 1.0)

    def scene_at(self, moment: Moment) -> Stop | None:
        """The scene a moment is in, or the first one after it; None if that is after now."""
        index = bisect_right(self.scenes, moment, key=_start)
        if index and moment.within(self.scenes[index - 1].moment):
            return self.scenes[index - 1]
        return self.scenes[index] if index < len(self.scenes) else None


def _start(stop: Stop) -> Moment:
    return stop.moment


def time_axis(stops: Sequence[Stop], now: Moment) -> TimeAxis:
    """The axis up to now, from a story's timeline."""
    reached = [stop for stop in stops if stop.reached]
    depth = max((len(stop.moment.numbers) for stop in stops), default=0)
    return TimeAxis(
        [stop for stop in reached if len(stop.moment.numbers) == depth and stop.lines is not None],
        [stop for stop in reached if stop.lines is None and len(stop.moment.numbers) == max(depth - 1, 1)],
        now,
    )


def course_chart(
    name: str,
    to: str,
    courses: Mapping[str, Course],
    axis: TimeAxis,
    when: str,
    link: Callable[[Moment], str] | None = None,
    standalone: bool = False,
) -> Markup:
    """`courses` are the lines to draw, by kind of level; `link` maps a moment to the URL of its scene."""
    kinds = " and ".join(courses) or "affection"
    lines = [(kind, course, [_point(axis, change) for change in course]) for kind, course in courses.items() if course]
    low = LOW if "affection" in courses or not courses else 0
    return drawing(
        f"{name}'s {kinds} towards {to}, {when}",
        (0, 0, WIDTH, HEIGHT),
        _grid(low),
        _chapters(axis),
        element("g", *(_legend(kind, number) for number, (kind, _, _) in enumerate(lines)), class_="legend"),
        *(element("polyline", class_=f"course {kind}", points=_steps(points)) for kind, _, points in lines),
        *_ends(lines),
        *(_marks(kind, course, points, axis, link) for kind, course, points in lines),
        class_="chart",
        standalone=standalone,
    )


def sparkline(name: str, course: Course, axis: TimeAxis) -> Markup:
    """The course of affection as a small chart without scales."""
    width, height = SPARKLINE_SIZE
    points = [(4 + (width - 8) * axis.position(at), _y(level, 4, height - 4)) for at, level in course]
    last = course[-1][1]
    end = (width - 4, points[-1][1])
    summary = ", ".join(f"{signed(level)} from {at.dotted}" for at, level in course[-12:])
    return drawing(
        f"Affection towards {name}: {summary}",
        (0, 0, width, height),
        element("line", class_="zero", x1=0, x2=width, y1=_y(0, 4, height - 4), y2=_y(0, 4, height - 4)),
        element("polyline", class_=f"spark {feeling_class(last)}", points=_steps([*points, end], extend=False)),
        element("circle", class_=f"spark-end {feeling_class(last)}", cx=end[0], cy=end[1], r=3),
        class_="sparkline",
        standalone=False,
    )


def _point(axis: TimeAxis, change: tuple[Moment, int]) -> Point:
    moment, level = change
    return LEFT + (WIDTH - LEFT - RIGHT) * axis.position(moment), _y(level, TOP, HEIGHT - BOTTOM)


def _y(level: int, top: float, bottom: float) -> float:
    return top + (bottom - top) * (HIGH - level) / (HIGH - LOW)


def _steps(points: Sequence[Point], extend: bool = True) -> str:
    """Corners of a step line; with `extend` its last level goes on to the right edge, which is now."""
    if extend:
        points = [*points, (WIDTH - RIGHT, points[-1][1])]
    corners = [points[0]]
    for (_, before), (x, after) in pairwise(points):
        corners += [(x, before), (x, after)]
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


def _grid(low: int) -> Markup:
    rows = []
    for level in range(low, HIGH + 1, 5):
        y = _y(level, TOP, HEIGHT - BOTTOM)
        rows += [
            element("line", class_="zero" if level == 0 else "rule", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y),
            element("text", signed(level), x=LEFT - 8, y=y + 4, font_size=FONT_SIZE, text_anchor="end"),
        ]
    return element("g", *rows, class_="scale", aria_hidden="true")


def _chapters(axis: TimeAxis) -> Markup:
    """A tick for each chapter, labelled where there is room; the first chapter and now always are."""
    ticks = []
    right_limit = WIDTH - RIGHT - text_width("now", FONT_SIZE) / 2 - 6
    left_limit = LEFT - 16
    for chapter in axis.chapters:
        x = LEFT + (WIDTH - LEFT - RIGHT) * axis.position(chapter.moment)
        half_width = text_width(chapter.moment.dotted, FONT_SIZE) / 2
        ticks.append(element("line", class_="tick", x1=x, x2=x, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM + 5))
        if x - half_width >= left_limit and x + half_width <= right_limit:
            ticks.append(_tick_label(chapter.moment.dotted, x))
            left_limit = x + half_width + 8
    ticks.append(_tick_label("now", WIDTH - RIGHT))
    axis_line = element("line", class_="axis", x1=LEFT, x2=WIDTH - RIGHT, y1=HEIGHT - BOTTOM, y2=HEIGHT - BOTTOM)
    now = element("line", class_="now", x1=WIDTH - RIGHT, x2=WIDTH - RIGHT, y1=TOP, y2=HEIGHT - BOTTOM)
    return element("g", axis_line, now, *ticks, class_="time", aria_hidden="true")


def _tick_label(text: str, x: float) -> Markup:
    return element("text", text, x=x, y=HEIGHT - BOTTOM + 20, font_size=FONT_SIZE, text_anchor="middle")


def _legend(kind: str, number: int) -> Markup:
    x = LEFT + 130 * number
    return element(
        "g",
        element("line", class_=f"course {kind}", x1=x, x2=x + 26, y1=14, y2=14),
        element("text", kind, x=x + 34, y=18, font_size=FONT_SIZE),
    )


def _ends(lines: Sequence[tuple[str, Course, list[Point]]]) -> list[Markup]:
    """The last level of each line; two labels that would overlap are moved apart."""
    ends = sorted((points[-1][1], kind, course[-1][1]) for kind, course, points in lines)
    shift = 8.0 if len(ends) == 2 and ends[1][0] - ends[0][0] < 14 else 0.0
    return [
        element(
            "text", signed(level) if kind == "affection" else str(level), class_=f"end {kind}", font_size=FONT_SIZE,
            x=WIDTH - RIGHT + 6, y=y + 4 + shift * (1 if number else -1), aria_hidden="true",
        )
        for number, (y, kind, level) in enumerate(ends)
    ]  # fmt: skip


def _marks(
    kind: str, course: Course, points: Sequence[Point], axis: TimeAxis, link: Callable[[Moment], str] | None
) -> Markup:
    marks = []
    before: int | None = None
    for (moment, level), (x, y) in zip(course, points):
        scene = axis.scene_at(moment)
        where = f"{moment.dotted}" + (f", {scene.setting}" if scene is not None and scene.setting else "")
        change = signed(level) if before is None else f"{signed(before)} to {signed(level)}"
        children = (
            element("title", f"{where}: {kind} {change}"),
            element("circle", class_="reach", cx=x, cy=y, r=11),
            element("circle", class_=f"mark {kind}", cx=x, cy=y, r=4.5),
        )
        attributes = {"class_": "change", "data_moment": moment.dotted, "data_level": level}
        marks.append(
            element("g", *children, **attributes)
            if link is None
            else element("a", *children, href=link(moment), **attributes)
        )
        before = level
    return element("g", *marks, class_=f"marks {kind}")
