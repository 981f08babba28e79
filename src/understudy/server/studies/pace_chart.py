"""How many answers came when, as bars: by the hour, or by the day where a study has run for longer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from understudy.server.drawing.svg import drawing, element

__all__ = ["pace_bars", "pace_chart"]

WIDTH, HEIGHT = 640.0, 132.0
LEFT, RIGHT, TOP, BOTTOM = 34.0, 6.0, 8.0, 22.0
FONT_SIZE = 12.0
MOST_HOURS = 48
MOST_BARS = 60
MOST_BAR_WIDTH = 40.0


def pace_bars(pace: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """A label and a count for each hour, or day, from the first answer to the last; at most the latest `MOST_BARS`."""
    if not pace:
        return []
    counts = Counter({datetime.fromisoformat(f"{hour}:00").replace(tzinfo=UTC): count for hour, count in pace})
    step, label = timedelta(hours=1), "%H:00"
    if max(counts) - min(counts) >= timedelta(hours=MOST_HOURS):
        days = Counter[datetime]()
        for hour, count in counts.items():
            days[hour.replace(hour=0)] += count
        counts, step, label = days, timedelta(days=1), "%d %b"
    first, last = min(counts), max(counts)
    bars = [first + number * step for number in range((last - first) // step + 1)]
    return [(time.strftime(label), counts[time]) for time in bars[-MOST_BARS:]]


def pace_chart(pace: Sequence[tuple[str, int]]) -> Markup:
    bars = pace_bars(pace)
    top = max((count for _, count in bars), default=0)
    unit = "day" if bars and ":" not in bars[0][0] else "hour"
    slot = (WIDTH - LEFT - RIGHT) / max(len(bars), 1)
    height = HEIGHT - TOP - BOTTOM
    width = min(slot * 0.8, MOST_BAR_WIDTH)
    every = max(-(-len(bars) // 10), 1)  # so that labels do not touch
    drawn = []
    for number, (label, count) in enumerate(bars):
        middle, tall = LEFT + slot * (number + 0.5), height * count / top
        tooltip = element("title", f"{label}: {count}")
        drawn.append(
            element(
                "rect",
                tooltip,
                class_="bar",
                x=middle - width / 2,
                y=TOP + height - tall,
                width=width,
                height=tall,
                rx=2,
            )
        )
        if number % every == 0:
            drawn.append(
                element(
                    "text",
                    label,
                    class_="bar-label",
                    x=middle,
                    y=HEIGHT - 6,
                    font_size=FONT_SIZE,
                    text_anchor="middle",
                )
            )
    return drawing(
        f"Answers by the {unit}, {top} at most",
        (0, 0, WIDTH, HEIGHT),
        element("line", class_="rule", x1=LEFT, x2=WIDTH - RIGHT, y1=TOP + height, y2=TOP + height),
        element("text", str(top), class_="bar-label", x=LEFT - 6, y=TOP + 10, font_size=FONT_SIZE, text_anchor="end"),
        element(
            "text", "0", class_="bar-label", x=LEFT - 6, y=TOP + height, font_size=FONT_SIZE, text_anchor="end"
        ),
        *drawn,
        class_="pace",
        standalone=False,
    )  # fmt: skip
