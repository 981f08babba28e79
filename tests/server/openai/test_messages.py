"""System messages are read for what they are; the requests are shaped as SillyTavern and Open WebUI send them."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from server.conftest import MakeContext, visiting
from server.openai.test_completions import send
from understudy.agents import agent_named
from understudy.agents.prompt import STYLES, build_prompt
from understudy.judging.loading import load_guarded
from understudy.server.app import make_app
from understudy.server.context import AppContext
from understudy.story.dialogue import Situation, Turn
from understudy.story.storyfile import Story

MAIN = "Write Ines Vale's next reply in a fictional chat between Ines Vale and Tom."
BAKER = "I am Tom, a one-armed baker. I have a brown dog called Rex."
NEW_CHAT, NEW_EXAMPLE = "[Start a new Chat]", "[Example Chat]"


def system(text: str, name: str | None = None) -> dict[str, Any]:
    return {"role": "system", "content": text, **({"name": name} if name else {})}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def heard(make_context: MakeContext, *messages: dict[str, Any], **fields: Any) -> tuple[Situation, tuple[Turn, ...]]:
    agent, _ = send(make_context, list(messages), **fields)
    assert agent.situation is not None
    return agent.situation, tuple(agent.history)


def plain_profile(make_context: MakeContext) -> tuple[str, ...]:
    return heard(make_context, user("Well?"))[0].persona.profile


@pytest.mark.parametrize(
    "persona",
    [
        BAKER,
        "Tom is a one-armed baker. He has a brown dog called Rex.",
        "User persona: a one-armed baker with a brown dog called Rex.",
        "I bake bread with the one arm I have. My dog Rex is brown.",
        "The user is Tom, a baker. His dog is called Rex.",
    ],
)
def test_who_the_user_is_is_known_of_the_one_faced_and_never_of_the_character(
    make_context: MakeContext, persona: str
) -> None:
    situation, history = heard(
        make_context, system(MAIN), system(persona), system(NEW_CHAT), user("Do you have a dog?")
    )
    assert situation.persona.profile == plain_profile(make_context)
    assert situation.faced is not None and situation.faced.name == "Tom"
    told = " ".join((*situation.faced.profile, *(item.text for item in situation.faced.told)))
    assert "Rex" in told
    assert history == (Turn("Tom", "Do you have a dog?"),)


def test_what_is_known_of_the_world_may_stand_before_it(make_context: MakeContext) -> None:
    world = "The island has one road and two wells."
    for main in (MAIN, "Ines Vale keeps the light."):
        situation, _ = heard(
            make_context,
            system(main),
            system(world),
            system("I bake bread. My dog is Rex."),
            system(NEW_CHAT),
            user("Well?"),
        )
        assert "Rex" not in str(situation.persona.profile) and world in situation.setting
        assert situation.faced is not None and "Rex" in str(situation.faced.told)


def test_so_it_is_where_no_role_play_is_announced(make_context: MakeContext) -> None:
    situation, _ = heard(make_context, system(BAKER), user("Do you have a dog?"))
    assert situation.persona.profile == plain_profile(make_context)
    assert situation.faced is not None and situation.faced.name == "Tom"


def test_where_all_system_messages_are_joined_to_one(make_context: MakeContext) -> None:
    card = plain_profile(make_context)
    joined = "\n".join((MAIN, BAKER, *card, NEW_EXAMPLE, "Tom: Yes?", "Ines Vale: No.", NEW_CHAT))
    situation, _ = heard(make_context, system(joined), user("Well?"))
    assert situation.persona.profile == card
    assert situation.faced is not None and "Rex" in str(situation.faced.told)


def test_a_copy_of_what_the_story_says_is_dropped_and_the_rest_is_added(make_context: MakeContext) -> None:
    card = plain_profile(make_context)
    edited = "\n".join((*card, "I walk with a stick since the winter."))
    situation, _ = heard(make_context, system(MAIN), system(edited), system(NEW_CHAT), user("Well?"))
    assert situation.persona.profile == (*card, "I walk with a stick since the winter.")


def test_a_card_of_a_later_moment_tells_nothing_of_it(make_context: MakeContext) -> None:
    model = "demo/Zita Karst@1.2"
    early, _ = heard(make_context, user("Well?"), model=model)
    late, _ = heard(make_context, user("Well?"), model="demo/Zita Karst")
    later = (*late.persona.profile, *late.persona.feelings())
    assert not set(late.persona.profile) <= set(early.persona.profile)
    main = MAIN.replace("Ines Vale", "Zita Karst")
    situation, _ = heard(make_context, system(main), system("\n".join(later)), user("Well?"), model=model)
    assert situation.persona.profile == early.persona.profile


def test_examples_are_no_knowledge(make_context: MakeContext) -> None:
    situation, history = heard(
        make_context,
        system(MAIN),
        system(NEW_EXAMPLE),
        system("Did you take the boat?", "example_user"),
        system("I keep a goat in the loft.", "example_assistant"),
        system("<START>\nTom: Who are you?\nInes Vale: I keep a goat in the loft."),
        system(NEW_CHAT),
        user("Well?"),
    )
    assert "goat" not in str(situation.persona.profile) + situation.setting + str(situation.faced)
    assert history == (Turn("Tom", "Well?"),)


@pytest.mark.parametrize(
    "direction",
    [
        "[Write the next reply only as Ines Vale.]",
        "[System note: write at least four paragraphs.]",
        "Write in the style of a novel. Avoid repetition.",
        "If you have more knowledge of Ines Vale, add to the character's lore.",
    ],
)
def test_directions_are_nobodys_profile(make_context: MakeContext, direction: str) -> None:
    situation, _ = heard(
        make_context, system(MAIN), system(direction), system(NEW_CHAT), user("Well?"), system(direction)
    )
    assert situation.persona.profile == plain_profile(make_context)
    assert "paragraph" not in situation.setting and "novel" not in situation.setting


def test_the_scenario_and_notes_are_the_scene(make_context: MakeContext) -> None:
    situation, _ = heard(
        make_context,
        system(MAIN),
        system("Scenario: The lamp room, at dusk."),
        system(NEW_CHAT),
        said("Good evening."),
        system("[The lamp has gone out.]"),
        user("Well?"),
    )
    assert "The lamp room, at dusk." in situation.setting and "The lamp has gone out." in situation.setting
    assert situation.persona.profile == plain_profile(make_context)


def test_a_note_in_mid_chat_stands_near_the_end_of_a_prompt(make_context: MakeContext) -> None:
    note = "It is night. Rain beats on the shutters of the smoke room."
    asked = (user("Who are you?"), system(f"[{note}]"), said("Nobody."), user("Where are we?"))
    situation, history = heard(make_context, system(MAIN), system("Scenario: The lamp room."), *asked)
    for style in STYLES:
        messages = build_prompt(situation, history, style=style).messages
        assert "The lamp room." in messages[0].content
        where = messages[-1 if style == "instructions" else 0].content
        assert all(part in where for part in note.split(". "))
        assert sum(message.content.count("Rain beats") for message in messages) == 1


@pytest.mark.parametrize(
    "persona", [BAKER, "Tom is a baker. Rex, a brown dog, follows him.", "User persona: a dog, Rex."]
)
def test_a_small_writer_asked_for_its_own_dog_does_not_have_the_users_before_it(
    make_context: MakeContext, persona: str
) -> None:
    for question, is_shown in (("Do you have a dog?", False), ("What do you know about me?", True)):
        situation, history = heard(make_context, system(MAIN), system(persona), system(NEW_CHAT), user(question))
        prompt = build_prompt(situation, history, style="compact").messages
        assert ("Rex" in " ".join(message.content for message in prompt)) is is_shown


GROUP = "[Start a new group chat. Group members: Ines Vale, Tobias Rook]"


def group(make_context: MakeContext, who: str, *messages: dict[str, Any]) -> tuple[Situation, tuple[Turn, ...]]:
    main = MAIN.replace("Ines Vale", who)
    nudge = f"[Write the next reply only as {who}.]"
    return heard(make_context, system(main), system(GROUP), *messages, system(nudge))


def test_in_a_group_the_client_says_who_answers_and_names_who_said_what(make_context: MakeContext) -> None:
    asked = user("Tobias, Ines, who are you?")
    situation, history = group(make_context, "Ines Vale", asked)
    assert situation.persona.name == "Ines Vale" and history == (Turn("Tom", asked["content"]),)
    assert [other.name for other in situation.present] == ["Tobias Rook"]
    situation, history = group(make_context, "Tobias Rook", asked, said("Ines Vale: I am Ines."))
    assert situation.persona.name == "Tobias Rook"
    assert history == (Turn("Ines Vale", "I am Ines."), Turn("Tom", asked["content"]))  # it is the user who is answered
    replies = (said("Ines Vale: I am Ines."), said("Tobias Rook: And I am Rook."))
    situation, history = group(make_context, "Ines Vale", asked, *replies)
    assert history[-1] == Turn("Tobias Rook", "And I am Rook.")


def test_whoever_the_story_does_not_know_answers_for_nobody(make_context: MakeContext) -> None:
    situation, _ = group(make_context, "Captain Nobody", user("Well?"))
    assert situation.persona.name == "Ines Vale"


def test_a_reply_that_stands_last_is_gone_on_with(make_context: MakeContext) -> None:
    nudge = "[Continue your last message without repeating its original content.]"
    _, history = heard(make_context, system(MAIN), user("Where?"), said("In the"))
    assert history == (Turn("Tom", "Where?"), Turn("Ines Vale", "In the"))
    old = "[Continue the following message. Do not include ANY parts of the original message: In the]"
    for messages in ((user("Where?"), said("Ines Vale: In the"), system(nudge)), (user("Where?"), system(old))):
        _, history = heard(make_context, system(MAIN), *messages)
        assert history == (Turn("Tom", "Where?"), Turn("Ines Vale", "In the "))  # the client puts the space


def test_what_goes_on_begins_with_a_space_only_where_the_client_puts_none(make_context: MakeContext) -> None:
    messages, nudge = [user("Who wrote it?"), said("In ink.")], "[Continue your last message.]"
    context = make_context(agent_named("tfidf"))

    def content(*messages: dict[str, Any]) -> str:
        body = {"model": "brass-key/Ines@2.1", "messages": messages}
        response = asyncio.run(_post(context, body))
        text: str = response.json()["choices"][0]["message"]["content"]
        return text

    plain, nudged = content(*messages), content(*messages, system(nudge))
    assert plain.startswith(" ") and nudged == plain.strip()


async def _post(context: AppContext, body: dict[str, Any]) -> httpx.Response:
    async with visiting(make_app(context)) as client:
        return await client.post("/v1/chat/completions", json=body)


def test_a_system_prompt_in_the_third_person_is_about_the_user_and_the_scene(
    make_context: MakeContext, stories: dict[str, Story]
) -> None:
    prompt = "The user is Tom, a baker from Ismar, who has a brown dog called Rex. It is night, and it rains."
    asked = user("What do you know about me?")
    situation, _ = heard(make_context, system(prompt), asked)
    assert situation.persona.profile == plain_profile(make_context)
    assert situation.setting.endswith("It is night, and it rains.")
    assert situation.faced is not None and situation.faced.name == "Tom"
    assert [told.text for told in situation.faced.told] == [
        "I am Tom, a baker from Ismar, who has a brown dog called Rex"
    ]
    context = make_context(load_guarded("guarded", lambda _: [stories["demo"]]))
    body = {"model": "demo/Zita@2.3", "messages": [system(prompt), asked]}
    response = asyncio.run(_post(context, body))
    assert "Rex" in response.text, response.text


@pytest.mark.parametrize(
    ("told", "heard_as"),
    [
        ("Tom has a dog and bakes.", "I have a dog and bakes"),
        ("His dog is called Rex.", "My dog is called Rex"),
        ("The user's dog is called Rex.", "My dog is called Rex"),
        ("They have a dog called Rex.", "I have a dog called Rex"),
        ("The user keeps bees.", "I keep bees"),
    ],
)
def test_what_is_said_of_the_user_is_what_the_user_would_say(
    make_context: MakeContext, told: str, heard_as: str
) -> None:
    situation, _ = heard(make_context, system(MAIN), system(f"The user is Tom. {told}"), user("Well?"))
    assert situation.faced is not None
    assert [item.text for item in situation.faced.told] == ["I am Tom", heard_as]


def test_the_users_next_line_is_written_for_the_user(make_context: MakeContext) -> None:
    view = "[Write your next reply from the point of view of Tom, using the chat history so far as a guideline.]"
    messages = (
        system(MAIN),
        system(BAKER),
        system(NEW_CHAT),
        user("Good day."),
        said("What do you want?"),
        system(view),
    )
    situation, history = heard(make_context, *messages)
    assert situation.persona.name == "Tom" and "I have a brown dog called Rex." in situation.persona.profile
    assert situation.faced is not None and situation.faced.name == "Ines Vale"
    assert history == (Turn("Tom", "Good day."), Turn("Ines Vale", "What do you want?"))
    assert not len(situation.persona.past)


def test_it_is_written_for_somebody_of_the_story_too(make_context: MakeContext) -> None:
    main = MAIN.replace("Tom", "Tobias Rook")
    view = "[Write your next reply from the point of view of Tobias Rook.]"
    situation, history = heard(make_context, system(main), user("Hm."), said("What?"), system(view))
    assert situation.persona.name == "Tobias Rook" and len(situation.persona.past)
    assert history == (Turn("Tobias Rook", "Hm."), Turn("Ines Vale", "What?"))


def test_names_that_a_program_has_made_plain_are_recognised(make_context: MakeContext) -> None:
    main = MAIN.replace("Tom", "Tom Smith")
    named = [{**user("Good day."), "name": "Tom_Smith"}, {**said("What?"), "name": "Ines_Vale"}]
    _, history = heard(make_context, system(main), *named, user("Tom Smith: The key."))
    assert history == (Turn("Tom Smith", "Good day."), Turn("Ines Vale", "What?"), Turn("Tom Smith", "The key."))
