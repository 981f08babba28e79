"""SVG written down: every text escaped, what XML cannot hold left out."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files

from markupsafe import Markup, escape

__all__ = ["FAMILY", "drawing", "element", "shortened", "width_of"]

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NARROW = frozenset("fijlrtI .,;:'|()[]!-·")
FAMILY = "system-ui, 'Segoe UI', 'Helvetica Neue', 'Noto Sans CJK JP', 'Noto Sans CJK SC', sans-serif"


def element(tag: str, *inside: str, **attributes: object) -> Markup:
    """One element. Text is escaped unless it is markup already; `class_` and `text_anchor` lose what Python needs."""
    opened = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_clean(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    body = "".join(part if isinstance(part, Markup) else escape(_clean(part)) for part in inside)
    return Markup(f"<{tag}{opened}>{body}</{tag}>" if body else f"<{tag}{opened}/>")  # noqa: S704 - escaped above


def drawing(title: str, box: tuple[float, float, float, float], *inside: str, class_: str, alone: bool) -> Markup:
    """A whole picture with a title for those who do not see it; one that stands alone brings its own style."""
    left, top, width, height = box
    return element(
        "svg",
        element("title", title),
        *([element("style", _style())] if alone else []),
        *([element("rect", class_="paper", x=left, y=top, width=width, height=height)] if alone else []),
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        role="img" if alone else "group",  # a group lets the links inside be heard
        aria_label=title,
        viewBox=f"{_number(left)} {_number(top)} {_number(width)} {_number(height)}",
        width=_number(width) if alone else None,
        height=_number(height) if alone else None,
        class_=f"drawing {class_}" + (" alone" if alone else ""),
        font_family=FAMILY if alone else None,
    )


def width_of(text: str, size: float) -> float:
    """About how wide a text runs: full-width characters are square, others a little over half of it."""
    return size * sum(
        1.0 if unicodedata.east_asian_width(mark) in "WF" else 0.3 if mark in NARROW else 0.62 for mark in text
    )


def shortened(text: str, widest: float, size: float) -> str:
    """A text that fits, with a mark where something was left out."""
    if width_of(text, size) <= widest:
        return text
    while text and width_of(text + "…", size) > widest:
        text = text[:-1]
    return text.rstrip() + "…"


@cache
def _style() -> str:
    return files("understudy.server").joinpath("static", "drawing.css").read_text(encoding="utf-8")


def _clean(value: object) -> str:
    return _number(value) if isinstance(value, float) else NOT_XML.sub("", str(value))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
