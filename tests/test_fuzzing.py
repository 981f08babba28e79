"""A few hundred damaged and hostile files; `make fuzz` tries them for longer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZING = Path(__file__).with_name("fuzzing.py")


@pytest.mark.parametrize("seed", [1, 2])
def test_every_damaged_file_is_read_or_refused_within_bounds(seed: int) -> None:
    ran = subprocess.run(
        [sys.executable, str(FUZZING), "--seed", str(seed), "--cases", "150"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout[-4000:]
    assert "150 cases" in ran.stdout
