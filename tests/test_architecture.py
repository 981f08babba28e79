"""What docs/architecture.md names is there, and its layers are those that are checked."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_modules_that_are_named_exist() -> None:
    package = Path(__file__).parents[1] / "src" / "understudy"
    named = re.findall(r"`((?:\w+/)*\w+(?:\.py|/))`", PAGE)
    assert len(named) > 8
    assert [name for name in named if not (package / name).exists() and not (package.parents[1] / name).exists()] == []


def test_the_layers_are_drawn_from_the_rows_that_are_checked() -> None:
    drawn = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "draw_architecture.py"))["drawn"]
    assert drawn(PAGE) == PAGE, "run: python docs/draw_architecture.py"
