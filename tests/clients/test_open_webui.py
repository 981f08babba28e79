"""Open WebUI before a server of the demo: everything that its user does there.

Runs where Open WebUI is installed and `UNDERSTUDY_OPEN_WEBUI` names its command.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from clients.open_webui import OpenWebUIPage
from clients.recorder import Recorder
from understudy.formats import read


@pytest.fixture(scope="module")
def models(open_webui: OpenWebUIPage) -> list[str]:
    return open_webui.models()


def of(models: list[str], who: str) -> str:
    """A character at a moment in the midst of the story."""
    return next(name for name in models if re.fullmatch(rf"{who}, [\d.]+", name))


@pytest.fixture
def chat(open_webui: OpenWebUIPage, models: list[str]) -> OpenWebUIPage:
    open_webui.new_chat(of(models, "Zita Karst"))
    return open_webui


def test_it_lists_characters_at_moments_in_words(models: list[str]) -> None:
    assert "Zita Karst, end" in models
    assert any(name.startswith("Zita Karst, start (") for name in models)
    assert of(models, "Zita Karst")


def test_a_message_is_answered_though_tools_come_with_it(chat: OpenWebUIPage, recorder: Recorder) -> None:
    assert chat.say("What is your name?") == "My name is Zita Karst."
    sent = next(sent for sent in reversed(recorder.chats()) if sent.body["stream"])
    assert (sent.status, sent.text) == (200, "My name is Zita Karst.")
    assert sent.answer.count(b"data:") > 2


def test_titles_tags_and_follow_ups(chat: OpenWebUIPage) -> None:
    chat.say("Good evening. What is your work?")
    expect(chat.follow_ups().first).to_be_visible(timeout=30_000)
    assert all("?" in question for question in chat.follow_ups().all_inner_texts())
    chat.page.wait_for_function("() => document.title.includes('Zita Karst')")
    chat.page.locator("#chat-context-menu-button").click()
    expect(chat.page.get_by_text("A Clean Bill", exact=True)).to_be_visible()
    chat.page.keyboard.press("Escape")


def test_a_reply_can_be_stopped(chat: OpenWebUIPage) -> None:
    chat.say("Tell me all about your father, from the beginning.", waits=False)
    chat.page.get_by_label("Stop", exact=True).wait_for()
    chat.stop()
    assert chat.say("What is your name?") == "My name is Zita Karst."


def test_another_try_says_something_else(chat: OpenWebUIPage) -> None:
    first = chat.say("What do you think of the weather?")
    assert len({first, chat.regenerate(), chat.regenerate()}) > 1


@pytest.mark.parametrize("message", ["What do you think of Pia?", "What do you do here?"])
def test_a_reply_is_gone_on_with(chat: OpenWebUIPage, message: str) -> None:
    first = chat.say(message)
    more = chat.go_on()
    assert more.startswith(first)
    assert len(more) > len(first)


def test_an_edited_message_is_answered(chat: OpenWebUIPage) -> None:
    chat.say("What do you do here?")
    assert chat.edit_own("What is your name?") == "My name is Zita Karst."


def test_the_system_prompt_tells_of_the_user(chat: OpenWebUIPage) -> None:
    chat.system_prompt("I am Tom, a one-armed baker from Ismar. I have a brown dog called Rex.")
    about_user = chat.say("What do you know about me?")
    assert "Tom" in about_user or "baker" in about_user or "Rex" in about_user
    own = chat.say("Who are you?")
    assert "baker" not in own
    assert "Rex" not in own


def test_the_system_prompt_tells_of_the_scene(chat: OpenWebUIPage) -> None:
    chat.system_prompt("Scenario: the smoke room, at night.")
    assert chat.say("Where are we?") == "The smoke room."


def test_several_models_answer_each_for_themselves_and_the_export_is_read(
    open_webui: OpenWebUIPage, models: list[str], tmp_path: Path
) -> None:
    open_webui.new_chat(of(models, "Zita Karst"), of(models, "Casimir Ould"))
    open_webui.say("What is your name?", replies=2)
    said = [message["text"] for message in open_webui.chat() if not message["user"]]
    assert said == ["My name is Zita Karst.", "My name is Casimir Ould."]
    exported = open_webui.export(tmp_path / "chat.json")
    told = read(exported, tmp_path / "chat.story")
    assert {member.character.name for member in told.cast()} == {"User", "Zita Karst", "Casimir Ould"}
    assert [line.text for scene in told.scenes() for line in scene.lines][1:] == said
