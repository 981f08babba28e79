"""docs/models.md: its settings can be loaded, its keys are all there are, and its Python runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from llmserver import TEXT, Running
from understudy.language.backends import settings as models_file
from understudy.language.backends.batch_files import write_requests
from understudy.language.backends.settings import configured_llms, is_set_up, llm_settings

PAGE = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n((?:.*\n)*?)```", PAGE)
[EXAMPLE] = re.findall(r"```toml\n((?:.*\n)*?)```", PAGE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNDERSTUDY_CONFIG", str(tmp_path))
    (tmp_path / "models.toml").write_text(EXAMPLE, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_settings_shown_can_be_loaded() -> None:
    assert is_set_up()
    assert llm_settings().name == "ollama"
    assert [llm.name for llm in configured_llms()] == ["ollama", "studio", "router", "openai"]


def test_every_key_is_explained() -> None:
    about_servers = PAGE[PAGE.index("\n## `llm`") :]
    rows = re.findall(r"^\| (`.*?) \|", about_servers, re.MULTILINE)
    explained = {key for row in rows for key in re.findall(r"`([a-z_]+)`", row)}
    assert explained == {*models_file.TEXTS, *models_file.NUMBERS, "logprobs", "extra"}


def test_the_python_runs(folder: Path, llm_server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    code = BLOCKS[0]
    settings = EXAMPLE.replace("http://127.0.0.1:11434/v1", llm_server.url).replace("llama3.2", "say")
    (folder / "models.toml").write_text(settings, encoding="utf-8")
    exec(compile(code, "models.md", "exec"), {})
    assert capsys.readouterr().out == TEXT


def test_the_messages_of_a_batch_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_requests({(tmp_path / "asked", "abc"): {"model": "m", "messages": [{"role": "user", "content": "Who?"}]}})
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[1], "models.md", "exec"), {})
    assert capsys.readouterr().out == "abc\n  user: Who?\n"
