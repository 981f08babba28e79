from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from understudy.utterances import UtteranceStore, open_store


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL with pgvector, on a socket in a folder of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the folder it keeps its own records in
        from pgserver.postgres_server import get_server

        server = get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield str(server.get_uri())
    server.cleanup()


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
