from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.conftest import MakeContext
from studyserver import filled
from understudy.metrics.utterances import UtteranceStore
from understudy.server.context import AppContext


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[UtteranceStore]:
    store = filled(tmp_path / "lines.db")
    yield store
    store.close()


@pytest.fixture
def context(make_context: MakeContext, lines: UtteranceStore) -> AppContext:
    """A server with lines to review."""
    return make_context(utterances=lines)
