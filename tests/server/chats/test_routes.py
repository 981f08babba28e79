"""Chats to take away: each format is whole, and what users type stays text in all of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from server.chats.conftest import events_of
from server.conftest import Ask
from understudy.database import Database
from understudy.server.context import AppContext
from understudy.server.database import ServerDatabase

HOSTILE = (
    "<script>alert('x')</script> & \"quotes\" *stars* [link](javascript:alert(1)) "
    "\u202eright to left\u202c `code`\n# no heading"
)
BEGUN = {"story": "brass-key", "characters": ["Ines Vale"], "at": "2.1"}


@pytest.fixture
def chat(ask: Ask) -> str:
    """One exchange, tried twice, and one at another moment."""
    number = str(ask("POST", "/api/chats", json=BEGUN).json()["id"])
    events = events_of(ask("POST", f"/api/chats/{number}/messages", json={"text": HOSTILE}))
    events_of(ask("POST", f"/api/chats/{number}/messages/{events[-2][1]['id']}/retry"))
    ask("PATCH", f"/api/chats/{number}", json={"at": "1.2", "speaker": "Tobias Rook"})
    events_of(ask("POST", f"/api/chats/{number}/messages", json={"text": "And the hook?"}))
    return number


def exported(ask: Ask, chat: str, form: str) -> tuple[str, str]:
    response = ask("GET", f"/api/chats/{chat}/export", params={"format": form})
    assert response.status_code == 200
    return response.text, response.headers["content-disposition"]


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_json_lines_are_those_that_the_command_line_saves(ask: Ask, chat: str) -> None:
    text, name = exported(ask, chat, "jsonl")
    assert lines(text) == [
        {"moment": "2.1", "speaker": "You", "text": HOSTILE},
        {"moment": "2.1", "speaker": "Ines Vale", "text": "This is the line numbered 2."},
        {"moment": "1.2", "speaker": "Tobias Rook", "text": "And the hook?"},
        {"moment": "1.2", "speaker": "Ines Vale", "text": "This is the line numbered 1."},
    ]
    assert name == 'attachment; filename="script-alert-x-script-quotes-stars.jsonl"'


def test_a_sillytavern_chat_has_its_header_and_other_tries_as_swipes(ask: Ask, chat: str) -> None:
    text, _ = exported(ask, chat, "sillytavern")
    header, *messages = lines(text)
    assert (header["user_name"], header["character_name"]) == ("Tobias Rook", "Ines Vale")
    assert set(header) == {"user_name", "character_name", "create_date", "chat_metadata"}
    assert [message["is_user"] for message in messages] == [True, False, True, False]
    assert messages[0]["mes"] == HOSTILE
    assert messages[1]["swipes"] == ["This is the line numbered 1.", "This is the line numbered 2."]
    assert messages[1]["swipe_id"] == 1
    assert all({"name", "is_user", "is_system", "send_date", "mes", "extra"} <= set(message) for message in messages)
    assert "swipes" not in messages[0]


def test_markdown_reads_as_it_was_said_and_runs_nothing(ask: Ask, chat: str) -> None:
    text, name = exported(ask, chat, "markdown")
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "](javascript" not in text
    assert "\\# no heading" in text
    assert "\\*stars\\*" in text
    assert "## Act 2, scene 1\n" in text and "## Act 1, scene 2\n" in text
    assert text.index("Act 2, scene 1") < text.index("Act 1, scene 2")
    assert name.endswith('.md"')


def test_an_unknown_format_is_refused(ask: Ask, chat: str) -> None:
    assert ask("GET", f"/api/chats/{chat}/export", params={"format": "exe"}).status_code == 400


def test_user_text_stays_text_in_events_and_on_the_page(ask: Ask, chat: str) -> None:
    page = ask("GET", f"/chats/{chat}")
    assert page.status_code == 200
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;quotes&#34;" in page.text
    assert "\u202eright to left" in page.text  # kept, within an element that isolates it
    assert page.text.count('class="bubble" dir="auto"') == 4
    document = ask("GET", f"/api/chats/{chat}").json()
    assert document["messages"][0]["text"] == HOSTILE


def test_characters_that_are_no_text_are_taken_out(ask: Ask) -> None:
    number = ask("POST", "/api/chats", json=BEGUN).json()["id"]
    response = ask("POST", f"/api/chats/{number}/messages", json={"text": "\0a\x1b[31mb\r\nc\x7f\td "})
    assert "\0" not in response.text
    assert events_of(response)[0][1]["text"] == "a[31mb\nc\td"


def test_a_message_that_is_deleted_meanwhile_takes_nothing_from_the_export(
    ask: Ask, chat: str, context: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = exported(ask, chat, "sillytavern")
    run, read = ServerDatabase.run, ServerDatabase.read

    async def overtaken(database: ServerDatabase, work: Callable[[Database], Any]) -> Any:
        result = await read(database, work)
        await run(database, lambda db: db.rows("DELETE FROM messages WHERE id = (SELECT min(id) + 1 FROM messages)"))
        return result

    monkeypatch.setattr(ServerDatabase, "read", overtaken)
    assert exported(ask, chat, "sillytavern")[0] == whole
