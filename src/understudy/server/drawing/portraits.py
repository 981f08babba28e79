"""A portrait for everybody: initials on a ground whose colour comes from the name, always the same."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from markupsafe import Markup

from understudy.server.drawing.svg import FAMILY, element

__all__ = ["ground", "initials", "medallion", "portrait"]

GROUNDS = "a74b4b 86613c 6b6b30 527133 357635 347454 337272 426b94 4f4fb0 7f4fb0 9d469d a24975".split()
"""Round the wheel, each dark enough for the letters to be read on it."""
INK = "#fffcf7"
BETWEEN_WORDS = re.compile(r"[\s\-_·・＝=.,'’]+")
IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
SHORT = 3  # characters up to which an East Asian name has a family name of one


def initials(name: str) -> str:
    """First letters of the first and last word; of a name in ideographs what is most likely the family name."""
    plain = unicodedata.normalize("NFC", name)
    words = [word for part in BETWEEN_WORDS.split(plain) if (word := _letters(part))]
    if not words:
        return "?"
    if IDEOGRAPHS.match(words[0]):
        return words[0][: 1 if len(words[0]) <= SHORT else 2]
    return "".join(word[0].upper()[0] for word in (words if len(words) == 1 else [words[0], words[-1]]))


def ground(name: str) -> str:
    """The colour that a name has."""
    chance = hashlib.sha256(unicodedata.normalize("NFC", name).encode("utf-8", "surrogatepass")).digest()
    return f"#{GROUNDS[chance[0] % len(GROUNDS)]}"


def portrait(name: str) -> Markup:
    """Its colours are its own in light and dark, so it needs no style and is small enough for every line of a page."""
    return element(
        "svg",
        element("title", name),
        medallion(name, 32, 32, 32),
        xmlns="http://www.w3.org/2000/svg",
        viewBox="0 0 64 64",
        width=64,
        height=64,
        role="img",
        aria_label=name,
        font_family=FAMILY,
    )


def medallion(name: str, x: float, y: float, radius: float) -> Markup:
    """The portrait as part of a larger picture."""
    letters = initials(name)
    size = radius * (0.74 if len(letters) > 1 else 0.92)
    return element(
        "g",
        element("circle", class_="ground", cx=x, cy=y, r=radius, fill=ground(name)),
        element(
            "text", letters, class_="initials", x=x, y=y + size * 0.36, fill=INK, font_size=size, font_weight=600,
            text_anchor="middle",
        ),
        class_="medallion",
        aria_hidden="true",
    )  # fmt: skip


def _letters(part: str) -> str:
    return "".join(mark for mark in part if mark.isalnum())
