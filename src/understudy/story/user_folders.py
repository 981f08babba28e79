"""Folders of the current user: caches, data (chats, uploads), settings, and folders that only the user can write to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

WRITABLE_BY_OTHERS = 0o022


def cache_folder() -> Path:
    """$UNDERSTUDY_CACHE, else the platform's cache folder: ~/.cache/understudy on Linux."""
    return _folder("cache")


def data_folder() -> Path:
    """$UNDERSTUDY_DATA, else the platform's data folder: ~/.local/share/understudy on Linux."""
    is_named = bool(os.environ.get("UNDERSTUDY_DATA"))
    # on Windows the cache would lie inside the data
    return _folder("data") if is_named or sys.platform != "win32" else _folder("data") / "data"


def config_folder() -> Path:
    """$UNDERSTUDY_CONFIG, else the platform's settings folder: ~/.config/understudy on Linux."""
    return _folder("config")


def _folder(kind: str) -> Path:
    if path := os.environ.get(f"UNDERSTUDY_{kind.upper()}"):
        return Path(path).absolute()
    from platformdirs import PlatformDirs

    folder: Path = getattr(PlatformDirs("understudy", appauthor=False), f"user_{kind}_path")
    return folder


def private_folder(name: str) -> Path | None:
    """A cache folder owned by this user and writable by nobody else; None if there is no such folder.

    For files that a library executes or unpickles.
    """
    folder = cache_folder() / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.lstat()
    except OSError:
        return None
    if sys.platform == "win32":  # the user's own application data; there are no modes to check
        return folder
    is_ours = folder.is_dir() and not folder.is_symlink() and state.st_uid == os.geteuid()
    return folder if is_ours and not state.st_mode & WRITABLE_BY_OTHERS else None
