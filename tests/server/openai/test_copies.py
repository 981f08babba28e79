"""A card that was made from the story at another moment tells nothing when its texts are sent back."""

from __future__ import annotations

from typing import Any

import pytest

from server.conftest import MakeContext
from server.openai.test_messages import NEW_CHAT, heard, said, system, user
from understudy.formats import read
from understudy.formats.cards.export import card_at
from understudy.server.openai.copies import Copies, without_card_scene
from understudy.story.dialogue import Turn, situation_at
from understudy.story.storyfile import Story
from understudy.story.wording import fill_macros


def card_messages(story: Story, who: str, at: str, shown: str = "") -> list[dict[str, Any]]:
    """What a chat program makes of the character's card at a moment, with its lorebook and all greetings."""
    card = card_at(situation_at(story, who, at), story.title, version=2)
    name = shown or card.name

    def filled(text: str) -> str:
        return fill_macros(text, name, "Tom", story.language)

    texts = [card.text(field) for field in ("description", "personality", "scenario")]
    texts += [str(entry["content"]) for entry in card.book]
    greetings = [card.text("first_mes"), *map(str, card.data["alternate_greetings"])]
    return [*(system(filled(text)) for text in texts if text), system(NEW_CHAT), *(said(filled(g)) for g in greetings)]


def announced(name: str) -> dict[str, Any]:
    return system(f"Write {name}'s next reply in a fictional chat between {name} and Tom.")


@pytest.mark.parametrize("who", ["Zita Karst", "Pia Lenk"])
@pytest.mark.parametrize("made", ["1.4", "3.4", "3.4.4.9", "end"])
def test_a_card_of_a_later_moment_leaves_nothing_of_it(make_context: MakeContext, who: str, made: str) -> None:
    model, asked = f"demo/{who}@1.2", user("What has just happened?")
    plain, _ = heard(make_context, announced(who), asked, model=model)
    situation, history = heard(
        make_context, announced(who), *card_messages(read("demo"), who, made), asked, model=model
    )
    assert situation.persona.profile == plain.persona.profile
    assert situation.setting == plain.setting and situation.present == plain.present
    assert situation.faced == plain.faced
    introduction = [turn for turn in history[:-1] if turn.text.startswith(f"I am {who}.")]
    assert history == (*introduction, Turn("Tom", asked["content"]))


def test_a_card_of_the_very_moment_adds_nothing_and_what_was_written_into_it_stays(make_context: MakeContext) -> None:
    model, story = "demo/Zita Karst@2.3", read("demo")
    plain, _ = heard(make_context, announced("Zita Karst"), user("Well?"), model=model)
    messages = card_messages(story, "Zita Karst", "2.3")
    situation, _ = heard(make_context, announced("Zita Karst"), *messages, user("Well?"), model=model)
    assert situation.persona.profile == plain.persona.profile
    assert situation.setting == plain.setting
    scenario = next(message for message in messages if message["content"].startswith("Scene: "))
    scenario["content"] += "\nA blue lamp burns on the sill."
    situation, _ = heard(make_context, announced("Zita Karst"), *messages, user("Well?"), model=model)
    assert situation.persona.profile == plain.persona.profile
    assert situation.setting.endswith("A blue lamp burns on the sill.")


@pytest.mark.parametrize(("name", "who"), [("demo-ja", "千夏"), ("demo-zh", "葛长顺")])
def test_so_it_is_in_every_language(name: str, who: str) -> None:
    story = read(name)
    copies = Copies(story, story.character(who).name, "Tom", story.moment("1.1"))
    for message in card_messages(story, who, "end"):
        if message["role"] == "system" and message["content"] != NEW_CHAT:
            lines = without_card_scene(message["content"]).splitlines()
            assert not [line for line in lines if not (copies.has(line) or copies.is_later(line))]


def test_what_was_said_before_is_no_secret_and_short_words_are_nobodys(make_context: MakeContext) -> None:
    story = read("demo")
    scene = next(story.scenes())
    line = max((line.text for line in scene.lines), key=len)
    who = story.cast()[0].character.name
    for at, is_later in (("start", True), ("1.1", True), ("1.2", False), ("end", False)):
        assert Copies(story, who, "", story.moment(at)).is_later(line) is is_later
    assert not Copies(story, who, "", story.moment("start")).is_later("I will.")


def test_a_reply_of_a_later_moment_was_not_said(make_context: MakeContext) -> None:
    """Whoever goes on with a chat at an earlier moment asks who has not said it yet."""
    story = read("demo")
    late = [line for scene in story.scenes(story.moment("3.1")) for line in scene.lines if line.speaker == "Zita Karst"]
    line = max((line.text for line in late), key=len)
    messages = (user("What is it?"), said(line), user("Why?"))
    _, history = heard(make_context, *messages, model="demo/Zita Karst@1.2")
    assert [turn.text for turn in history] == ["What is it?", "Why?"]
    _, history = heard(make_context, *messages, model="demo/Zita Karst")
    assert [turn.text for turn in history] == ["What is it?", line, "Why?"]
