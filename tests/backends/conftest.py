"""A language model server in a process of its own, for all tests of back ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import llmserver


@pytest.fixture(scope="session")
def llm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[llmserver.Running]:
    with llmserver.running(tmp_path_factory.mktemp("llm") / "requests.jsonl") as server:
        yield server
