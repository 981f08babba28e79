from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy.utterances import UtteranceStore, open_store


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database can be."""
    if request.param == "sqlite":
        return str(tmp_path / "lines.db")
    address: str = request.getfixturevalue("postgres")
    emptied = open_store(address)
    for table in ("scores", "decisions", "runs", "utterances", "migrations"):
        emptied._db.rows(f"DROP TABLE {table}")
    emptied.close()
    return address


@pytest.fixture
def store(location: str) -> Iterator[UtteranceStore]:
    opened = open_store(location)
    yield opened
    opened.close()
