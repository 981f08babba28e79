"""SVG as text: elements with everything escaped, whole pictures, the parts of charts, and portraits of initials."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from markupsafe import Markup, escape

__all__ = [
    "FONT_SIZE", "TONES", "PlotArea", "Point", "background", "bar", "drawing", "element", "initials", "label", "line",
    "medallion", "portrait", "shorten", "text_width",
]  # fmt: skip

Point = tuple[float, float]
NAMESPACE = "http://www.w3.org/2000/svg"
FONT_SIZE = 12.0
INVALID_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NARROW = frozenset("fijlrtI .,;:'|()[]!-·")
FONT_FAMILY = "system-ui, 'Segoe UI', 'Helvetica Neue', 'Noto Sans CJK JP', 'Noto Sans CJK SC', sans-serif"

BACKGROUNDS = "a74b4b 86613c 6b6b30 527133 357635 347454 337272 426b94 4f4fb0 7f4fb0 9d469d a24975".split()
"""Colours around the wheel, each dark enough for the letters to be readable on it."""
HUE_STEP = 5  # neighbours in a cast are far apart on the wheel; it has no factor in common with their number
SHADES = (1.0, 0.72, 0.5)
TONES = len(BACKGROUNDS) * len(SHADES)
LETTER_COLOUR = "#fffcf7"
WORD_SEPARATORS = re.compile(r"[\s\-_·・＝=.,'’]+")
IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
SHORT_NAME = 3  # an East Asian name of up to so many characters has a family name of one


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """One element. Text is escaped unless it is `Markup`; `class_` becomes `class`, `text_anchor` `text-anchor`."""
    attribute_text = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_to_text(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    body = "".join(part if isinstance(part, Markup) else escape(_to_text(part)) for part in children)
    return Markup(f"<{tag}{attribute_text}>{body}</{tag}>" if body else f"<{tag}{attribute_text}/>")  # noqa: S704 - escaped above


def drawing(
    title: str, box: tuple[float, float, float, float], *children: str, class_: str, standalone: bool
) -> Markup:
    """A whole picture, titled for screen readers; a standalone one (a file of its own) includes its style sheet."""
    left, top, width, height = box
    return element(
        "svg",
        element("title", title),
        *([element("style", _style())] if standalone else []),
        *([element("rect", class_="paper", x=left, y=top, width=width, height=height)] if standalone else []),
        *children,
        xmlns=NAMESPACE,
        role="img" if standalone else "group",  # in a group, screen readers can reach the links
        aria_label=title,
        viewBox=f"{_number(left)} {_number(top)} {_number(width)} {_number(height)}",
        width=_number(width) if standalone else None,
        height=_number(height) if standalone else None,
        class_=f"drawing {class_}" + (" alone" if standalone else ""),
        font_family=FONT_FAMILY if standalone else None,
    )


@dataclass(frozen=True, slots=True)
class PlotArea:
    """The area of a chart within its margins. Shares of it, 0 to 1, count from its left and from its top."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    def x(self, share: float) -> float:
        return self.left + (self.width - self.left - self.right) * share

    def y(self, share: float) -> float:
        return self.top + (self.height - self.top - self.bottom) * share

    def horizontal(self, class_: str, y: float) -> Markup:
        """A line from the left to the right end."""
        return line(class_, (self.x(0), y), (self.x(1), y))

    def vertical(self, class_: str, x: float) -> Markup:
        """A line from the top to the bottom."""
        return line(class_, (x, self.y(0)), (x, self.y(1)))


def line(class_: str, start: Point, end: Point) -> Markup:
    return element("line", class_=class_, x1=start[0], x2=end[0], y1=start[1], y2=end[1])


def label(text: str, at: Point, anchor: str | None = None, size: float = FONT_SIZE, **attributes: object) -> Markup:
    """A text of one line that stands on the point, or ends or has its middle there."""
    return element("text", text, x=at[0], y=at[1], font_size=size, text_anchor=anchor, **attributes)


def bar(middle: float, bottom: float, width: float, height: float, tooltip: str) -> Markup:
    title = element("title", tooltip)
    return element(
        "rect", title, class_="bar", x=middle - width / 2, y=bottom - height, width=width, height=height, rx=2
    )


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


@cache
def _style() -> str:
    return files("understudy.server").joinpath("static", "drawing.css").read_text(encoding="utf-8")


def _to_text(value: object) -> str:
    return _number(value) if isinstance(value, float) else INVALID_XML.sub("", str(value))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def initials(name: str) -> str:
    """First letters of the first and last word; of an East Asian name, its most likely family name."""
    plain = unicodedata.normalize("NFC", name)
    words = [word for part in WORD_SEPARATORS.split(plain) if (word := "".join(filter(str.isalnum, part)))]
    if not words:
        return "?"
    if IDEOGRAPHS.match(words[0]):
        return words[0][: 1 if len(words[0]) <= SHORT_NAME else 2]
    return "".join(word[0].upper()[0] for word in (words if len(words) == 1 else [words[0], words[-1]]))


def background(name: str, tone: int | None = None) -> str:
    """The colour of a place in a cast, of which the first `TONES` all differ; without one, the name's own."""
    if tone is None:
        digest = hashlib.sha256(unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass")).digest()
        return f"#{BACKGROUNDS[digest[0] % len(BACKGROUNDS)]}"
    colour = BACKGROUNDS[tone * HUE_STEP % len(BACKGROUNDS)]
    shade = SHADES[tone // len(BACKGROUNDS) % len(SHADES)]
    return "#" + "".join(f"{round(int(colour[start : start + 2], 16) * shade):02x}" for start in (0, 2, 4))


def portrait(name: str, tone: int | None = None) -> Markup:
    """A portrait as a whole picture. Its colours do not depend on the theme, so it needs no style sheet."""
    return element(
        "svg", element("title", name), medallion(name, 32, 32, 32, tone), xmlns=NAMESPACE, viewBox="0 0 64 64",
        width=64, height=64, role="img", aria_label=name, font_family=FONT_FAMILY,
    )  # fmt: skip


def medallion(name: str, x: float, y: float, radius: float, tone: int | None = None) -> Markup:
    """A portrait as part of a larger picture: initials on a coloured circle."""
    letters = initials(name)
    size = radius * (0.74 if len(letters) > 1 else 0.92)
    ground = element("circle", class_="ground", cx=x, cy=y, r=radius, fill=background(name, tone))
    at = x, y + size * 0.36
    text = label(letters, at, "middle", size, class_="initials", fill=LETTER_COLOUR, font_weight=600)
    return element("g", ground, text, class_="medallion", aria_hidden="true")
