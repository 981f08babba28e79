"""SillyTavern before a server of the demo: everything that its user does there, in the order a user would do it.

Runs where SillyTavern is installed and `UNDERSTUDY_SILLYTAVERN` names its folder.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from clients.recorder import Recorder
from clients.sillytavern import SillyTavernPage
from understudy.formats import read
from understudy.formats.cards.export import card_at
from understudy.formats.cards.file import write_card
from understudy.story.dialogue import situation_at
from understudy.story.storyfile import Story

ZITA = "demo/Zita@2.3"


@pytest.fixture(scope="module")
def story() -> Story:
    return read("demo")


@pytest.fixture(scope="module")
def zita(
    sillytavern: SillyTavernPage, recorder: Recorder, story: Story, tmp_path_factory: pytest.TempPathFactory
) -> SillyTavernPage:
    """Connected to the server, with the cards of two characters, in a chat with one."""
    folder = tmp_path_factory.mktemp("cards")
    sillytavern.connect(f"http://127.0.0.1:{recorder.port}/v1", ZITA)
    for name in ("Zita", "Pia"):
        situation = situation_at(story, name, "2.3")
        write_card(card_at(situation, story.title), folder / f"{name}.png")
        sillytavern.import_card(folder / f"{name}.png")
    sillytavern.open_character("Zita Karst")
    return sillytavern


@pytest.fixture
def chat(zita: SillyTavernPage) -> SillyTavernPage:
    """A new chat, without a persona or a note."""
    if zita.last() != zita.greeting or len(zita.chat()) != 1:
        zita.new_chat()
    return zita


def test_it_lists_characters_at_moments(zita: SillyTavernPage, recorder: Recorder) -> None:
    listed = zita.connect(f"http://127.0.0.1:{recorder.port}/v1", ZITA)
    assert "demo/Zita Karst" in listed
    assert any(model.startswith("demo/Zita Karst@") for model in listed)


def test_the_card_s_greeting_opens_and_the_others_are_its_swipes(chat: SillyTavernPage) -> None:
    (greeting,) = chat.chat()
    assert (greeting["name"], greeting["user"]) == ("Zita Karst", False)
    assert len(greeting["swipes"]) > 1
    assert chat.next_greeting() == greeting["swipes"][1]


def test_a_message_is_answered_as_it_is_told(chat: SillyTavernPage, recorder: Recorder) -> None:
    chat.stream(True)
    assert chat.say("What is your name?") == "My name is Zita Karst."
    sent = recorder.chats()[-1]
    assert sent.body["stream"] is True
    assert sent.answer.count(b"data:") > 2
    chat.stream(False)
    assert "Karst" in chat.say("Who are you?")


def test_a_reply_can_be_stopped(chat: SillyTavernPage) -> None:
    chat.stream(True)
    chat.say("Tell me all about your father, from the beginning.", waits=False)
    chat.page.wait_for_selector("#mes_stop", state="visible")
    chat.stop()
    expect(chat.page.locator("#mes_stop")).to_be_hidden()
    stopped = chat.chat()
    chat.page.wait_for_timeout(3_000)
    assert chat.chat() == stopped, "nothing is told once it has been stopped"
    assert chat.say("What is your name?") == "My name is Zita Karst."


def test_an_edited_reply_is_what_was_said(chat: SillyTavernPage, recorder: Recorder) -> None:
    chat.say("What do you do here?")
    chat.edit_last("I count the gulls.")
    chat.say("What is your name?")
    said = [message["content"] for message in recorder.chats()[-1].body["messages"]]
    assert "I count the gulls." in said
    assert recorder.chats()[-1].text == chat.last()


def test_another_try_says_something_else(chat: SillyTavernPage) -> None:
    first = chat.say("What do you think of the weather?")
    others = [chat.swipe(), chat.swipe()]
    assert len({first, *others}) > 1
    assert chat.regenerate()


@pytest.mark.parametrize("message", ["What do you think of Pia?", "What do you do here?"])
def test_a_reply_is_gone_on_with(chat: SillyTavernPage, message: str) -> None:
    first = chat.say(message)
    more = chat.go_on()
    assert more.startswith(first)
    assert len(more) > len(first)


def test_the_user_s_next_line_is_written(chat: SillyTavernPage, recorder: Recorder) -> None:
    chat.persona("I am Tom, a one-armed baker from Ismar. I have a brown dog called Rex.")
    chat.say("Good evening.")
    line = chat.impersonate()
    assert line
    assert "Zita" not in line
    assert "smoke" not in line
    assert recorder.chats()[-1].body["messages"][-1]["role"] == "system"


def test_the_persona_is_the_user_s(chat: SillyTavernPage) -> None:
    chat.persona("I am Tom, a one-armed baker from Ismar. I have a brown dog called Rex.")
    about_user = chat.say("What do you know about me?")
    assert "Tom" in about_user or "baker" in about_user or "Rex" in about_user
    own = chat.say("Who are you?")
    assert "baker" not in own
    assert "Rex" not in own
    chat.persona("")


def test_the_author_s_note_is_taken(chat: SillyTavernPage, recorder: Recorder) -> None:
    chat.authors_note("[It is night. Rain beats on the shutters of the smoke room.]")
    assert chat.say("What is your name?") == "My name is Zita Karst."
    assert any("Rain beats" in message["content"] for message in recorder.chats()[-1].body["messages"])
    assert "the smoke room" in chat.say("Where are we?")
    chat.authors_note("")


def test_the_card_s_lorebook_comes_up(chat: SillyTavernPage, recorder: Recorder) -> None:
    chat.import_lorebook()
    reply = chat.say("What do you think of Aurel Benedek?")
    told = [message["content"] for message in recorder.chats()[-1].body["messages"] if message["role"] == "system"]
    assert any("Aurel Benedek is dear to me." in text for text in told)
    assert any(word in reply for word in ("dear", "Benedek", "friend", "Aurel"))


def test_a_saved_chat_is_read(chat: SillyTavernPage, tmp_path: Path) -> None:
    chat.say("What is your name?")
    saved = chat.saved_chats()[-1]
    told = read(saved, tmp_path / "chat.story")
    assert {member.character.name for member in told.cast()} == {"Tom", "Zita Karst"}
    assert "My name is Zita Karst." in [line.text for scene in told.scenes() for line in scene.lines]


def test_each_of_a_group_answers_for_themselves(zita: SillyTavernPage, tmp_path: Path) -> None:
    zita.group_of(["Pia Lenk", "Zita Karst"])
    zita.say("Pia, Zita, who are you?", replies=2)
    said = {message["name"]: message["text"] for message in zita.chat() if not message["user"]}
    assert "Pia" in said["Pia Lenk"] or "guardian" in said["Pia Lenk"]
    assert "Zita" in said["Zita Karst"] or "smoker" in said["Zita Karst"]
    assert "Pia" not in said["Zita Karst"]
    told = read(zita.saved_chats("group chats")[-1], tmp_path / "group.story")
    assert {"Pia Lenk", "Zita Karst", "Tom"} == {member.character.name for member in told.cast()}
