"""Where this user's caches lie, and folders in it that nobody else can write to."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder", "private_folder"]

WRITABLE_BY_OTHERS = 0o022


def cache_folder() -> Path:
    """$UNDERSTUDY_CACHE, or the system's own place for such things."""
    if told := os.environ.get("UNDERSTUDY_CACHE"):
        return Path(told)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "understudy" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "understudy"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "understudy"


def private_folder(name: str) -> Path | None:
    """A folder of that name among the caches, owned by this user and writable by nobody else; None if it is not."""
    folder = cache_folder() / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.lstat()
    except OSError:
        return None
    if sys.platform == "win32":  # the user's own application data; there are no modes to look at
        return folder
    is_ours = folder.is_dir() and not folder.is_symlink() and state.st_uid == os.geteuid()
    return folder if is_ours and not state.st_mode & WRITABLE_BY_OTHERS else None
