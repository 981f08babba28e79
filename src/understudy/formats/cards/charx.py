"""CHARX: a character card in a zip file, with its pictures, sounds and other assets beside it.

    card.json                        the card, V3
    assets/icon/images/main.png      an asset, named in the card as {"type", "name", "ext", "uri": "embeded://assets/..."}
    module.risum, x_meta/...         what programs keep for themselves

Nothing is unpacked to disk. The list of a zip file is bounded before it is opened, and what is read out of it by the
bytes that come, not by those that were promised. The main icon is the card's picture where it is a PNG.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from understudy.errors import InputError
from understudy.formats.cards.document import LARGEST_CARD, Card, card_from_json, in_version, json_of
from understudy.formats.cards.png import parse_png

__all__ = [
    "ARCHIVES",
    "Charx",
    "CharxAsset",
    "charx_of",
    "icon_path",
    "is_charx",
    "missing_assets",
    "read_assets",
    "read_charx",
]

ZIP, JPEG = b"PK\x03\x04", b"\xff\xd8\xff"
ARCHIVES = (ZIP, JPEG)
"""What a CHARX file may begin with: some programs put a JPEG picture in front of the archive."""

CARD = "card.json"
SCHEMES = ("embeded://", "embedded://")  # the first is how the specification spells it
MAIN_ICON = "assets/icon/images/main.png"
LARGEST_ASSET = 64 * 1024 * 1024
LARGEST_ASSETS = 512 * 1024 * 1024
MOST_ENTRIES = 10_000
LARGEST_LIST = 4 * 1024 * 1024
END, END_BYTES, LONGEST_COMMENT = b"PK\x05\x06", 22, 0xFFFF
ZIP64, ZIP64_BYTES = b"PK\x06\x07", 20
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
        _check_list(file, path)
        with zipfile.ZipFile(io.BytesIO(file) if isinstance(file, bytes) else file) as archive:
            yield archive
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise InputError(f"is a damaged zip file ({error}): {AGAIN}", path) from error
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror or error}", path) from error


def _check_list(file: Path | bytes, path: Path | None) -> None:
    """Refuse a list of contents that would fill the memory, by the record at the end that tells its length.

    The large form of that record (ZIP64) is for archives of more files or bytes than a card may have.
    """
    longest = ZIP64_BYTES + END_BYTES + LONGEST_COMMENT
    if isinstance(file, bytes):
        tail = file[-longest:]
    else:
        with file.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, io.SEEK_END) - longest))
            tail = stream.read()
    end = tail.rfind(END)
    if end < 0 or len(tail) < end + END_BYTES:
        raise InputError(f"holds no CHARX archive, or one that breaks off: {AGAIN}", path)
    count = int.from_bytes(tail[end + 10 : end + 12], "little")
    length = int.from_bytes(tail[end + 12 : end + 16], "little")
    is_large = tail[max(0, end - ZIP64_BYTES) : end].startswith(ZIP64)
    if is_large or count > MOST_ENTRIES or length > LARGEST_LIST:
        raise InputError(f"holds over {MOST_ENTRIES:,} files, more than a card may: take some of them out", path)


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
