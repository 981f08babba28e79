"""Character cards in files: JSON, a PNG picture that carries the card in its text chunks, or CHARX (see `charx`).

A picture has the card as base64 JSON, under `chara` for programs that know V2 and under `ccv3` for those that know
V3. Where both are there, `ccv3` is the card and `chara` a courtesy to older programs.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.formats.cards.charx import ARCHIVES, charx_of, icon_path, read_charx
from understudy.formats.cards.document import LARGEST_CARD, Card, card_from_json, in_version, json_of
from understudy.formats.cards.png import (
    SIGNATURE,
    Png,
    PngChunk,
    bytes_of,
    keyword_of,
    parse_png,
    portrait,
    text_chunk,
    text_of,
)

__all__ = ["LARGEST_FILE", "parse_card", "picture_of", "png_of", "read_card", "write_card"]

FORMS = (".json", ".png", ".charx")
LARGEST_FILE = 64 * 1024 * 1024
LARGEST_TEXT = LARGEST_CARD * 4 // 3 + 4  # base64 writes three bytes as four
KEYWORDS = {1: "chara", 2: "chara", 3: "ccv3"}
BACKFILLED = "(A V3 card, here in V2 form: a program that reads V3 cards shows all of it.)"


def read_card(path: Path) -> Card:
    """The card in a JSON, PNG or CHARX file."""
    return read_charx(path).card if _is_archive(path) else parse_card(_content(path), path)


def parse_card(content: bytes, path: Path | None = None) -> Card:
    """The card in the content of a JSON, PNG or CHARX file."""
    if content.startswith(ARCHIVES):
        return read_charx(content, path).card
    if content.startswith(SIGNATURE):
        return _card_in(parse_png(content, path), path)
    return card_from_json(content, path)


def write_card(
    card: Card,
    path: Path,
    picture: Path | bytes | None = None,
    version: int | None = None,
    assets: Mapping[str, bytes] | None = None,
) -> None:
    """Write a card as the file's name says, `.json`, `.png` or `.charx`.

    A PNG goes into a copy of `picture`, a CHARX file has it as its main icon (else a portrait is drawn) and `assets`
    beside the card. A card stays in its version, but for V1, which becomes V2 unless version 1 is asked for, and for
    CHARX, where it is V3.
    """
    form = path.suffix.lower()
    if form not in FORMS:
        raise InputError("cards are written as .json, .png or .charx: give the file one of these endings", path)
    if form == ".charx" and version not in (None, 3):
        raise InputError("a CHARX file holds a V3 card: ask for version 3, or write .png or .json", path)
    card = in_version(card, version or max(card.version, 2))
    if form == ".json":
        _replace(path, json_of(card) + b"\n")
        return
    picture_path = picture if isinstance(picture, Path) else None
    own = _content(picture) if isinstance(picture, Path) else picture
    if form == ".png":
        content = png_of(card, own, picture_path)
    else:
        drawn = None if icon_path(card, assets or ()) else portrait(card.name)
        content = charx_of(card, _checked(own, picture_path) or drawn, assets)
    _replace(path, content)


def png_of(card: Card, picture: bytes | None = None, path: Path | None = None) -> bytes:
    """A picture that carries the card; all else in a given picture stays as it is, byte for byte.

    A V3 card is put in under both names, a V2 card under `chara` alone: every program reads that, and a V3 form
    beside it would be taken for the card when it is read again.
    """
    png = parse_png(_checked(picture, path) or portrait(card.name), path)
    forms = [_backfilled(card), card] if card.version == 3 else [card]
    carried = [_carried(form) for form in forms]
    other_chunks = [chunk for chunk in png.chunks if _named(chunk) not in KEYWORDS.values()]
    return bytes_of((*other_chunks[:-1], *carried, other_chunks[-1]), png.trailing)


def picture_of(content: bytes, path: Path | None = None) -> bytes | None:
    """The picture that a card came in, without the card, or the icon beside it; None for a card in JSON."""
    if content.startswith(ARCHIVES):
        return read_charx(content, path).icon
    if not content.startswith(SIGNATURE):
        return None
    png = parse_png(content, path)
    return bytes_of(chunk for chunk in png.chunks if _named(chunk) not in KEYWORDS.values())


def _checked(picture: bytes | None, path: Path | None) -> bytes | None:
    if picture is not None and not picture.startswith(SIGNATURE):
        raise InputError("is not a PNG picture: convert it to PNG first", path)
    return picture


def _is_archive(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(max(ARCHIVES, key=len))).startswith(ARCHIVES)
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", path) from error


def _card_in(png: Png, path: Path | None) -> Card:
    for keyword in (KEYWORDS[3], KEYWORDS[2]):
        texts = {text_of(chunk, LARGEST_TEXT, path) for chunk in png.chunks if _named(chunk) == keyword}
        if len(texts) > 1:
            raise InputError(
                f"carries {len(texts)} different cards under '{keyword}': export it again from where it came", path
            )
        if texts:
            return card_from_json(_decoded(texts.pop(), keyword, path), path)
    raise InputError("is a picture without a card in it: use the original file, not a copy some site made", path)


def _decoded(text: bytes, keyword: str, path: Path | None) -> bytes:
    packed = b"".join(text.split()).rstrip(b"=")
    try:
        return base64.b64decode(packed + b"=" * (-len(packed) % 4), validate=True)
    except binascii.Error as error:
        raise InputError(
            f"its '{keyword}' text is not base64: export the card again from where it came", path
        ) from error


def _named(chunk: PngChunk) -> str | None:
    """Programs do not agree on the case of the keywords."""
    keyword = keyword_of(chunk)
    return None if keyword is None else keyword.lower()


def _carried(card: Card) -> PngChunk:
    return text_chunk(KEYWORDS[card.version], base64.b64encode(json_of(card, indent=None)))


def _backfilled(card: Card) -> Card:
    """The V2 form of a V3 card, which says in its notes that it is only that."""
    older = in_version(card, 2)
    notes = "\n\n".join(filter(None, (older.text("creator_notes"), BACKFILLED)))
    data: dict[str, Any] = {**older.data, "creator_notes": notes}
    return replace(older, document={**older.document, "data": data})


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST_FILE:
                raise InputError(f"has {size:,} bytes, more than a card may ({LARGEST_FILE:,}): make it smaller", path)
            return file.read(LARGEST_FILE)
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", path) from error


def _replace(path: Path, content: bytes) -> None:
    """Write atomically, by a partial file that is renamed: a picture can be written over itself."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot be written: {error.strerror}", path) from error
