"""A default portrait drawn from a name: its initials on a background colour, always the same for the same name.

Letters are strokes with round ends. A name without Latin letters or digits gets a symmetric pattern instead.
"""

from __future__ import annotations

import colorsys
import hashlib
import re
import unicodedata
import zlib
from collections.abc import Sequence
from itertools import pairwise
from math import hypot
from typing import TypeAlias

from understudy.cards.png import PngChunk, bytes_of

__all__ = ["initials", "portrait"]

SIZE = 512
TALLEST = 0.36  # share of the picture that letters fill at most
WIDEST = 0.56
THICKNESS = 0.42  # half of a stroke's, in the units letters are drawn in
GAP = 2
INK = (250, 247, 240)
NOT_LATIN = re.compile(r"[^A-Za-z0-9\s-]+")

Point: TypeAlias = tuple[float, float]
Stroke: TypeAlias = Sequence[Point]

ROUND = "103041453616050110"
LETTERS = {
    "A": "0602204246 0444",
    "B": "003041423303 334445360600",
    "C": "4130100105163645",
    "D": "00304145360600",
    "E": "40000646 0333",
    "F": "400006 0333",
    "G": "41301001051636454323",
    "H": "0006 4046 0343",
    "I": "0020 1016 0626",
    "J": "1040 3035261605",
    "K": "0006 400346",
    "L": "000646",
    "M": "0600234046",
    "N": "06004640",
    "O": ROUND,
    "P": "06003041423303",
    "Q": f"{ROUND} 2446",
    "R": "06003041423303 2346",
    "S": "413010010213334445361605",
    "T": "0040 2026",
    "U": "000516364540",
    "V": "002640",
    "W": "0016223640",
    "X": "0046 4006",
    "Y": "002340 2326",
    "Z": "00400646",
    "0": f"{ROUND} 3214",
    "1": "112026 1636",
    "2": "01103041420646",
    "3": "0110304142334445361605 2333",
    "4": "300444 3036",
    "5": "4000033344453606",
    "6": "4130100105163645443303",
    "7": "004016",
    "8": "103041423313020110 1304051636454433",
    "9": "4313020110304145361605",
}
"""Strokes through points of a grid, each a digit across (0-4) and one down (0-6)."""


def initials(name: str) -> str:
    """The first letters of a name's first and last word, where they are Latin letters or digits; accents fall away."""
    plain = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    words = re.split(r"[\s-]+", NOT_LATIN.sub("", plain).strip())
    ends = [words[0], words[-1]] if len(words) > 1 else words
    return "".join(word[0].upper() for word in ends if word)


def portrait(name: str) -> bytes:
    """A square PNG picture for a name."""
    seed = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    letters = initials(name)
    strokes = _lettering(letters) if letters else _pattern(seed)
    hue = seed[0] / 256
    ground = [_colour(hue, 0.62 - 0.24 * y / SIZE) for y in range(SIZE)]
    rows = bytearray()
    for y, cover in enumerate(_covers(strokes)):
        rows.append(0)
        rows += bytes(ground[y] * SIZE) if not cover else _mixed(ground[y], cover)
    header = SIZE.to_bytes(4, "big") * 2 + bytes((8, 2, 0, 0, 0))  # eight bits each of red, green and blue
    return bytes_of(
        (PngChunk(b"IHDR", header), PngChunk(b"IDAT", zlib.compress(bytes(rows), 9)), PngChunk(b"IEND", b""))
    )


def _lettering(letters: str) -> list[Stroke]:
    strokes: list[Stroke] = []
    left = 0
    for letter in letters:
        outlines = [[(left + int(x), int(y)) for x, y in zip(run[::2], run[1::2])] for run in LETTERS[letter].split()]
        strokes += outlines
        left = max(x for stroke in outlines for x, _ in stroke) + GAP
    return strokes


def _pattern(seed: bytes) -> list[Stroke]:
    """Seven rows of seven points, the same left and right, some of them filled; those that touch are joined.

    A slanted stroke is left out where a corner joins the two points already, or all would run together.
    """
    rows = [f"{byte:08b}"[:4] for byte in seed[1:8]]
    filled = {(x, y) for y, row in enumerate(rows) for x, bit in enumerate(row + row[2::-1]) if bit == "1"}
    filled.add((3, 3))  # never an empty picture
    strokes: list[Stroke] = []
    for x, y in sorted(filled):
        for over, down in ((0, 0), (1, 0), (0, 1), (1, 1), (-1, 1)):
            joined_by_corner = ((x + over, y) in filled) != ((x, y + down) in filled)
            if (x + over, y + down) in filled and not (over and down and joined_by_corner):
                strokes.append([(x, y), (x + over, y + down)])
    return strokes


def _colour(hue: float, lightness: float) -> tuple[int, int, int]:
    red, green, blue = colorsys.hls_to_rgb(hue, lightness * 0.8, 0.42)
    return round(255 * red), round(255 * green), round(255 * blue)


def _covers(strokes: Sequence[Stroke]) -> list[list[float]]:
    """For each row of the picture how much ink covers each pixel; an empty list for a row without any."""
    width = max(x for stroke in strokes for x, _ in stroke)
    unit = min(SIZE * TALLEST / 6, SIZE * WIDEST / max(width, 1))
    left, top = (SIZE - unit * width) / 2, SIZE / 2 - unit * 3
    covers: list[list[float]] = [[] for _ in range(SIZE)]
    for stroke in strokes:
        points = [(left + unit * x, top + unit * y) for x, y in stroke]
        for (x1, y1), (x2, y2) in pairwise(points):
            _draw(covers, (x1, y1), (x2 - x1, y2 - y1), THICKNESS * unit)
    return covers


def _draw(covers: list[list[float]], start: Point, along: Point, thickness: float) -> None:
    """Ink a line with round ends: a pixel is covered by how far it is within `thickness` of the nearest point on it."""
    (x1, y1), (dx, dy) = start, along
    length = dx * dx + dy * dy or 1.0
    reach = thickness + 1
    for y in range(int(min(y1, y1 + dy) - reach), int(max(y1, y1 + dy) + reach) + 1):
        row = covers[y] = covers[y] or [0.0] * SIZE
        for x in range(int(min(x1, x1 + dx) - reach), int(max(x1, x1 + dx) + reach) + 1):
            across, down = x + 0.5 - x1, y + 0.5 - y1
            share = min(1.0, max(0.0, (across * dx + down * dy) / length))
            cover = thickness + 0.5 - hypot(across - share * dx, down - share * dy)
            if cover > row[x]:
                row[x] = min(1.0, cover)


def _mixed(ground: tuple[int, int, int], cover: list[float]) -> bytes:
    return bytes(round(under + (over - under) * share) for share in cover for under, over in zip(ground, INK))
