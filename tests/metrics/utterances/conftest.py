from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy.metrics.utterances import UtteranceStore, open_store


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty database can be."""
    if request.param == "sqlite":
        return str(tmp_path / "lines.db")
    address: str = request.getfixturevalue("postgres")
    from understudy.database.postgres import Postgres

    emptied = Postgres(address, 0x74657374, "the test's database")  # tables of another kind may be there as well
    with emptied.transaction():
        for table in ("scores", "decisions", "runs", "utterances", "migrations"):
            emptied.rows(f"DROP TABLE IF EXISTS public.{table} CASCADE")
    emptied.close()
    return address


@pytest.fixture
def store(location: str) -> Iterator[UtteranceStore]:
    opened = open_store(location)
    yield opened
    opened.close()
