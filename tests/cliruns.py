"""What the fixtures `run`, `document` and `start` of tests/cli give: a command is run, and what it printed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from click.testing import Result

__all__ = ["Document", "Run", "Start"]

Run = Callable[..., Result]
Document = Callable[..., Any]
Start = Callable[..., "subprocess.Popen[str]"]
