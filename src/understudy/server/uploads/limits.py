"""Limits on uploads: how much disk, time and memory they may take, and what their files may be called.

A file's name is shown to users, gives titles and episode numbers, and names the working copy that a reader opens. So it
keeps its letters and digits and loses everything that is special to a file system, a terminal or a browser.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["MIB", "UploadLimits", "distinct", "safe_name", "slug"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class UploadLimits:
    timeout_s: int = 60
    """For reading one upload, wall-clock and processor time alike."""
    memory_bytes: int = 1024 * MIB
    """Address space of the process that reads."""
    upload_bytes: int = 64 * MIB
    """All files of one upload together."""
    files: int = 300
    unpacked_bytes: int = 256 * MIB
    """What a zip may hold once it is unpacked."""
    zip_entries: int = 2000
    story_bytes: int = 512 * MIB
    """The story file made from the upload."""
    uploads: int = 100
    total_bytes: int = 2048 * MIB
    """All uploads together, including deleted ones that can still be restored."""
    concurrency: int = 2
    """Uploads read at a time; others wait."""
    restore_s: int = 24 * 3600
    """How long a deleted upload can be restored."""


INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # Unicode categories: controls, bidi marks ...
SPECIAL = re.compile(r'[<>:"|?*/\\]')
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\.|$)", re.IGNORECASE)
MAX_BYTES = 120  # with a number added, well within what every file system takes
MAX_SUFFIX_BYTES = 12
MAX_SLUG = 40


def safe_name(path: str, default: str = "unnamed") -> str:
    """The last part of a path, safe to show and to use; `default` if nothing of it is left."""
    name = re.split(r"[/\\]", unicodedata.normalize("NFKC", path))[-1]
    while (cleaned := _clean(name)) != name:  # removing characters can form a new special name
        name = cleaned
    return name or default


def _clean(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name)
    plain = "".join(char for char in plain if unicodedata.category(char) not in INVISIBLE)
    plain = " ".join(SPECIAL.sub("-", plain).split()).lstrip(".~- ").rstrip(". ")
    plain = f"_{plain}" if RESERVED.match(plain) else plain
    return _shorten(plain)


def _shorten(name: str) -> str:
    if len(name.encode()) <= MAX_BYTES:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix.encode()) > MAX_SUFFIX_BYTES:
        stem, suffix = name, ""
    else:
        suffix = f".{suffix}"
    stem_bytes = MAX_BYTES - len(suffix.encode())
    return stem.encode()[:stem_bytes].decode(errors="ignore").rstrip(". ") + suffix


def distinct(names: Iterable[str]) -> list[str]:
    """The same names, numbered where one is repeated; names that differ only in case count as equal."""
    taken: set[str] = set()
    result: list[str] = []
    for name in names:
        stem, dot, suffix = name.rpartition(".")
        stem, suffix = (stem, f".{suffix}") if dot and stem else (name, "")
        number, candidate = 2, name
        while candidate.casefold() in taken:
            number, candidate = number + 1, f"{stem} ({number}){suffix}"
        taken.add(candidate.casefold())
        result.append(candidate)
    return result


def slug(title: str) -> str:
    """A story's name in URLs: the letters and digits of its title, in any script."""
    plain = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", title).casefold())
    return plain[:MAX_SLUG].strip("-") or "story"
