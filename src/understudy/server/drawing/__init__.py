"""Pictures of a character at a moment, as SVG text.

All data comes from a persona or from `spoiler_free`, so a picture never shows what comes after its moment. Colours are
CSS classes of `static/drawing.css`: inside a page they follow its light or dark theme; a standalone picture includes
that file.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Any

from understudy.svg import NAMESPACE, Markup, element, label

FONT_SIZE = 12.0
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


def drawing(
    title: str, box: tuple[float, float, float, float], *children: str, class_: str, standalone: bool
) -> Markup:
    """A whole picture, titled for screen readers; a standalone one (a file of its own) includes its style sheet."""
    left, top, width, height = box
    alone: dict[str, Any] = {"width": width, "height": height, "font_family": FONT_FAMILY} if standalone else {}
    ground = element("rect", class_="paper", x=left, y=top, width=width, height=height)
    return element(
        "svg",
        *((element("style", _style()), ground) if standalone else ()),
        *children,
        tooltip=title,
        xmlns=NAMESPACE,
        role="img" if standalone else "group",  # in a group, screen readers can reach the links
        aria_label=title,
        viewBox=f"{left:g} {top:g} {width:g} {height:g}",
        class_=f"drawing {class_}" + (" alone" if standalone else ""),
        font_size=FONT_SIZE,
        **alone,
    )


@cache
def _style() -> Markup:
    return Markup(files("understudy.server").joinpath("static", "drawing.css").read_text(encoding="utf-8"))


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
        "svg", medallion(name, 32, 32, 32, tone), tooltip=name, xmlns=NAMESPACE, viewBox="0 0 64 64",
        width=64, height=64, role="img", aria_label=name, font_family=FONT_FAMILY,
    )  # fmt: skip


def medallion(name: str, x: float, y: float, radius: float, tone: int | None = None) -> Markup:
    """A portrait as part of a larger picture: initials on a coloured circle."""
    letters = initials(name)
    size = radius * (0.74 if len(letters) > 1 else 0.92)
    ground = element("circle", class_="ground", cx=x, cy=y, r=radius, fill=background(name, tone))
    at = x, y + size * 0.36
    text = label(letters, at, "middle", font_size=size, class_="initials", fill=LETTER_COLOUR, font_weight=600)
    return element("g", ground, text, class_="medallion", aria_hidden="true")
