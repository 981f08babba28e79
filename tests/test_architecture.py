"""What docs/architecture.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_modules_that_are_named_exist() -> None:
    package = Path(__file__).parents[1] / "src" / "understudy"
    named = re.findall(r"`((?:\w+/)*\w+(?:\.py|/))`", PAGE)
    assert len(named) > 8
    assert [name for name in named if not (package / name).exists() and not (package.parents[1] / name).exists()] == []
