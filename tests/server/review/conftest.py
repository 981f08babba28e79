from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewed import filled
from server.conftest import MakeHouse
from understudy.server.house import House
from understudy.utterances import UtteranceStore


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[UtteranceStore]:
    store = filled(tmp_path / "lines.db")
    yield store
    store.close()


@pytest.fixture
def house(make_house: MakeHouse, lines: UtteranceStore) -> House:
    """A house with lines to review."""
    return make_house(utterances=lines)
