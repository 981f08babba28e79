"""SVG as text: elements with everything escaped, and the lines, labels and axes that charts are made of.

Colours and sizes of type are a matter of the style sheet beside a picture.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

Point = tuple[float, float]
NAMESPACE = "http://www.w3.org/2000/svg"
INVALID_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NARROW = frozenset("fijlrtI .,;:'|()[]!-·")


class Markup(str):
    """Text that is escaped already: `element` takes it as it is, and so does a template."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def element(tag: str, *children: str, tooltip: str | None = None, **attributes: Any) -> Markup:
    """One element. Text is escaped unless it is `Markup`; `class_` becomes `class`, `text_anchor` `text-anchor`."""
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    title = f"<title>{_escaped(tooltip)}</title>" if tooltip is not None else ""
    body = title + "".join(part if isinstance(part, Markup) else _escaped(part) for part in children)
    return Markup(f"<{tag}{written}>{body}</{tag}>" if body else f"<{tag}{written}/>")


def _escaped(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return escape(INVALID_XML.sub("", str(value)))


def line(class_: str, start: Point, end: Point, **attributes: Any) -> Markup:
    return element("line", class_=class_, x1=start[0], x2=end[0], y1=start[1], y2=end[1], **attributes)


def label(text: str, at: Point, anchor: str | None = None, **attributes: Any) -> Markup:
    """A text of one line that stands on the point, or ends or has its middle there."""
    return element("text", text, x=at[0], y=at[1], text_anchor=anchor, **attributes)


def coordinates(corners: Iterable[Point]) -> str:
    """Corners of a polyline or polygon, as its attribute takes them."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)


@dataclass(frozen=True, slots=True)
class ChartArea:
    """The area of a chart within its margins; its axes go to the right and upwards, from the first to the second value
    of `across` and `up`."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    across: tuple[float, float] = (0.0, 1.0)
    up: tuple[float, float] = (0.0, 1.0)

    @property
    def foot(self) -> float:
        """Where the lower edge is."""
        return self.height - self.bottom

    def x(self, value: float) -> float:
        first, last = self.across
        return round(self.left + (self.width - self.left - self.right) * (value - first) / ((last - first) or 1.0), 1)

    def y(self, value: float) -> float:
        first, last = self.up
        return round(self.foot - (self.foot - self.top) * (value - first) / ((last - first) or 1.0), 1)

    def horizontal(self, class_: str, value: float) -> Markup:
        """A line from the left to the right end."""
        return line(class_, (self.left, self.y(value)), (self.width - self.right, self.y(value)))

    def vertical(self, class_: str, value: float) -> Markup:
        """A line from the top to the bottom."""
        return line(class_, (self.x(value), self.top), (self.x(value), self.foot))

    def beside(self, value: float, text: str, **attributes: Any) -> Markup:
        """What a height stands for, to the left of the area."""
        return label(text, (self.left - 6, self.y(value) + 4), "end", **attributes)

    def below(self, value: float, text: str, anchor: str = "middle", **attributes: Any) -> Markup:
        """What a place on the lower edge stands for."""
        return label(text, (self.x(value), self.foot + 16), anchor, **attributes)


def text_width(text: str, size: float) -> float:
    """Estimated width of a text: full-width characters are square, others a little over half as wide."""
    return size * sum(
        1.0 if unicodedata.east_asian_width(char) in "WF" else 0.3 if char in NARROW else 0.62 for char in text
    )


def shorten(text: str, max_width: float, size: float) -> str:
    """The text, cut with an ellipsis if it is too wide."""
    if text_width(text, size) <= max_width:
        return text
    while text and text_width(text + "…", size) > max_width:
        text = text[:-1]
    return text.rstrip() + "…"
