"""Tests leave nothing in the user's cache of encodings, find nothing there, and know of no language model set up."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from brasskey import brass_key

os.environ["UNDERSTUDY_CACHE"] = tempfile.mkdtemp(prefix="understudy-tests-")
os.environ["UNDERSTUDY_CONFIG"] = str(Path(os.environ["UNDERSTUDY_CACHE"]) / "no settings")
os.environ["XDG_DATA_HOME"] = str(Path(os.environ["UNDERSTUDY_CACHE"]) / "no data")
for variable in [name for name in os.environ if name.startswith(("UNDERSTUDY_LLM_", "UNDERSTUDY_LOG_", "OPENAI_"))]:
    del os.environ[variable]
os.environ["UNDERSTUDY_AGENT"] = "guarded"  # by default nothing is written by a model, whatever this machine has

# In CI the same examples are tried every time, and a busy machine fails no test for being slow.
settings.register_profile("ci", derandomize=True, database=None, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """A story folder: two acts of two scenes."""
    return brass_key(tmp_path / "brass-key")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL with pgvector, on a socket in a folder of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the folder it keeps its own records in
        from pgserver.postgres_server import get_server

        server = get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield str(server.get_uri())
    server.cleanup()
