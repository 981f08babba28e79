"""The examples of docs/architecture.md run as they are printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## (Adding .*)\n(?:(?!^## ).*\n)*?```python\n((?:.*\n)*?)```", PAGE, re.MULTILINE)


def test_a_reader_an_agent_and_a_metric_are_shown() -> None:
    assert [title for title, _ in SECTIONS] == ["Adding a reader", "Adding an agent", "Adding a metric"]


@pytest.mark.parametrize("code", [code for _, code in SECTIONS], ids=[title for title, _ in SECTIONS])
def test_an_example_runs_and_its_claims_hold(code: str) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_modules_that_are_named_exist() -> None:
    package = Path(__file__).parents[1] / "src" / "understudy"
    named = re.findall(r"`((?:\w+/)*\w+(?:\.py|/))`", PAGE)
    assert len(named) > 8
    assert [name for name in named if not (package / name).exists() and not (package.parents[1] / name).exists()] == []
