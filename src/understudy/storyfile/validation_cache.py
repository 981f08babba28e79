"""Which story files have been validated, remembered between runs: looking at a million lines takes seconds.

A file is known again by its place on the disk, its size, its times and its header, in which SQLite counts changes. An
empty file in the user's cache folder stands for it; where that folder cannot be written to, it is forgotten with the
process. What a `StoryWriter` has just written needs no validation.
"""

from __future__ import annotations

import contextlib
import os
import time
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from understudy.errors import InputError
from understudy.storyfile.schema import MIGRATIONS
from understudy.user_folders import cache_folder

__all__ = ["identity_of", "is_validated", "remember_validated"]

CHECKS = 1  # counted up when `validation` looks at more than before
HEADER_BYTES = 100
MOST_REMEMBERED = 1000
SETTLED_NS = 100_000_000  # a file younger than that may change again within one tick of the clock of its file system

_validated: set[str] = set()


class Identity(NamedTuple):
    """What a file is known by, as long as nobody writes to it."""

    key: str
    changed_ns: int


def identity_of(path: Path) -> Identity:
    if not path.is_file():
        raise InputError("no such story file", path)
    try:
        with path.open("rb") as file:
            stat, header = os.fstat(file.fileno()), file.read(HEADER_BYTES)
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", path) from error
    changed = max(stat.st_mtime_ns, stat.st_ctime_ns)
    identity = (CHECKS, MIGRATIONS[-1][0], stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, changed, header)
    return Identity(sha256(repr(identity).encode()).hexdigest(), changed)


def is_validated(identity: Identity) -> bool:
    with contextlib.suppress(OSError, RuntimeError):  # a user without a home
        if identity.key not in _validated and _marker(identity).exists():
            _validated.add(identity.key)
    return identity.key in _validated


def remember_validated(identity: Identity, written_here: bool = False) -> None:
    """`written_here`: nobody else has had a chance to change it, however young it is."""
    if not written_here and abs(time.time_ns() - identity.changed_ns) < SETTLED_NS:
        return
    _validated.add(identity.key)
    with contextlib.suppress(OSError, RuntimeError):
        marker = _marker(identity)
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
        _forget_oldest(marker.parent)


def _marker(identity: Identity) -> Path:
    return cache_folder() / "validated" / identity.key


def _forget_oldest(folder: Path) -> None:
    markers = list(folder.iterdir())
    if len(markers) > MOST_REMEMBERED:
        for marker in sorted(markers, key=lambda marker: marker.stat().st_mtime)[: len(markers) // 2]:
            marker.unlink(missing_ok=True)
