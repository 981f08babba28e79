from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from cliruns import Document, Run
from understudy.language.backends import catalog, exchange, settings
from understudy.language.backends.catalog import HUB_NAME, SUGGESTED, models_folder

module = import_module("understudy.cli.models")  # the package has a command of that name
llm_rows = module._llm_rows


@pytest.fixture(autouse=True)
def _nothing_but_what_a_test_puts_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_CACHE", str(tmp_path / "user"))
    monkeypatch.setattr(catalog, "_files_of_package", lambda _: iter(()))
    monkeypatch.setattr(module, "_llm_rows", lambda: iter(()))
    monkeypatch.setattr(module, "find_spec", lambda _: object())


@pytest.fixture
def pulled() -> Path:
    path = models_folder() / "hub" / "ann" / "repo" / "file.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    return path


def test_a_model_that_is_not_there_says_how_to_get_it(run: Run, document: Document) -> None:
    assert document("models") == {
        "models": [{"name": "smollm2", "backend": "local", "where": "understudy models pull smollm2", "ready": False}]
    }
    assert "understudy models pull smollm2" in run("models").stdout


def test_larger_models_are_named_with_what_they_take(run: Run, document: Document) -> None:
    first, *others = SUGGESTED
    shown = run("models").stdout
    for model in SUGGESTED:
        assert f"understudy models pull {model.name}\n" in shown and HUB_NAME.fullmatch(model.name)
        assert f"{model.disk_gb:.1f} GB, {model.memory_gb:.1f} GB, {model.licence}" in shown
    path = models_folder() / "hub" / first.name.removeprefix("hub:")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    shown = run("models").stdout
    assert f"pull {first.name}" not in shown and f"pull {others[0].name}" in shown
    for page in ("README.md", "docs/models.md"):
        text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
        assert all(f"`{model.name}`" in text for model in SUGGESTED)


def test_pulled_models_are_listed_with_their_place(document: Document, pulled: Path) -> None:
    [_, row] = document("models")["models"]
    assert row == {"name": "hub:ann/repo/file.gguf", "backend": "local", "where": str(pulled), "ready": True}


def test_without_the_extra_nothing_local_is_ready(
    document: Document, pulled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    [_, row] = document("models")["models"]
    assert not row["ready"]
    assert "pip install '.[local]'" in row["where"]


def test_pulling_what_is_there_says_where_and_what_next(run: Run, document: Document, pulled: Path) -> None:
    said = run("models", "pull", "hub:ann/repo/file.gguf").stdout
    assert str(pulled) in said.replace("\n", "")
    assert "--agent local:hub:ann/repo/file.gguf" in said
    [row] = document("models", "pull", "hub:ann/repo/file.gguf")["models"]
    assert row["ready"]


def test_an_unknown_name_is_refused(run: Run) -> None:
    said = run("models", "pull", "smolm2", status=1).stderr
    assert "did you mean 'smollm2'?" in said
    assert "hub:OWNER/REPO/FILE.gguf" in said


def test_removing_asks_first(run: Run, pulled: Path) -> None:
    run("models", "remove", "hub:ann/repo/file.gguf", stdin="n\n", status=1)
    assert pulled.exists()
    run("models", "remove", "hub:ann/repo/file.gguf", stdin="y\n")
    assert not pulled.exists()


def test_removing_with_yes_does_not_ask(run: Run, pulled: Path) -> None:
    assert "Deleted" in run("models", "remove", "hub:ann/repo/file.gguf", "--yes").stdout
    assert not pulled.exists()
    run("models", "remove", "hub:ann/repo/file.gguf", "--yes", status=1)


def test_servers_that_are_set_up_or_answer_are_listed_once(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    here = "http://127.0.0.1:11434/v1"
    set_up = [
        SimpleNamespace(name="ollama", url=here, model="llama3.2", problem=""),
        SimpleNamespace(name="router", url="https://example.org/v1", model="x", problem="KEY is not set"),
    ]
    monkeypatch.setattr(settings, "configured_llms", lambda: set_up)
    monkeypatch.setattr(exchange, "find_local_servers", lambda: [(here, ["llama3.2", "qwen2.5"])])
    monkeypatch.setattr(module, "_llm_rows", llm_rows)
    rows = {row["name"]: row for row in document("models")["models"] if row["backend"] == "llm"}
    assert {name: row["ready"] for name, row in rows.items()} == {"ollama": True, "router": False, "qwen2.5": False}
    assert rows["ollama"]["where"] == here
    assert "KEY is not set" in rows["router"]["where"]
    assert "answers; not set up" in rows["qwen2.5"]["where"]


AGENT = """
from understudy.agents.writer import WriterAgent
from understudy.language.backends import ScriptedBackend

def make():
    return WriterAgent(ScriptedBackend(["Aye."]), style="compact")
"""


def test_the_document(document: Document, story: Path) -> None:
    printed = document("prompt", story, "Ines", "--at", "2.1", "--facing", "Tobias", "--say", "Where is the key?")
    assert list(printed) == ["messages", "sections"]
    assert [list(message) for message in printed["messages"]] == [["role", "content"]] * len(printed["messages"])
    assert [message["role"] for message in printed["messages"]] == ["system", "user"]
    assert "You are Ines Vale." in printed["messages"][0]["content"]
    assert "Tobias Rook: Where is the key?" in printed["messages"][1]["content"]
    assert [list(section) for section in printed["sections"]] == [["name", "tokens", "dropped"]] * len(
        printed["sections"]
    )
    assert {"character", "profile", "message"} <= {section["name"] for section in printed["sections"]}


def test_messages_and_sections_are_shown(run: Run, story: Path) -> None:
    shown = run("prompt", story, "Ines", "--at", "2.1", "--say", "Where is the key?", "--style", "compact").stdout
    assert shown.startswith("system\n  You are Ines Vale.")
    assert "user\n" in shown
    assert "Where is the key?" in shown
    assert "dropped" in shown
    assert "in all" in shown


def test_a_budget(document: Document, story: Path) -> None:
    whole = document("prompt", story, "Ines", "--say", "Where is the key?")
    short = document("prompt", story, "Ines", "--say", "Where is the key?", "--budget", "120")
    assert sum(section["tokens"] for section in short["sections"]) < 130
    assert any(section["dropped"] for section in short["sections"])
    assert not any(section["dropped"] for section in whole["sections"])


def test_the_prompt_of_an_agent(
    document: Document, story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_writer.py").write_text(AGENT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    printed = document("prompt", story, "Ines", "--say", "Hello.", "--agent", "my_writer:make")
    assert printed["messages"][-1]["content"].endswith("Hello.")
    assert "character" in {section["name"] for section in printed["sections"]}


def test_an_agent_without_a_prompt(run: Run, story: Path) -> None:
    failed = run("prompt", story, "Ines", "--say", "Hello.", "--agent", "tfidf", status=1)
    assert "answers without a prompt: choose from batch, llm, local, writer" in failed.stderr
