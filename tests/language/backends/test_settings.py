"""Language models are set up in the environment and in models.toml; what is wrong there is told by file and key."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from llmserver import SCENARIOS, TEXT, Running
from understudy.errors import BackendError, InputError
from understudy.language.backends import open_llm
from understudy.language.backends.exchange import find_local_servers, parse_url
from understudy.language.backends.settings import (
    ConfiguredLLM,
    LLMSettings,
    configured_llms,
    is_set_up,
    llm_settings,
)
from understudy.story.dialogue import ChatMessage, Sampling

OLLAMA = '[llm.ollama]\nurl = "http://127.0.0.1:11434/v1"\nmodel = "llama3.2"\n'
ROUTER = '[llm.router]\nurl = "https://openrouter.ai/api/v1"\nmodel = "mistral"\nkey_env = "ROUTER_KEY"\n'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("UNDERSTUDY_CONFIG", str(tmp_path))
    for name in [name for name in os.environ if name.startswith(("UNDERSTUDY_LLM_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    return tmp_path


def write(folder: Path, text: str, mode: int = 0o644) -> Path:
    path = folder / "models.toml"
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_where_nothing_is_set_up_one_is_told_how(folder: Path) -> None:
    assert not is_set_up()
    assert configured_llms() == []
    for name in (None, "llama3.2"):
        with pytest.raises(BackendError, match="ollama pull llama3.2") as caught:
            llm_settings(name)
        assert str(folder / "models.toml") in str(caught.value)


def test_the_environment_names_the_default(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    write(folder, OLLAMA)
    monkeypatch.setenv("UNDERSTUDY_LLM_URL", "http://127.0.0.1:1234")
    assert is_set_up()
    with pytest.raises(BackendError, match="UNDERSTUDY_LLM_MODEL is not"):
        llm_settings()
    assert configured_llms()[0].problem == "UNDERSTUDY_LLM_MODEL is not set"
    monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", "qwen3")
    monkeypatch.setenv("UNDERSTUDY_LLM_KEY", " sk-1\n")
    assert llm_settings() == LLMSettings("qwen3", "http://127.0.0.1:1234/v1", "qwen3", "sk-1")
    assert llm_settings("gemma3") == LLMSettings("gemma3", "http://127.0.0.1:1234/v1", "gemma3", "sk-1")
    assert llm_settings("ollama").url == "http://127.0.0.1:11434/v1"
    assert configured_llms() == [
        ConfiguredLLM("qwen3", "http://127.0.0.1:1234/v1", "qwen3", "environment", True),
        ConfiguredLLM("ollama", "http://127.0.0.1:11434/v1", "llama3.2", str(folder / "models.toml")),
    ]


def test_an_only_entry_is_the_default_and_names_a_server(folder: Path) -> None:
    write(folder, OLLAMA + "timeout_s = 5\ncontext_tokens = 4096\nlogprobs = true\n[llm.ollama.extra]\nthink = false\n")
    settings = llm_settings()
    assert settings == llm_settings("ollama") == llm_settings("llama3.2")
    assert (settings.name, settings.model, settings.timeout_s, settings.context_tokens) == (
        "ollama",
        "llama3.2",
        5,
        4096,
    )
    assert settings.logprobs and dict(settings.extra) == {"think": False}
    assert is_set_up()
    other = llm_settings("qwen3")
    assert (other.name, other.model, other.url, other.timeout_s) == ("qwen3", "qwen3", settings.url, 5)


def test_several_entries_need_a_default_or_a_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUTER_KEY", "sk-2")
    write(folder, OLLAMA + ROUTER)
    assert not is_set_up()
    with pytest.raises(BackendError, match=r'name one \(llm:ollama, llm:router\), or write default = "ollama"'):
        llm_settings()
    with pytest.raises(BackendError, match=r"'olama' \(did you mean 'ollama'\?\)"):
        llm_settings("olama")
    write(folder, 'default = "router"\n' + OLLAMA + ROUTER)
    assert is_set_up()
    assert (llm_settings().model, llm_settings().key) == ("mistral", "sk-2")
    assert [(llm.name, llm.is_default) for llm in configured_llms()] == [("router", True), ("ollama", False)]
    monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", "ollama")
    assert llm_settings().name == "ollama"


def test_a_key_lies_in_the_environment_a_file_or_a_private_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, ROUTER)
    with pytest.raises(InputError, match=r"models\.toml: llm\.router\.key_env names ROUTER_KEY, which is not set"):
        llm_settings()
    assert "ROUTER_KEY" in configured_llms()[0].problem
    write(folder, ROUTER.replace('key_env = "ROUTER_KEY"', 'key_file = "router.key"'))
    with pytest.raises(InputError, match=r"key_file .*router\.key cannot be read: No such file"):
        llm_settings()
    (folder / "router.key").write_text("sk-3\n")
    assert llm_settings().key == "sk-3"
    (folder / "router.key").write_text("\n")
    with pytest.raises(InputError, match="is empty"):
        llm_settings()
    write(folder, ROUTER.replace('key_env = "ROUTER_KEY"', 'key = "sk-4"'), 0o600)
    assert llm_settings().key == "sk-4"
    assert "sk-4" not in repr(llm_settings()) + repr(configured_llms())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
def test_a_key_in_a_file_that_others_can_read_is_refused(folder: Path) -> None:
    path = write(folder, OLLAMA + 'key = "sk-4"', 0o640)
    with pytest.raises(InputError, match=rf"llm\.ollama\.key is readable by others: chmod 600 {path}") as caught:
        is_set_up()
    assert "sk-4" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk 1", "sk\n1", "schlüssel"])
def test_a_key_that_is_none_is_refused_without_being_shown(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_LLM_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("UNDERSTUDY_LLM_KEY", key)
    with pytest.raises(InputError, match=r"\$UNDERSTUDY_LLM_KEY: the key holds") as caught:
        llm_settings("any")
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", "x is unknown: known are default, llm"),
        ("llm = 3", "llm is no table"),
        ("[llm]\nollama = 3", "llm.ollama is no table"),
        ('default = "olama"\n' + OLLAMA, r"default names no entry \(did you mean 'ollama'\?\)"),
        ('[llm.a]\nmodel = "m"', "llm.a.url is missing"),
        ('[llm.a]\nurl = "http://a/v1"', "llm.a.model is missing"),
        (OLLAMA + "modell = 1", r"llm.ollama.modell is unknown \(did you mean 'model'\?\)"),
        (OLLAMA.replace('"llama3.2"', "3"), "llm.ollama.model must be a text"),
        (OLLAMA + "timeout_s = true", "llm.ollama.timeout_s must be a number from 0.01 to 86400"),
        (OLLAMA + "timeout_s = nan", "llm.ollama.timeout_s must be"),
        (OLLAMA + "retries = 1.5", "llm.ollama.retries must be a whole number from 0 to 20"),
        (OLLAMA + 'logprobs = "yes"', "llm.ollama.logprobs must be true or false"),
        (OLLAMA + 'key_env = "A"\nkey_file = "b"', "llm.ollama has more than one of key, key_env and key_file"),
        (OLLAMA + "extra = {stream = false}", r"llm.ollama.extra.stream is filled in"),
        (OLLAMA + "extra = {day = 2020-01-01}", r"llm.ollama.extra must be a table"),
        (OLLAMA.replace("http://127", "ftp://127"), "llm.ollama.url the URL must be like"),
        (OLLAMA.replace("127.0.0.1", "me:pass@host"), "llm.ollama.url the URL holds a user name or password"),
        ("a = ", r"is not TOML: Invalid value \(at end of document\)"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_key(folder: Path, text: str, expected: str) -> None:
    path = write(folder, text)
    with pytest.raises(InputError, match=expected) as caught:
        is_set_up()
    assert str(caught.value).startswith(f"{path}: ")


def test_a_file_that_is_no_text_is_told(folder: Path) -> None:
    (folder / "models.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not UTF-8"):
        is_set_up()
    (folder / "models.toml").unlink()
    (folder / "models.toml").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        is_set_up()


def test_openais_variables_are_used_only_when_asked_for_by_name(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-5")
    assert not is_set_up()
    assert configured_llms() == []
    with pytest.raises(BackendError, match="no language model is set up"):
        llm_settings()
    assert llm_settings("gpt-5-mini") == LLMSettings("gpt-5-mini", "https://api.openai.com/v1", "gpt-5-mini", "sk-5")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
    assert llm_settings("gpt-5-mini").url == "http://127.0.0.1:9/v1"
    write(folder, OLLAMA)
    assert (llm_settings("gpt-5-mini").url, llm_settings("gpt-5-mini").key) == ("http://127.0.0.1:11434/v1", None)


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
        ("https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1"),
        ("https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1"),
        ("https://api.openai.com:443/v1", "https://api.openai.com/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("HTTP://Localhost:80/v1", "http://localhost/v1"),
        ("https://bücher.example/v1", "https://xn--bcher-kva.example/v1"),
    ],
)
def test_urls_are_read_as_people_write_them(written: str, url: str) -> None:
    assert parse_url(written).url == url


@pytest.mark.parametrize(
    "written", ["", "localhost:11434", "http://", "http://a:99999", "http://a/v 1", "https://a/v1?key=1", "http://[::1"]
)
def test_what_is_no_url_is_refused(written: str) -> None:
    with pytest.raises(InputError, match="URL"):
        parse_url(written)


def test_a_model_that_is_set_up_can_be_talked_to(monkeypatch: pytest.MonkeyPatch, llm_server: Running) -> None:
    monkeypatch.setenv("UNDERSTUDY_LLM_URL", llm_server.url)
    monkeypatch.setenv("UNDERSTUDY_LLM_MODEL", "say?key=sk-6")
    monkeypatch.setenv("UNDERSTUDY_LLM_KEY", "sk-6")
    backend = open_llm()
    assert backend.name == "llm:say?key=sk-6"
    assert backend.complete([ChatMessage("user", "Good evening.")], Sampling())[0].text == TEXT


def test_servers_that_answer_on_this_machine_are_found(llm_server: Running) -> None:
    unusable = [llm_server.at(scenario) for scenario in ("no-headers", "garbage", "html", "no-choices", "nothing")]
    assert find_local_servers([llm_server.url, *unusable, "http://127.0.0.1:9/v1"], 3) == [
        (llm_server.url, list(SCENARIOS))
    ]
    assert find_local_servers([]) == []
    assert isinstance(find_local_servers(), list)
