from __future__ import annotations

from pathlib import Path

import pytest

from cliruns import Document, Run

AGENT = """
from understudy.agents.writer import WriterAgent
from understudy.language.backends.backend import ScriptedBackend

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
