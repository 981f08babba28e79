"""A small study and its database, once on SQLite and once on PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy.studies.store import APPLICATION_ID, StudyStore, open_study_store


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a study database may be made; a PostgreSQL one is emptied afterwards."""
    if request.param == "sqlite":
        yield str(tmp_path / f"{uuid.uuid4()}.db")
        return
    address: str = request.getfixturevalue("postgres")
    yield address
    from understudy.database.postgres import Postgres

    schema = APPLICATION_ID.to_bytes(4, "big").decode().lower()
    database = Postgres(address, APPLICATION_ID, "the test's database")
    with database.transaction():
        database.rows(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    database.close()


@pytest.fixture
def store(location: str) -> Iterator[StudyStore]:
    with open_study_store(location) as opened:
        yield opened
