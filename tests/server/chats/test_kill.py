"""A server that is killed while it streams a reply has stored everything that was seen."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import httpx
import pytest

from killable import WORDS, server


def read_until(url: str, chat: str, text: str, words: int) -> str:
    """The beginning of a reply's stream: so many words."""
    seen = ""
    with httpx.stream("POST", f"{url}/api/chats/{chat}/messages", json={"text": text}, timeout=120) as stream:
        for line in stream.iter_lines():
            if line.startswith('data: {"message"'):
                seen += json.loads(line.removeprefix("data: "))["text"]
                words -= 1
                if not words:
                    break
    return seen


@pytest.mark.parametrize("words", [1, 25])
def test_what_was_seen_is_there_after_a_kill_between_two_tokens(story: Path, tmp_path: Path, words: int) -> None:
    begun = {"story": "brass-key", "characters": ["Ines Vale"], "at": "2.1"}
    with server(story, tmp_path) as (process, url):
        chat = httpx.post(f"{url}/api/chats", json=begun, timeout=120).json()["id"]
        first = read_until(url, chat, "Where is the key?", words)
        second = read_until(url, chat, "And the hook?", words)
        process.send_signal(signal.SIGKILL)
        process.wait(120)
    with server(story, tmp_path) as (_, url):
        messages = httpx.get(f"{url}/api/chats/{chat}", timeout=120).json()["messages"]
    assert [message["text"] for message in messages[::2]] == ["Where is the key?", "And the hook?"]
    for reply, seen in zip(messages[1::2], [first, second], strict=True):
        assert len(seen.split()) == words
        assert reply["text"].startswith(seen)
        assert len(reply["text"].split()) == WORDS  # all of it was stored before its first word was sent
