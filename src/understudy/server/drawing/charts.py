"""Charts over story time, how feelings towards a person went and who learns what when; and the pace of a study.

The horizontal axis is story time, on which every scene that was reached is equally wide. Affection and familiarity are
step lines with a mark at each change. In the chart of learning people are rows, with a mark where somebody first hears
of an item; marks of one row that would overlap stand below each other. It is for authors: it shows the whole story.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

from understudy.people.continuity.scenes import Learning
from understudy.server.drawing import FONT_SIZE, drawing
from understudy.server.drawing.ties_graph import feeling_class, signed
from understudy.story.spoiler_free import Course, Stop, timeline
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.svg import ChartArea, Markup, Point, coordinates, element, label, line, shorten, text_width

LOW, HIGH = -10, 10  # levels
COURSE = ChartArea(460.0, 290.0, left=40.0, right=34.0, top=34.0, bottom=40.0, up=(LOW, HIGH))
SPARKLINE = ChartArea(132.0, 36.0, left=4.0, right=4.0, top=4.0, bottom=4.0, up=(LOW, HIGH))

COLOURS = 8
MAX_PEOPLE = 16
MARK_RADIUS, LANE, ROW_PADDING = 9.0, 20.0, 4.0
NAMES_WIDTH, ROWS_TOP, ROWS_BOTTOM = 128.0, 26.0, 14.0
LEARNING = ChartArea(  # marks stand within it, whole; its height follows from the rows
    760.0, 0.0, left=NAMES_WIDTH + MARK_RADIUS, right=16.0 + MARK_RADIUS, top=ROWS_TOP - 6, bottom=0.0
)
MARK_SIZE = 11.0
LEGEND_LINE, LEGEND_COLUMN = 22.0, 248.0


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
    lines = [(kind, course, _points(COURSE, axis, course)) for kind, course in courses.items() if course]
    low = LOW if "affection" in courses or not courses else 0
    return drawing(
        f"{name}'s {kinds} towards {to}, {when}",
        (0, 0, COURSE.width, COURSE.height),
        _scale(low),
        _course_time(axis),
        element("g", *(_course_legend(kind, number) for number, (kind, _, _) in enumerate(lines)), class_="legend"),
        *(
            element("polyline", class_=f"course {kind}", points=_steps([*corners, (COURSE.x(1), corners[-1][1])]))
            for kind, _, corners in lines
        ),
        *_ends(lines),
        *(_marks(kind, course, corners, axis, link) for kind, course, corners in lines),
        class_="chart",
        standalone=standalone,
    )


def sparkline(name: str, course: Course, axis: TimeAxis) -> Markup:
    """The course of affection as a small chart without scales."""
    corners = _points(SPARKLINE, axis, course)
    last = course[-1][1]
    end = (SPARKLINE.x(1), corners[-1][1])
    summary = ", ".join(f"{signed(level)} from {at.dotted}" for at, level in course[-12:])
    return drawing(
        f"Affection towards {name}: {summary}",
        (0, 0, SPARKLINE.width, SPARKLINE.height),
        line("zero", (0, SPARKLINE.y(0)), (SPARKLINE.width, SPARKLINE.y(0))),
        element("polyline", class_=f"spark {feeling_class(last)}", points=_steps([*corners, end])),
        element("circle", class_=f"spark-end {feeling_class(last)}", cx=end[0], cy=end[1], r=3),
        class_="sparkline",
        standalone=False,
    )


def _points(area: ChartArea, axis: TimeAxis, course: Course) -> list[Point]:
    return [(area.x(axis.position(moment)), area.y(level)) for moment, level in course]


def _steps(changes: Sequence[Point]) -> str:
    """Corners of a step line."""
    corners = [changes[0]]
    for (_, before), (x, after) in pairwise(changes):
        corners += [(x, before), (x, after)]
    return coordinates(corners)


def _scale(low: int) -> Markup:
    rows = []
    for level in range(low, HIGH + 1, 5):
        rows += [COURSE.horizontal("zero" if level == 0 else "rule", level), COURSE.beside(level, signed(level))]
    return element("g", *rows, class_="scale", aria_hidden="true")


def _course_time(axis: TimeAxis) -> Markup:
    """A tick for each chapter, labelled where there is room; the first chapter and now always are."""
    bottom, now = COURSE.foot, COURSE.x(1)
    ticks = []
    right_limit = now - text_width("now", FONT_SIZE) / 2 - 6
    left_limit = COURSE.left - 16
    for chapter in axis.chapters:
        x = COURSE.x(axis.position(chapter.moment))
        half_width = text_width(chapter.moment.dotted, FONT_SIZE) / 2
        ticks.append(line("tick", (x, bottom), (x, bottom + 5)))
        if x - half_width >= left_limit and x + half_width <= right_limit:
            ticks.append(label(chapter.moment.dotted, (x, bottom + 20), "middle"))
            left_limit = x + half_width + 8
    ticks.append(label("now", (now, bottom + 20), "middle"))
    axis_lines = COURSE.horizontal("axis", LOW), COURSE.vertical("now", 1)
    return element("g", *axis_lines, *ticks, class_="time", aria_hidden="true")


def _course_legend(kind: str, number: int) -> Markup:
    x = COURSE.left + 130 * number
    return element("g", line(f"course {kind}", (x, 14), (x + 26, 14)), label(kind, (x + 34, 18)))


def _ends(lines: Sequence[tuple[str, Course, list[Point]]]) -> list[Markup]:
    """The last level of each line; two labels that would overlap are moved apart."""
    ends = sorted((points[-1][1], kind, course[-1][1]) for kind, course, points in lines)
    shift = 8.0 if len(ends) == 2 and ends[1][0] - ends[0][0] < 14 else 0.0
    return [
        label(
            signed(level) if kind == "affection" else str(level),
            (COURSE.x(1) + 6, y + 4 + shift * (1 if number else -1)),
            class_=f"end {kind}",
            aria_hidden="true",
        )
        for number, (y, kind, level) in enumerate(ends)
    ]


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
            element("circle", class_="reach", cx=x, cy=y, r=11),
            element("circle", class_=f"mark {kind}", cx=x, cy=y, r=4.5),
        )
        href = None if link is None else link(moment)
        attributes: dict[str, Any] = {"class_": "change", "data_moment": moment.dotted, "data_level": level}
        marks.append(
            element(
                "g" if href is None else "a", *children, tooltip=f"{where}: {kind} {change}", href=href, **attributes
            )
        )
        before = level
    return element("g", *marks, class_=f"marks {kind}")


def learning_chart(
    story: Story, items: Sequence[Learning], link: Callable[[Moment], str] | None = None, standalone: bool = False
) -> Markup:
    """`link` maps a moment to the URL of its scene."""
    axis = time_axis(list(timeline(story, Moment.end(story.levels))), Moment.end(story.levels))
    learners = {who for item in items for who in item.hearings}
    people = [member.character.name for member in story.cast() if member.character.name in learners][:MAX_PEOPLE]
    rows, y = list[Markup](), ROWS_TOP
    for number, who in enumerate(people):
        row, height = _row(who, items, axis, y, number, link)
        rows.append(row)
        y += height
    columns = max(int((LEARNING.width - 2 * MARK_RADIUS) // LEGEND_COLUMN), 1)
    height = y + ROWS_BOTTOM + LEGEND_LINE * -(-len(items) // columns) + 6
    return drawing(
        f"Who learns what when in {story.title}",
        (0, 0, LEARNING.width, height),
        *_chapter_lines(axis, y),
        *rows,
        *(_learning_legend(item, number, y + ROWS_BOTTOM, columns) for number, item in enumerate(items)),
        class_="chart learning",
        standalone=standalone,
    )


def _row(
    who: str, items: Sequence[Learning], axis: TimeAxis, top: float, number: int, link: Callable[[Moment], str] | None
) -> tuple[Markup, float]:
    learnt = sorted((item.hearings[who], index) for index, item in enumerate(items) if who in item.hearings)
    lanes: list[float] = []  # where the last mark of each stands
    marks = []
    for moment, index in learnt:
        x = LEARNING.x(axis.position(moment))
        lane = next((lane for lane, last in enumerate(lanes) if x - last >= 2 * MARK_RADIUS + 1), len(lanes))
        lanes[lane : lane + 1] = [x]
        y = top + ROW_PADDING + LANE * lane + LANE / 2
        marks.append(_mark(who, items[index].item, index, moment, (x, y), link))
    height = LANE * max(len(lanes), 1) + 2 * ROW_PADDING
    band = element(
        "rect", class_="band" if number % 2 else "band odd", x=0.0, y=top, width=LEARNING.width, height=height
    )
    name = shorten(who, NAMES_WIDTH - 14, FONT_SIZE)
    at = (NAMES_WIDTH - 10, top + ROW_PADDING + LANE / 2 + 4)
    return element("g", band, label(name, at, "end", class_="who"), *marks), height


def _mark(who: str, item: str, index: int, moment: Moment, at: Point, link: Callable[[Moment], str] | None) -> Markup:
    tooltip = f"{who} first hears of {item} in {moment.dotted}"
    href, aria_label = (None, None) if link is None else (link(moment), tooltip)
    class_, tag = f"heard item-{index % COLOURS}", "g" if href is None else "a"
    return element(tag, _badge(index, at), tooltip=tooltip, href=href, class_=class_, aria_label=aria_label)


def _chapter_lines(axis: TimeAxis, bottom: float) -> list[Markup]:
    """Lines where parts or chapters begin, with their numbers where there is room."""
    area = replace(LEARNING, height=bottom)
    drawn, free_from = list[Markup](), 0.0
    for chapter in axis.chapters:
        position, number = axis.position(chapter.moment), chapter.moment.dotted
        x = area.x(position)
        drawn.append(area.vertical("rule", position))
        if x >= free_from:
            drawn.append(label(number, (x, ROWS_TOP - 10), class_="time-label"))
            free_from = x + text_width(number, FONT_SIZE) + 8
    return drawn


def _learning_legend(item: Learning, index: int, top: float, columns: int) -> Markup:
    x = 2 * MARK_RADIUS + LEGEND_COLUMN * (index % columns)
    y = top + LEGEND_LINE * (index // columns) + LEGEND_LINE / 2
    text = shorten(item.item, LEGEND_COLUMN - 3 * MARK_RADIUS - 8, FONT_SIZE)
    return element(
        "g", _badge(index, (x, y)), label(text, (x + MARK_RADIUS + 6, y + 4)), class_=f"item-{index % COLOURS}"
    )


def _badge(index: int, at: Point) -> Markup:
    """The number of an item on its colour."""
    x, y = at
    return element(
        "g",
        element("circle", class_="item", cx=x, cy=y, r=MARK_RADIUS),
        label(str(index + 1), (x, y + 4), "middle", font_size=MARK_SIZE, class_="item-number"),
        class_="badge",
    )


PACE = ChartArea(640.0, 132.0, left=34.0, right=6.0, top=8.0, bottom=22.0)
MOST_HOURS = 48
MOST_BARS = 60
MOST_LABELS = 10  # so that they do not touch
MOST_BAR_WIDTH = 40.0


def pace_bars(pace: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """A label and a count for each hour, or day, from the first answer to the last; at most the latest `MOST_BARS`."""
    if not pace:
        return []
    counts = Counter({datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC): count for hour, count in pace})
    step, form = timedelta(hours=1), "%H:00"
    if max(counts) - min(counts) >= timedelta(hours=MOST_HOURS):
        days = Counter[datetime]()
        for hour, count in counts.items():
            days[hour.replace(hour=0)] += count
        counts, step, form = days, timedelta(days=1), "%d %b"
    first, last = min(counts), max(counts)
    bars = [first + number * step for number in range((last - first) // step + 1)]
    return [(time.strftime(form), counts[time]) for time in bars[-MOST_BARS:]]


def pace_chart(pace: Sequence[tuple[str, int]]) -> Markup:
    """How many answers came when, as bars: by the hour, or by the day where a study has run for longer."""
    bars = pace_bars(pace)
    most = max((count for _, count in bars), default=0)
    unit = "day" if bars and ":" not in bars[0][0] else "hour"
    area = replace(PACE, across=(0, len(bars) or 1), up=(0, most))
    width = min((area.x(1) - area.x(0)) * 0.8, MOST_BAR_WIDTH)
    every = max(-(-len(bars) // MOST_LABELS), 1)
    drawn = []
    for number, (time, count) in enumerate(bars):
        middle, top = area.x(number + 0.5), area.y(count)
        size = {"x": middle - width / 2, "y": top, "width": width, "height": area.foot - top}
        drawn.append(element("rect", tooltip=f"{time}: {count}", class_="bar", rx=2, **size))
        if number % every == 0:
            drawn.append(area.below(number + 0.5, time, class_="bar-label"))
    return drawing(
        f"Answers by the {unit}, {most} at most",
        (0, 0, area.width, area.height),
        area.horizontal("rule", 0),
        area.beside(most, str(most), class_="bar-label"),
        area.beside(0, "0", class_="bar-label"),
        *drawn,
        class_="pace",
        standalone=False,
    )
