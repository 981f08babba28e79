"""What a bench's figures were made from: version, data, seed, settings, machine."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from understudy import __version__

__all__ = ["manifest_of", "sha256"]

LIBRARIES = ("numpy", "ir_measures", "onnxruntime")


def manifest_of(
    bench: str, files: Iterable[Path], seed: int, limit: int | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "bench": bench,
        "version": __version__,
        "data": {path.name: sha256(path) for path in sorted(set(files))},
        "seed": seed,
        "limit": limit,
        "settings": dict(settings),
        "machine": platform.platform(),
        "python": platform.python_version(),
        "libraries": {name: installed for name in LIBRARIES if (installed := _installed(name)) is not None},
    }


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
