from __future__ import annotations

import pytest

from understudy.errors import BackendError
from understudy.language.backends.scripted import ScriptedBackend
from understudy.progress import Cancellation
from understudy.story.dialogue import ChatMessage, Sampling

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
