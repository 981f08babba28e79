"""Where this user's caches lie: what is kept there can be made again at any time."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """$UNDERSTUDY_CACHE, or the system's own place for such things."""
    if told := os.environ.get("UNDERSTUDY_CACHE"):
        return Path(told)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "understudy" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "understudy"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "understudy"
