"""A chat with somebody from a card opens with the card's greetings, and shows its picture."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.chats.conftest import events_of
from server.conftest import Ask, visiting
from understudy.agents import Scripted
from understudy.formats import read
from understudy.formats.cards import card_of, json_of
from understudy.formats.cards.file import parse_card, png_of
from understudy.formats.cards.png import portrait
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.server.story_registry import StoryRegistry

CARD = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        "name": "Mira",
        "description": "A pilot.",
        "first_mes": "Well, {{user}}?",
        "alternate_greetings": ["You again."],
        "mes_example": "<START>\n{{user}}: Is there fog?\n{{char}}: Always.",
        "creator_notes": "Kept.",
    },
}
BEGUN = {"story": "mira", "characters": ["Mira"], "speaker": "User"}


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    (tmp_path / "mira.png").write_bytes(png_of(card_of(CARD), portrait("M")))
    stories = {"mira": read(tmp_path / "mira.png", tmp_path / "mira.story")}
    context = AppContext.open(StoryRegistry(stories), Scripted(), tmp_path / "data")
    context.chats.pace_s = 0
    app = make_app(context)

    def ask(method: str, path: str, **options: Any) -> httpx.Response:
        async def asking() -> httpx.Response:
            async with visiting(app) as client:
                return await client.request(method, path, **options)

        return asyncio.run(asking())

    yield ask
    context.close()


def shown(chat: dict[str, Any]) -> list[tuple[str, str]]:
    return [(message["by"], message["text"]) for message in chat["messages"]]


def test_the_first_greeting_opens_and_the_others_are_beside_it(ask: Ask) -> None:
    chat = ask("POST", "/api/chats", json=BEGUN).json()
    assert shown(chat) == [("character", "Well, User?")]
    first, second = chat["messages"][0]["siblings"]
    assert chat["messages"][0]["id"] == first
    chat = ask("PATCH", f"/api/chats/{chat['id']}", json={"shown": second}).json()
    assert shown(chat) == [("character", "You again.")]
    events_of(ask("POST", f"/api/chats/{chat['id']}/messages", json={"text": "Hello."}))
    chat = ask("GET", f"/api/chats/{chat['id']}").json()
    assert shown(chat) == [("character", "You again."), ("user", "Hello."), ("character", "Line 2.")]
    assert chat["title"] == "Hello."


@pytest.mark.parametrize(("greeting", "texts"), [(0, []), (2, ["You again."]), (9, ["You again."])])
def test_which_one_opens_can_be_said(ask: Ask, greeting: int, texts: list[str]) -> None:
    chat = ask("POST", "/api/chats", json={**BEGUN, "greeting": greeting}).json()
    assert [text for _, text in shown(chat)] == texts


def test_whoever_has_no_name_is_you(ask: Ask) -> None:
    assert shown(ask("POST", "/api/chats", json={**BEGUN, "speaker": None}).json()) == [("character", "Well?")]


def test_a_greeting_is_not_tried_again(ask: Ask) -> None:
    chat = ask("POST", "/api/chats", json=BEGUN).json()
    refused = ask("POST", f"/api/chats/{chat['id']}/messages/{chat['messages'][0]['id']}/retry")
    assert refused.status_code == 409
    assert "a greeting is no reply" in refused.text


def test_the_picture_of_the_card_is_the_portrait(ask: Ask) -> None:
    drawn = ask("GET", "/api/stories/mira/characters/User/portrait.svg")
    assert drawn.headers["content-type"].startswith("image/svg+xml")
    moved = ask("GET", "/api/stories/mira/characters/Mira/portrait.svg")
    assert moved.status_code == 307
    picture = ask("GET", moved.headers["location"])
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
    assert picture.content == portrait("M")  # and not the card that was in it
    assert ask("GET", "/api/stories/mira/characters/User/portrait.png").status_code == 404


def test_the_card_comes_back_as_it_was(ask: Ask) -> None:
    answer = ask("GET", "/api/stories/mira/characters/Mira/card.png", params={"spec": 2})
    card = parse_card(answer.content)
    assert card.data["extensions"].pop("understudy")["character"] == "Mira"
    assert {field: card.data[field] for field in CARD["data"]} == CARD["data"]
    assert json_of(card)


def test_somebody_of_ones_own_is_greeted_by_name(ask: Ask) -> None:
    tom = {"name": "Tom", "description": "A sailor."}
    assert shown(ask("POST", "/api/chats", json={**BEGUN, "speaker": tom}).json()) == [("character", "Well, Tom?")]
