"""Prompts and replies are logged where the user asks for it, for the user's eyes only, and without keys."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from llmserver import TEXT, Running
from understudy.errors import BackendError, InputError
from understudy.language.backends import Backend, LoggedBackend, ScriptedBackend, logged
from understudy.language.backends.openai_api import OpenAIBackend
from understudy.language.backends.settings import LLMSettings
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling

MESSAGES = [ChatMessage("system", "Du bist Zita."), ChatMessage("user", "Wer hat ihn geschrieben?")]
KEY = "sk-secret-7f3a"


def backend(server: Running, model: str = "say") -> OpenAIBackend:
    return OpenAIBackend(LLMSettings("test", server.url, model, KEY, retries=0))


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "prompts.jsonl"
    monkeypatch.setenv("UNDERSTUDY_LOG_PROMPTS", str(path))
    return path


def test_nothing_is_logged_unless_asked_for(llm_server: Running) -> None:
    plain = backend(llm_server)
    assert logged(plain) is plain


def test_what_was_asked_and_answered_is_logged(llm_server: Running, path: Path) -> None:
    writer = logged(backend(llm_server))
    assert "".join(writer.stream(MESSAGES, Sampling())) == TEXT
    assert len(writer.complete(MESSAGES, Sampling(n=2))) == 2
    streamed, first, second = entries(path)
    assert list(streamed) == ["time", "backend", "messages", "text", "usage"]
    assert streamed["backend"] == "llm:test"
    assert streamed["messages"][1] == {"role": "user", "content": "Wer hat ihn geschrieben?"}
    assert streamed["text"] == first["text"] == TEXT
    assert second["text"] == TEXT.upper()
    assert streamed["usage"]["completion_tokens"] == 13
    assert KEY not in path.read_text(encoding="utf-8")
    assert (writer.name, writer.context_tokens, writer.count_tokens("abcde")) == ("llm:test", 8192, 2)


def test_errors_and_what_broke_off_are_logged(llm_server: Running, path: Path) -> None:
    for model in ("dies", "tells-key"):
        with pytest.raises(BackendError):
            list(logged(backend(llm_server, model)).stream(MESSAGES, Sampling()))
    with pytest.raises(BackendError):
        logged(backend(llm_server, "tells-key")).complete(MESSAGES, Sampling())
    generator = logged(backend(llm_server)).stream(MESSAGES, Sampling())
    next(generator)
    generator.close()
    assert [entry["text"] for entry in entries(path)] == ["The tide was", "", "", "The"]
    assert [bool(entry["error"]) for entry in entries(path)] == [True] * 4
    assert KEY not in path.read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no file modes")
def test_only_the_user_can_read_it(llm_server: Running, path: Path) -> None:
    logged(backend(llm_server))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    logged(backend(llm_server)).complete(MESSAGES, Sampling())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_log_that_cannot_be_written_is_told_at_once(
    llm_server: Running, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNDERSTUDY_LOG_PROMPTS", str(path.parent))
    with pytest.raises(InputError, match="UNDERSTUDY_LOG_PROMPTS names a file that cannot be written"):
        logged(backend(llm_server))
    wrapped: Backend = LoggedBackend(backend(llm_server), path)
    path.unlink()
    path.mkdir()
    with pytest.raises(BackendError, match="prompt log cannot be written"):
        wrapped.complete(MESSAGES, Sampling())


HELLO = [ChatMessage("system", "You are Zita."), ChatMessage("user", "Hello.")]
LATER = [*HELLO, ChatMessage("assistant", "You again."), ChatMessage("user", "Yes.")]


def test_the_text_that_is_due_depends_on_the_prompt_alone() -> None:
    backend = ScriptedBackend(["First of all.", "Then this."])
    for _ in range(2):
        assert [result.text for result in backend.complete(HELLO, Sampling())] == ["First of all."]
        assert [result.text for result in backend.complete(LATER, Sampling())] == ["Then this."]
    assert [result.text for result in backend.complete(HELLO, Sampling(n=3))] == [
        "First of all.",
        "Then this.",
        "First of all.",
    ]
    assert len(backend.requests) == 5


def test_pieces_joined_are_the_text() -> None:
    stream = ScriptedBackend(["First  of all.\nYes."]).stream(HELLO, Sampling())
    pieces = [next(stream) for _ in range(4)]
    with pytest.raises(StopIteration) as stop:
        next(stream)
    completion = stop.value.value
    assert "".join(pieces) == completion.text == "First  of all.\nYes."
    assert (completion.finish_reason, completion.usage.completion_tokens) == ("stop", 4)


def test_limits_errors_and_cancelling() -> None:
    (cut,) = ScriptedBackend(["one two three"]).complete(HELLO, Sampling(max_tokens=2))
    assert (cut.text, cut.finish_reason) == ("one two", "length")
    with pytest.raises(BackendError):
        ScriptedBackend(["one"], error=BackendError("gone")).complete(HELLO, Sampling())
    cancellation = Cancellation()
    stream = ScriptedBackend(["one two three"]).stream(HELLO, Sampling(), cancellation)
    assert next(stream) == "one"
    cancellation.cancel()
    with pytest.raises(StopIteration) as stop:
        next(stream)
    assert (stop.value.value.text, stop.value.value.finish_reason) == ("one", "cancelled")
