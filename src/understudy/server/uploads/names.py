"""Names of files that somebody sent, made harmless.

A name is shown, is where a title and the place of an episode are taken from, and names the working copy that a reader
opens; so it keeps its meaning and loses everything that means something to a file system, a terminal or a browser.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["distinct", "safe_name", "slug"]

UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})  # controls, text that turns direction, and the like
MARKS = re.compile(r'[<>:"|?*/\\]')
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\.|$)", re.IGNORECASE)
LONGEST = 120  # bytes: with a number added it stays well within what every file system takes
LONGEST_SUFFIX = 12
LONGEST_SLUG = 40


def safe_name(given: str, otherwise: str = "unnamed") -> str:
    """The last part of a path as it may be shown and used; `otherwise` where nothing is left."""
    name = re.split(r"[/\\]", unicodedata.normalize("NFKC", given))[-1]
    while (cleaned := _cleaned(name)) != name:  # what one step uncovers the next one takes
        name = cleaned
    return name or otherwise


def _cleaned(name: str) -> str:
    plain = unicodedata.normalize("NFKC", name)
    plain = "".join(mark for mark in plain if unicodedata.category(mark) not in UNSHOWN)
    plain = " ".join(MARKS.sub("-", plain).split()).lstrip(".~- ").rstrip(". ")
    plain = f"_{plain}" if RESERVED.match(plain) else plain
    return _shortened(plain)


def _shortened(name: str) -> str:
    if len(name.encode()) <= LONGEST:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix.encode()) > LONGEST_SUFFIX:
        stem, suffix = name, ""
    else:
        suffix = f".{suffix}"
    room = LONGEST - len(suffix.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(". ") + suffix


def distinct(names: Iterable[str]) -> list[str]:
    """The same names, with a number where one was there already; letters' case makes no difference."""
    taken: set[str] = set()
    kept: list[str] = []
    for name in names:
        stem, dot, suffix = name.rpartition(".")
        stem, suffix = (stem, f".{suffix}") if dot and stem else (name, "")
        number, candidate = 2, name
        while candidate.casefold() in taken:
            number, candidate = number + 1, f"{stem} ({number}){suffix}"
        taken.add(candidate.casefold())
        kept.append(candidate)
    return kept


def slug(title: str) -> str:
    """What a story is called in addresses: its title's letters and digits, in any script."""
    plain = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", title).casefold())
    return plain[:LONGEST_SLUG].strip("-") or "story"
