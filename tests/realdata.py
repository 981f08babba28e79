"""Where the public research data lies that some tests read; it is never part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

__all__ = ["folder"]

BESIDE_THE_PROJECT = Path(__file__).resolve().parents[2] / "shared" / "data"


def folder(name: str) -> Path:
    """A folder of the data. Without it a test is skipped, except in CI, where it must be there."""
    path = Path(os.environ.get("UNDERSTUDY_DATA") or BESIDE_THE_PROJECT) / name
    if path.is_dir():
        return path
    message = f"no data at {path}: set UNDERSTUDY_DATA to the folder that has '{name}'"
    if os.environ.get("CI"):
        pytest.fail(message, pytrace=False)
    pytest.skip(message)
