"""A zip of a story folder, unpacked with suspicion.

Nothing is taken from a zip that climbs out of its folder, is a link, is locked, or unpacks to far more than it says.
Sizes are counted while unpacking; what the zip says of itself is only a reason to stop earlier.
"""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path, PurePosixPath

from understudy.errors import InputError
from understudy.server.uploads.limits import MIB, Limits
from understudy.server.uploads.names import safe_name

__all__ = ["is_story_zip", "unpack"]

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
WORKBOOK = "[Content_Types].xml"  # what office documents have, which are zips too
STEP = 256 * 1024
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
DENSEST = 150  # times smaller than its content: text reaches ten, a trap thousands


def is_story_zip(path: Path) -> bool:
    with path.open("rb") as file:
        if file.read(4) not in MAGIC:
            return False
    try:
        with zipfile.ZipFile(path) as archive:
            return WORKBOOK not in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError):
        return True  # damaged, as unpacking it will say


def unpack(path: Path, into: Path, limits: Limits) -> str | None:
    """The files of the story folder that a zip holds, put into a folder; its own name where it has one."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = _checked(archive, path, limits)
            home = _home(entries, path)
            taken: set[str] = set()
            left = limits.unpacked
            for entry in entries:
                if PurePosixPath(entry.filename).parent != home:
                    continue
                name = safe_name(entry.filename)
                if name.casefold() in taken:
                    raise InputError(f"holds two files called '{name}': rename one", path)
                taken.add(name.casefold())
                left -= _copied(archive, entry, into / name, left, path)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, ValueError, EOFError) as error:
        raise InputError("is a damaged zip: pack the folder again", path) from error
    except RuntimeError as error:  # what zipfile raises for a locked entry
        raise InputError("is locked with a password: pack the folder without one", path) from error
    return home.name or None


def _checked(archive: zipfile.ZipFile, path: Path, limits: Limits) -> list[zipfile.ZipInfo]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > limits.entries:
        raise InputError(f"holds {len(entries):,} files, more than the {limits.entries:,} a story may have", path)
    if sum(entry.file_size for entry in entries) > limits.unpacked:
        raise InputError(f"unpacks to more than {limits.unpacked // MIB:,} MB: send its scripts in parts", path)
    for entry in entries:
        given = entry.orig_filename
        inside = PurePosixPath(given)
        if inside.is_absolute() or ".." in inside.parts or "\\" in given or ":" in given[:3] or "\0" in given:
            raise InputError("holds a file that would lie outside of its folder: pack the folder itself", path)
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            raise InputError("holds a link or a device: pack the files themselves", path)
        if entry.flag_bits & 0x1:
            raise InputError("is locked with a password: pack the folder without one", path)
        if entry.compress_type not in PLAIN:
            raise InputError("is packed in a way that is not read here: pack it as an ordinary zip", path)
        if entry.file_size > MIB and entry.file_size > DENSEST * max(entry.compress_size, 1):
            raise InputError("unpacks to far more than a script could: this looks like a trap", path)
    return [entry for entry in entries if not _passed_over(PurePosixPath(entry.filename))]


def _passed_over(name: PurePosixPath) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in name.parts)


def _home(entries: list[zipfile.ZipInfo], path: Path) -> PurePosixPath:
    """The folder of the story: the one nearest to the top that holds files."""
    folders = {PurePosixPath(entry.filename).parent for entry in entries}
    if not folders:
        raise InputError("holds no files: pack a story folder, its scripts and cast.toml", path)
    depth = min(len(folder.parts) for folder in folders)
    nearest = sorted(folder for folder in folders if len(folder.parts) == depth)
    if len(nearest) > 1:
        raise InputError(f"holds several folders ({nearest[0]}, {nearest[1]}): pack one story folder", path)
    return nearest[0]


def _copied(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, left: int, path: Path) -> int:
    written = 0
    with archive.open(entry) as packed, target.open("xb") as plain:
        while step := packed.read(STEP):
            written += len(step)
            if written > left:
                raise InputError("unpacks to more than it says: this looks like a trap", path)
            plain.write(step)
    return written
