"""Character cards in files: JSON, a PNG picture that carries the card in its text chunks, or CHARX, a zip file.

A picture has the card as base64 JSON, under `chara` for programs that know V2 and under `ccv3` for those that know
V3. Where both are there, `ccv3` is the card and `chara` a courtesy to older programs.

    card.json                        the card of a CHARX file, V3
    assets/icon/images/main.png      an asset, in the card as {"type", "name", "ext", "uri": "embeded://assets/..."}
    module.risum, x_meta/...         what programs keep for themselves

Nothing is unpacked to disk. The list of a zip file is bounded before it is opened, and what is read out of it by the
bytes that come, not by those that were promised. The main icon is the card's picture where it is a PNG.
"""

from __future__ import annotations

import base64
import binascii
import io
import os
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from understudy.errors import InputError
from understudy.formats.cards import LARGEST_CARD, Card, card_from_json, in_version, json_of
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
from understudy.sources.containers import MOST_PARTS, listed_files

FORMS = (".json", ".png", ".charx")
LARGEST_FILE = 64 * 1024 * 1024
LARGEST_TEXT = LARGEST_CARD * 4 // 3 + 4  # base64 writes three bytes as four
KEYWORDS = {1: "chara", 2: "chara", 3: "ccv3"}
BACKFILLED = "(A V3 card, here in V2 form: a program that reads V3 cards shows all of it.)"


def read_card(path: Path) -> Card:
    """The card in a JSON, PNG or CHARX file."""
    return read_charx(path).card if _is_archive(path) else parse_card(content_of(path), path)


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
    own = content_of(picture) if isinstance(picture, Path) else picture
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


def content_of(path: Path, what: str = "a card") -> bytes:
    """The bytes of a file that holds `what`, within bounds."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGEST_FILE:
                raise InputError(f"has {size:,} bytes, more than {what} may ({LARGEST_FILE:,}): make it smaller", path)
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


# CHARX.

ZIP, JPEG = b"PK\x03\x04", b"\xff\xd8\xff"
ARCHIVES = (ZIP, JPEG)
"""What a CHARX file may begin with: some programs put a JPEG picture in front of the archive."""

CARD = "card.json"
SCHEMES = ("embeded://", "embedded://")  # the first is how the specification spells it
MAIN_ICON = "assets/icon/images/main.png"
LARGEST_ASSET = 64 * 1024 * 1024
LARGEST_ASSETS = 512 * 1024 * 1024
AGAIN = "export the card again from where it came"


class CharxAsset(NamedTuple):
    """A file of the archive other than the card, by its path there."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Charx:
    """A card, its main icon if that is a PNG, and what else lies beside the card."""

    card: Card
    icon: bytes | None
    icon_path: str | None
    assets: tuple[CharxAsset, ...]


def is_charx(file: Path | bytes) -> bool:
    """Whether a file (or the content of one) is an archive with a card at its top."""
    try:
        with _archive(file, None) as archive:
            return CARD in archive.namelist()
    except (InputError, OSError):
        return False


def read_charx(file: Path | bytes, path: Path | None = None) -> Charx:
    """The card in a CHARX file, or in the content of one."""
    path = file if isinstance(file, Path) else path
    with _archive(file, path) as archive:
        if CARD not in archive.namelist():
            raise InputError(f"is a zip file without a card: a CHARX file has a {CARD} at its top", path)
        card = card_from_json(_bytes_in(archive, CARD, LARGEST_CARD, path), path)
        entries = [info for info in archive.infolist() if info.filename != CARD and not info.is_dir()]
        main_icon = icon_path(card, {info.filename for info in entries})
        icon = _bytes_in(archive, main_icon, LARGEST_ASSET, path) if main_icon else None
        assets = tuple(CharxAsset(info.filename, info.file_size) for info in entries)
        return Charx(card, icon if icon is not None and _is_png(icon) else None, main_icon, assets)


def read_assets(path: Path) -> dict[str, bytes]:
    """All files of a CHARX file but the card, by their paths, to be written into another one."""
    assets: dict[str, bytes] = {}
    total = 0
    with _archive(path, path) as archive:
        for info in archive.infolist():
            if info.filename != CARD and not info.is_dir():
                assets[info.filename] = _bytes_in(archive, info.filename, LARGEST_ASSET, path)
                total += len(assets[info.filename])
                if total > LARGEST_ASSETS:
                    raise InputError(f"has assets of over {LARGEST_ASSETS:,} bytes: take some of them out", path)
    return assets


def missing_assets(card: Card, available: Collection[str] = (), has_picture: bool = False) -> tuple[str, ...]:
    """The paths of the assets that a card names as lying beside it, and that are not among those available.

    With `has_picture` the main icon is not missed.
    """
    listed = (asset for asset in _listed(card) if not (has_picture and _is_main_icon(asset)))
    return tuple(path for asset in listed if (path := _embedded_path(asset)) is not None and path not in available)


def charx_of(card: Card, picture: bytes | None = None, assets: Mapping[str, bytes] | None = None) -> bytes:
    """The content of a CHARX file. `picture` becomes the main icon; assets the card names but nobody has are left out.

    The same card gives the same bytes: entries are undated.
    """
    card, files = in_version(card, 3), dict(assets or {})
    missing = missing_assets(card, files)
    named = [asset for asset in _listed(card) if _embedded_path(asset) not in missing]
    main_icon = icon_path(card, files)
    if picture is not None and (main_icon is None or files[main_icon] != picture):
        for asset in filter(_is_main_icon, named):
            files.pop(_embedded_path(asset) or "", None)
        files[MAIN_ICON] = picture
        main = {"type": "icon", "uri": SCHEMES[0] + MAIN_ICON, "name": "main", "ext": "png"}
        named = [main, *(asset for asset in named if not _is_main_icon(asset))]
    card = replace(card, document={**card.document, "data": {**card.data, "assets": named}})
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for path, content in {CARD: json_of(card), **files}.items():
            packing = zipfile.ZIP_DEFLATED if path.endswith(".json") else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(path), content, packing)
    return stream.getvalue()


@contextmanager
def _archive(file: Path | bytes, path: Path | None) -> Iterator[zipfile.ZipFile]:
    try:
        with io.BytesIO(file) if isinstance(file, bytes) else file.open("rb") as stream:
            number = listed_files(stream)
            if number is None:
                raise InputError(f"holds no CHARX archive, or one that breaks off: {AGAIN}", path)
            if number > MOST_PARTS:
                raise InputError(f"holds over {MOST_PARTS:,} files, more than a card may: take some of them out", path)
            with zipfile.ZipFile(stream) as archive:
                yield archive
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise InputError(f"is a damaged zip file ({error}): {AGAIN}", path) from error
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", path) from error


def _bytes_in(archive: zipfile.ZipFile, name: str, limit: int, path: Path | None) -> bytes:
    """What an entry unpacks to; one that goes on beyond the limit is refused there."""
    info = archive.getinfo(name)
    if info.flag_bits & 1:
        raise InputError(f"is encrypted ({name}): export the card without a password", path)
    try:
        with archive.open(info) as stream:
            content = stream.read(limit + 1)
    except (zlib.error, NotImplementedError, RuntimeError) as error:
        raise InputError(f"holds {name} in a way that cannot be unpacked ({error}): {AGAIN}", path) from error
    if len(content) > limit:
        raise InputError(f"holds {name} of over {limit:,} bytes, too much for a card: make it smaller", path)
    return content


def _is_png(content: bytes) -> bool:
    try:
        return bool(parse_png(content).chunks)
    except InputError:
        return False


def _listed(card: Card) -> list[Any]:
    assets = card.data.get("assets")
    return assets if isinstance(assets, list) else []


def icon_path(card: Card, files: Collection[str]) -> str | None:
    """Where the main icon lies: the one named so, else the first icon."""
    icons = sorted(filter(_is_icon, _listed(card)), key=lambda asset: not _is_main_icon(asset))
    return next((path for asset in icons if (path := _embedded_path(asset)) in files), None)


def _is_icon(asset: object) -> bool:
    return isinstance(asset, dict) and asset.get("type") == "icon"


def _is_main_icon(asset: object) -> bool:
    return isinstance(asset, dict) and asset.get("type") == "icon" and asset.get("name") == "main"


def _embedded_path(asset: object) -> str | None:
    """The path in the archive that an asset points to; None for one that lies elsewhere."""
    uri = asset.get("uri") if isinstance(asset, dict) else None
    if not isinstance(uri, str):
        return None
    return next((uri.removeprefix(scheme) for scheme in SCHEMES if uri.startswith(scheme)), None)
