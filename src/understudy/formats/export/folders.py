"""Folders written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy.errors import InputError

__all__ = ["new_folder"]


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder to fill: renamed to `folder`, which must not be there or be empty, unless an error ends it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("is there already and not an empty folder: name a new one", folder)
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    partial.mkdir(parents=True)
    try:
        yield partial
        if folder.exists():
            folder.rmdir()
        os.replace(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
