"""Who learns what when: people as rows, story time as columns, a mark where somebody first hears of an item.

It is for authors: it shows the whole story.

Every scene is equally wide. Marks of one row that would overlap stand below each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from understudy.people.continuity.scenes import Learning
from understudy.server.drawing.course_chart import TimeAxis, time_axis
from understudy.server.drawing.svg import drawing, element, shorten, text_width
from understudy.story.spoiler_free import timeline
from understudy.story.storyfile import Story
from understudy.story.types import Moment

__all__ = ["COLOURS", "learning_chart"]

COLOURS = 8
WIDTH = 760.0
LEFT, RIGHT, TOP, BOTTOM = 128.0, 16.0, 26.0, 14.0
RADIUS, LANE = 9.0, 20.0
ROW_PADDING = 4.0
FONT_SIZE, MARK_SIZE = 12.0, 11.0
LEGEND_LINE, LEGEND_COLUMN = 22.0, 248.0
MAX_PEOPLE = 16


def learning_chart(
    story: Story,
    items: Sequence[Learning],
    link: Callable[[Moment], str] | None = None,
    standalone: bool = False,
) -> Markup:
    """`link` maps a moment to the URL of its scene."""
    axis = time_axis(list(timeline(story, Moment.end(story.levels))), Moment.end(story.levels))
    heard = {who for item in items for who in item.hearings}
    people = [member.character.name for member in story.cast() if member.character.name in heard][:MAX_PEOPLE]
    rows, y = list[Markup](), TOP
    for number, who in enumerate(people):
        row, height = _row(who, items, axis, y, number, link)
        rows.append(row)
        y += height
    columns = max(int((WIDTH - 2 * RADIUS) // LEGEND_COLUMN), 1)
    height = y + BOTTOM + LEGEND_LINE * -(-len(items) // columns) + 6
    return drawing(
        f"Who learns what when in {story.title}",
        (0, 0, WIDTH, height),
        *_chapters(axis, y),
        *rows,
        *(_legend(item, number, y + BOTTOM, columns) for number, item in enumerate(items)),
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
        x = LEFT + RADIUS + (WIDTH - LEFT - RIGHT - 2 * RADIUS) * axis.position(moment)
        lane = next((lane for lane, last in enumerate(lanes) if x - last >= 2 * RADIUS + 1), len(lanes))
        lanes[lane : lane + 1] = [x]
        y = top + ROW_PADDING + LANE * lane + LANE / 2
        marks.append(_mark(who, items[index].item, index, moment, (x, y), link))
    height = LANE * max(len(lanes), 1) + 2 * ROW_PADDING
    name = shorten(who, LEFT - 14, FONT_SIZE)
    return (
        element(
            "g",
            element("rect", class_="band" if number % 2 else "band odd", x=0.0, y=top, width=WIDTH, height=height),
            element(
                "text", name, x=LEFT - 10, y=top + ROW_PADDING + LANE / 2 + 4, font_size=FONT_SIZE, text_anchor="end",
                class_="who",
            ),
            *marks,
        ),
        height,
    )  # fmt: skip


def _mark(
    who: str,
    item: str,
    index: int,
    moment: Moment,
    at: tuple[float, float],
    link: Callable[[Moment], str] | None,
) -> Markup:
    told = f"{who} first hears of {item} in {moment.dotted}"
    parts = element("title", told), _badge(index, at)
    class_ = f"heard item-{index % COLOURS}"
    if link is None:
        return element("g", *parts, class_=class_)
    return element("a", *parts, class_=class_, href=link(moment), aria_label=told)


def _chapters(axis: TimeAxis, bottom: float) -> list[Markup]:
    """Lines where parts or chapters begin, with their numbers where there is room."""
    drawn, free_from = list[Markup](), 0.0
    for chapter in axis.chapters:
        x = LEFT + RADIUS + (WIDTH - LEFT - RIGHT - 2 * RADIUS) * axis.position(chapter.moment)
        label = chapter.moment.dotted
        drawn.append(element("line", class_="rule", x1=x, x2=x, y1=TOP - 6, y2=bottom))
        if x >= free_from:
            drawn.append(element("text", label, x=x, y=TOP - 10, font_size=FONT_SIZE, class_="time-label"))
            free_from = x + text_width(label, FONT_SIZE) + 8
    return drawn


def _legend(item: Learning, index: int, top: float, columns: int) -> Markup:
    x = 2 * RADIUS + LEGEND_COLUMN * (index % columns)
    y = top + LEGEND_LINE * (index // columns) + LEGEND_LINE / 2
    label = shorten(item.item, LEGEND_COLUMN - 3 * RADIUS - 8, FONT_SIZE)
    return element(
        "g",
        _badge(index, (x, y)),
        element("text", label, x=x + RADIUS + 6, y=y + 4, font_size=FONT_SIZE),
        class_=f"item-{index % COLOURS}",
    )


def _badge(index: int, at: tuple[float, float]) -> Markup:
    """The number of an item on its colour."""
    x, y = at
    return element(
        "g",
        element("circle", class_="item", cx=x, cy=y, r=RADIUS),
        element("text", str(index + 1), class_="item-number", x=x, y=y + 4, font_size=MARK_SIZE, text_anchor="middle"),
        class_="badge",
    )
