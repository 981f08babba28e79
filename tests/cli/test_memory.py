from __future__ import annotations

from pathlib import Path

import pytest

from cliruns import Document, Run


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    monkeypatch.setenv("UNDERSTUDY_DATA", str(folder))
    return folder


def say(document: Document, story: Path, who: str, at: str, message: str) -> str:
    reply = document("chat", story, who, "--at", at, "--remember", "Tom", "--say", message)["reply"]
    assert isinstance(reply, str)
    return reply


def test_a_later_chat_knows_what_an_earlier_one_was_told(document: Document, story: Path) -> None:
    say(document, story, "Ines", "2.1", "I am a glazier.")
    assert say(document, story, "Ines", "2.2", "What do I do?") == "You are a glazier."
    assert "glazier" not in say(document, story, "Ines", "1.2", "What do I do?")
    assert "glazier" not in say(document, story, "Tobias", "2.2", "What do I do?")


def test_why_says_from_which_chat(run: Run, document: Document, story: Path) -> None:
    say(document, story, "Ines", "2.1", "I am a glazier.")
    shown = run("chat", story, "Ines", "--at", "2.1", "--remember", "Tom", "--say", "What do I do?", "--why").output
    assert "told" in shown and "I am a glazier (Tom, chat of" in " ".join(shown.split())


def test_nothing_is_kept_without_the_option(run: Run, story: Path, data: Path) -> None:
    run("chat", story, "Ines", "--say", "I am a glazier.")
    assert not data.exists()


def test_what_is_taken_back_in_the_chat_is_not_remembered(run: Run, document: Document, story: Path) -> None:
    run("chat", story, "Ines", "--remember", "Tom", stdin="I am a glazier.\n/undo\n")
    assert document("memory", "list")["remembered"] == []


def test_listed_shown_edited_forgotten_undone(run: Run, document: Document, story: Path, data: Path) -> None:
    say(document, story, "Ines", "2.1", "I am a glazier. I have two dogs.")
    first, _ = document("memory", "list", "Tom")["remembered"]
    assert (first["text"], first["character"], first["moment"], first["turn"]) == (
        "I am a glazier",
        "Ines Vale",
        "2.1",
        1,
    )
    assert "I have two dogs" in run("memory", "list").output
    assert "Ines" in run("memory", "show", "tom").output
    run("memory", "edit", "Tom", str(first["number"]), "I am a mason")
    assert say(document, story, "Ines", "2.1", "What do I do?") == "You are a mason."
    document("memory", "forget", "Tom", str(first["number"]))
    assert b"mason" not in (data / "memory.sqlite").read_bytes()
    assert [item["text"] for item in document("memory", "undo")["remembered"]] == ["I am a mason"]
    run("memory", "forget", "Tom", "--all", "--for-good")
    assert document("memory", "show", "Tom")["remembered"] == []
    assert not any(b"mason" in path.read_bytes() for path in data.iterdir())
    assert "no change to undo" in run("memory", "undo", status=1).output


def test_errors_say_what_to_do(run: Run, story: Path) -> None:
    assert "numbers of entries" in run("memory", "forget", "Tom", status=2).output
    assert "memory list" in run("memory", "edit", "Tom", "9", "I am a mason", status=1).output
    shown = run("chat", story, "Ines", "--remember", "Tobias", "--say", "Hello", status=1).output
    assert "is a name of somebody in the story" in " ".join(shown.split())
    assert "Nothing is remembered of anybody" in " ".join(run("memory", "list").output.split())
