"""A language model server in a process of its own, and back ends that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest

import llmserver
from llmclient import KEY, Open
from llmserver import Running
from understudy.language.backends.openai_api import OpenAIBackend
from understudy.language.backends.settings import LLMSettings

numbers = count(1)


@pytest.fixture(scope="session")
def llm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with llmserver.running(tmp_path_factory.mktemp("llm") / "requests.jsonl") as server:
        yield server


@pytest.fixture
def open_backend(llm_server: Running) -> Open:
    """A back end that asks for a scenario; each is its own to the server, which counts faults by model."""

    def open_backend(scenario: str, **changes: object) -> OpenAIBackend:
        model = f"{scenario}{'&' if '?' in scenario else '?'}test={next(numbers)}"
        settings = LLMSettings("test", llm_server.url, model, KEY, backoff_s=0.01, timeout_s=30, token_timeout_s=30)
        return OpenAIBackend(replace(settings, **changes))  # type: ignore[arg-type]

    return open_backend
