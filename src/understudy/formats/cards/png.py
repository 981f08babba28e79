"""PNG pictures of cards: taken apart and put together as chunks, and drawn from a name where a card has none.

Chunks are read strictly and within bounds. Every chunk keeps its bytes, so what is taken apart and put together again
is the same file. A length is believed only if the file is that long, and packed text is unpacked only up to a limit.

The default portrait is a name's initials on a background colour, always the same for the same name. Letters are strokes
with round ends; a name without Latin letters or digits gets a symmetric pattern instead.
"""

from __future__ import annotations

import colorsys
import hashlib
import re
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
MOST_CHUNKS = 100_000
FRAME = 12  # bytes around a chunk's body: its length, kind and checksum
LONGEST_KEYWORD = 79
TEXTS = frozenset({b"tEXt", b"zTXt", b"iTXt"})
AGAIN = "get the file again, or save the picture anew with an image editor"


class PngChunk(NamedTuple):
    kind: bytes
    body: bytes


@dataclass(frozen=True, slots=True)
class Png:
    """The chunks of a picture, and whatever some program left behind the last of them."""

    chunks: tuple[PngChunk, ...]
    trailing: bytes = b""


def parse_png(content: bytes, path: Path | None = None) -> Png:
    """Take a PNG apart; what is not one, or is damaged, is an `InputError`."""
    if not content.startswith(SIGNATURE):
        raise InputError("is not a PNG picture", path)
    chunks: list[PngChunk] = []
    size = len(SIGNATURE)
    for chunk in _chunks(content, path):
        if not chunks:
            _check_header(chunk, path)
        chunks.append(chunk)
        size += FRAME + len(chunk.body)
        if len(chunks) > MOST_CHUNKS:
            raise InputError(f"has over {MOST_CHUNKS:,} chunks: save the picture anew with an image editor", path)
    if not any(chunk.kind == b"IDAT" for chunk in chunks):
        raise InputError(f"holds no picture: {AGAIN}", path)
    return Png(tuple(chunks), content[size:])


def _chunks(content: bytes, path: Path | None) -> Iterator[PngChunk]:
    """Each chunk, up to the one that closes the picture."""
    view = memoryview(content)
    position = len(SIGNATURE)
    while True:
        if position + FRAME > len(view):
            raise InputError(f"breaks off after {len(view):,} bytes: {AGAIN}", path)
        length, kind = struct.unpack_from(">I4s", view, position)
        if not (kind.isalpha() and kind.isascii()):
            raise InputError(f"is damaged at byte {position:,}, where a chunk should begin: {AGAIN}", path)
        end = position + FRAME + length
        if end > len(view):
            raise InputError(
                f"breaks off: its {kind.decode()} chunk should have {length:,} bytes, "
                f"but only {len(view) - position - 8:,} follow: {AGAIN}",
                path,
            )
        if zlib.crc32(view[position + 4 : end - 4]) != int.from_bytes(view[end - 4 : end], "big"):
            raise InputError(f"is damaged: its {kind.decode()} chunk does not match its checksum: {AGAIN}", path)
        yield PngChunk(kind, bytes(view[position + 8 : end - 4]))
        if kind == b"IEND":
            return
        position = end


def _check_header(chunk: PngChunk, path: Path | None) -> None:
    if chunk.kind != b"IHDR" or len(chunk.body) != 13 or 0 in struct.unpack_from(">II", chunk.body):
        raise InputError(f"does not begin as a PNG picture must, with its size: {AGAIN}", path)


def bytes_of(chunks: Iterable[PngChunk], trailing: bytes = b"") -> bytes:
    """Put chunks together into a file."""
    parts = [SIGNATURE]
    for kind, body in chunks:
        checksum = zlib.crc32(body, zlib.crc32(kind))
        parts += (len(body).to_bytes(4, "big"), kind, body, checksum.to_bytes(4, "big"))
    return b"".join((*parts, trailing))


def keyword_of(chunk: PngChunk) -> str | None:
    """What a text chunk is about; None for other chunks."""
    if chunk.kind not in TEXTS:
        return None
    end = chunk.body.find(b"\0", 0, LONGEST_KEYWORD + 1)
    return chunk.body[:end].decode("latin-1") if end > 0 else None


def text_chunk(keyword: str, text: bytes) -> PngChunk:
    return PngChunk(b"tEXt", keyword.encode("latin-1") + b"\0" + text)


def text_of(chunk: PngChunk, max_bytes: int, path: Path | None = None) -> bytes:
    """The text of a text chunk, unpacked; one of over `max_bytes` bytes is refused as soon as that shows."""
    name = keyword_of(chunk)
    text = _text(chunk, max_bytes)
    if text is None:
        raise InputError(f"its '{name}' text is damaged: export the card again from where it came", path)
    if len(text) > max_bytes:
        raise InputError(f"its '{name}' text is over {max_bytes:,} bytes, too much for a card: make it smaller", path)
    return text


def _text(chunk: PngChunk, max_bytes: int) -> bytes | None:
    payload = chunk.body.partition(b"\0")[2]
    if chunk.kind == b"tEXt":
        return payload
    if chunk.kind == b"zTXt":
        return _unpacked(payload[1:], max_bytes) if payload[:1] == b"\0" else None
    flags, languages = payload[:2], payload[2:].split(b"\0", 2)  # iTXt: its language, its keyword translated, the text
    if len(languages) < 3 or flags not in (b"\0\0", b"\1\0"):
        return None
    return _unpacked(languages[2], max_bytes) if flags[0] else languages[2]


def _unpacked(packed: bytes, max_bytes: int) -> bytes | None:
    """What a zlib stream holds, up to one byte over the limit; None if it is damaged or breaks off."""
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(packed, max_bytes + 1)
    except zlib.error:
        return None
    return text if stream.eof or len(text) > max_bytes else None


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
    ground = np.array([_colour(hue, 0.62 - 0.24 * y / SIZE) for y in range(SIZE)])[:, None, :]
    picture = np.rint(ground + (np.array(INK) - ground) * _cover(strokes)[:, :, None]).astype(np.uint8)
    rows = np.pad(picture.reshape(SIZE, -1), ((0, 0), (1, 0)))  # a zero before a row: it is stored as it is
    header = SIZE.to_bytes(4, "big") * 2 + bytes((8, 2, 0, 0, 0))  # eight bits each of red, green and blue
    return bytes_of(
        (PngChunk(b"IHDR", header), PngChunk(b"IDAT", zlib.compress(rows.tobytes(), 9)), PngChunk(b"IEND", b""))
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


def _cover(strokes: Sequence[Stroke]) -> NDArray[np.float64]:
    """How much ink covers each pixel."""
    width = max(x for stroke in strokes for x, _ in stroke)
    unit = min(SIZE * TALLEST / 6, SIZE * WIDEST / max(width, 1))
    left, top = (SIZE - unit * width) / 2, SIZE / 2 - unit * 3
    cover = np.zeros((SIZE, SIZE))
    for stroke in strokes:
        points = [(left + unit * x, top + unit * y) for x, y in stroke]
        for (x1, y1), (x2, y2) in pairwise(points):
            _draw(cover, (x1, y1), (x2 - x1, y2 - y1), THICKNESS * unit)
    return cover


def _draw(cover: NDArray[np.float64], start: Point, along: Point, thickness: float) -> None:
    """Ink a line with round ends: a pixel is covered by how far it is within `thickness` of the nearest point on it."""
    (x1, y1), (dx, dy) = start, along
    length = dx * dx + dy * dy or 1.0
    reach = thickness + 1
    part = tuple(
        slice(int(min(first, first + change) - reach), int(max(first, first + change) + reach) + 1)
        for first, change in ((y1, dy), (x1, dx))
    )
    y, x = np.mgrid[part] + 0.5
    across, down = x - x1, y - y1
    share = np.clip((across * dx + down * dy) / length, 0.0, 1.0)
    inked = thickness + 0.5 - np.hypot(across - share * dx, down - share * dy)
    cover[part] = np.maximum(cover[part], np.minimum(inked, 1.0))
