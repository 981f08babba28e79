from __future__ import annotations

import json
from pathlib import Path

import pytest

from cliruns import Document, Run
from understudy.agents.conversation import Conversation
from understudy.cli.options import load_reply_agent
from understudy.formats import read
from understudy.formats.cards.lore_files import read_lore
from understudy.story.persona import persona_at


def test_a_reply_with_its_evidence_and_candidates(document: Document, story: Path) -> None:
    said = document("chat", story, "Ines", "--say", "I am sorry about the key.")
    assert set(said) == {"reply", "evidence", "candidates", "usage"}
    assert said["reply"] == "I know a thief by his shoes. Get out."
    assert said["candidates"][0]["text"] == said["reply"]
    assert said["candidates"][0]["moment"] == "2.1.2"
    (exchange,) = [item for item in said["evidence"] if item["kind"] == "exchange"]
    assert "key" in exchange["words"]


def test_before_the_moment_she_cannot_have_said_it(document: Document, story: Path) -> None:
    early = document("chat", story, "Ines", "--at", "2.1", "--say", "I am sorry about the key.")
    said = [candidate["text"] for candidate in early["candidates"]] + [early["reply"]]
    assert not any("thief" in text for text in said)


def test_several_messages_are_one_conversation(document: Document, story: Path) -> None:
    chat = document("chat", story, "Ines", "--agent", "scripted", "--facing", "Tobias", "--say", "One", "--say", "Two")
    assert chat["reply"] == "Line 2."
    assert [(turn["speaker"], turn["text"]) for turn in chat["turns"]] == [
        ("Tobias Rook", "One"),
        ("Ines Vale", "Line 1."),
        ("Tobias Rook", "Two"),
        ("Ines Vale", "Line 2."),
    ]


def test_why_is_shown_when_asked_for(run: Run, story: Path) -> None:
    command = ("chat", story, "Ines", "--say", "I am sorry about the key.")
    assert run(*command).stdout == "I know a thief by his shoes. Get out.\n"
    assert "because of" in run(*command, "--why").stdout


def test_an_unknown_agent_names_those_there_are(run: Run, story: Path) -> None:
    failed = run("chat", story, "Ines", "--agent", "oracle", "--say", "Hello", status=1)
    assert "tfidf" in failed.stderr
    assert "scripted" in failed.stderr


def test_piped_messages_get_one_reply_a_line_and_nothing_else(run: Run, story: Path) -> None:
    piped = run("chat", story, "Ines", "--agent", "scripted", stdin="Hello\n\nAnd you?\n")
    assert piped.stdout == "Line 1.\nLine 2.\n"
    assert piped.stderr == ""


def test_piped_messages_as_one_document(document: Document, story: Path) -> None:
    assert document("chat", story, "Ines", "--agent", "scripted", stdin="Hello\nAnd you?\n")["reply"] == "Line 2."


def test_nothing_to_answer_is_usage(run: Run, story: Path) -> None:
    run("chat", story, "Ines", "--json", stdin="", status=2)


def test_moving_through_time_keeps_the_chat_but_not_the_future(run: Run, story: Path) -> None:
    typed = "I am sorry about the key.\n/at 2.1\n/undo\nI am sorry about the key.\n"
    chat = run("chat", story, "Ines", "--facing", "Tobias", stdin=typed)
    late, early = chat.stdout.splitlines()
    assert "thief" in late
    assert "thief" not in early
    assert "Ines Vale at act 2, scene 1, facing Tobias Rook." in chat.stderr


def test_what_was_said_at_a_later_moment_is_no_history_at_an_earlier_one(run: Run, story: Path) -> None:
    typed = "Hello\n/at 2.2\nAnd here?\n/at 2.1\nAnd now?\n/at 2.2\nAgain?\n"
    chat = run("chat", story, "Ines", "--at", "2.1", "--agent", "scripted", stdin=typed)
    assert chat.stdout.split("\n") == ["Line 1.", "Line 2.", "Line 2.", "Line 4.", ""]


def test_saving_keeps_who_said_what_when(run: Run, story: Path) -> None:
    moved = "Hello\n/at 2.1\n/facing Tobias\nStill there?\nNo matter\n/undo\n"
    typed = f"{moved}/save chat.jsonl\n/save chat.jsonl\n/quit\nlost\n"
    chat = run("chat", story, "Ines", "--agent", "scripted", stdin=typed)
    turns = [json.loads(line) for line in Path("chat.jsonl").read_text().splitlines()]
    assert [(turn["moment"], turn["speaker"], turn["text"]) for turn in turns] == [
        ("end", "You", "Hello"),
        ("end", "Ines Vale", "Line 1."),
        ("2.1", "Tobias Rook", "Still there?"),
        ("2.1", "Ines Vale", "Line 1."),
    ]
    assert "cannot be written" in chat.stderr  # the second time: what was saved is not written over
    assert "lost" not in chat.output


def test_a_mistake_in_a_command_does_not_end_the_chat(run: Run, story: Path) -> None:
    typed = "/at 9.9\n/at\n/facing Hugo\n/facing\n/save\n/dance\n/undo\n/why\n/help\nHello\n"
    chat = run("chat", story, "Ines", "--agent", "scripted", stdin=typed)
    assert chat.stdout == "Line 1.\n"
    for note in (
        "after the story's last line",
        "/at 2.3",
        "'Hugo'",
        "There is no /dance",
        "nothing to take back",
        "/quit",
    ):
        assert note in chat.stderr


def test_a_file_that_can_have_no_such_name_does_not_end_the_chat(run: Run, story: Path) -> None:
    chat = run(
        "chat", story, "Ines", "--agent", "scripted", stdin="Hello\n/save a\0b\n/save ~nobody-at-all/x\nAnd you?\n"
    )
    assert chat.stdout == "Line 1.\nLine 2.\n"
    assert "choose another" in chat.stderr


def test_a_message_that_is_no_text_can_be_saved(run: Run, story: Path) -> None:
    run("chat", story, "Ines", "--agent", "scripted", "--say", "caf\udce9")
    conversation = Conversation(read(story), load_reply_agent("scripted"), "Ines", "end")
    conversation.say("caf\udce9")
    assert conversation.save(Path("chat.jsonl")) == 2
    first, _ = Path("chat.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(first)["text"] == "caf\udce9"


def test_a_rule_keeps_replies_back(run: Run, document: Document, telltale: str) -> None:
    chat = ("chat", "demo", "Zita", "--agent", telltale, "--say", "Who is he?")
    rule = ("--rule", "anachronism<=0")
    assert run(*chat, "--at", "2.3").stdout == "His name is Danilo Reuss.\n"
    kept_back = document(*chat, "--at", "2.3", *rule)
    assert kept_back["reply"] == "I count what I carry." and "Reuss" not in str(kept_back)
    assert kept_back["evidence"] == [
        {"kind": "notice", "text": "1 of 2 replies were kept back by the rules", "moment": None, "words": []}
    ]
    assert run(*chat, *rule).stdout == "His name is Danilo Reuss.\n"  # at the end nothing is still to come


def test_a_rule_that_cannot_be_is_an_error_before_anything_is_said(run: Run, story: Path) -> None:
    chat = ("chat", story, "Ines", "--agent", "scripted", "--say", "Hello", "--rule")
    assert "did you mean 'anachronism'" in run(*chat, "anachronisms<=0", status=1).stderr
    assert "is not a rule" in run(*chat, "anachronism", status=1).stderr


CARD = {
    "spec": "chara_card_v2",
    "spec_version": "2.0",
    "data": {
        "name": "Mira",
        "description": "A pilot.",
        "first_mes": "Well, {{user}}?\nSpeak.",
        "alternate_greetings": ["{{char}} nods."],
        "mes_example": "<START>\n{{user}}: Is there fog?\n{{char}}: Always.",
        "character_book": {"entries": [{"keys": ["gate"], "content": "The gate is oak."}]},
    },
}
LORE = {"entries": {"0": {"key": ["fog"], "content": "Fog kills."}}}


@pytest.fixture
def card(tmp_path: Path) -> Path:
    path = tmp_path / "mira.json"
    path.write_text(json.dumps(CARD))
    return path


def test_a_greeting_of_the_card_opens_the_talk_where_it_is_asked_for(run: Run, document: Document, card: Path) -> None:
    asked = ("chat", card, "Mira", "--agent", "scripted", "--say", "Hello")
    assert run(*asked).stdout == "Line 1.\n"
    assert run(*asked, "--greeting", "1").stdout == "Well? Speak.\nLine 2.\n"  # the agent sees that it has spoken
    assert run(*asked, "--greeting", "2").stdout == "Mira nods.\nLine 2.\n"
    assert run(*asked, "--greeting", "0").stdout == "Line 1.\n"
    assert "choose from 1 to 2" in run(*asked, "--greeting", "3", status=1).stderr
    assert "turns" not in document(*asked)
    assert [turn["text"] for turn in document(*asked, "--greeting", "2")["turns"]] == ["Mira nods.", "Hello", "Line 2."]


def test_without_a_card_there_is_no_greeting(run: Run, story: Path) -> None:
    failed = run("chat", story, "Ines", "--greeting", "1", "--say", "Hello", status=1)
    assert "has no card with greetings" in failed.stderr


def test_another_greeting_can_be_chosen_until_something_was_said(run: Run, card: Path) -> None:
    typed = "/greeting\n/greeting 2\n/greeting x\nHello\n/greeting 1\n/undo\n/greeting 1\n"
    talk = run("chat", card, "Mira", "--agent", "scripted", stdin=typed)
    assert talk.stdout == "Mira nods.\nLine 2.\nWell? Speak.\n"
    assert "1  Well? Speak.\n2  Mira nods." in talk.stderr
    assert "by its number" in talk.stderr
    assert "the talk has begun" in talk.stderr


def test_the_greeting_knows_whom_it_greets(card: Path) -> None:
    conversation = Conversation(read(card), load_reply_agent("scripted"), "Mira", "end", "User")
    conversation.open(1)
    assert conversation.greeting is not None
    assert conversation.greeting.text == "Well, User?\nSpeak."
    conversation.say("Hello")
    assert [turn["text"] for turn in conversation.turns()] == ["Well, User?\nSpeak.", "Hello", "Line 2."]


def test_a_key_that_cannot_be_a_pattern_is_told(run: Run, card: Path) -> None:
    keys = ["/(?<!sea )fog/i", *(f"/{number}(f)o\\1/" for number in range(7))]
    entries = {"0": {"key": keys, "content": "Fog kills."}, "1": {"key": ["/fog+/"], "content": "Fog is grey."}}
    Path("fog.json").write_text(json.dumps({"entries": entries}))
    chatting = run("chat", card, "Mira", "--agent", "scripted", "--lore", "fog.json", "--say", "Fog?")
    reading = run("read", card, "--lore", "fog.json", "-o", "mira.story")
    for told in (chatting.stderr, reading.stderr):
        assert "/(?<!sea )fog/i is taken as a plain text: looking ahead or behind" in told
        assert "3 more" in told and "fog+" not in told


def test_a_lorebook_is_added_to_what_a_talk_may_bring_up(run: Run, card: Path) -> None:
    Path("fog.json").write_text(json.dumps(LORE))
    conversation = Conversation(
        read(card), load_reply_agent("scripted"), "Mira", "end", lore=read_lore(Path("fog.json"))
    )
    assert [entry.content for entry in conversation.situation.persona.lore] == ["The gate is oak.", "Fog kills."]
    run("read", card, "--lore", "fog.json", "-o", "mira.story")
    told = read("mira.story")
    assert [entry.content for entry in persona_at(told, "Mira", "end").lore] == ["The gate is oak.", "Fog kills."]
    assert [entry.content for entry in persona_at(told, "User", "end").lore] == ["Fog kills."]
    assert run("chat", card, "Mira", "--agent", "scripted", "--lore", "fog.json", "--say", "Fog?").stdout == "Line 1.\n"
    Path("none.json").write_text("{}")
    assert "holds no lorebook" in run("chat", card, "Mira", "--lore", "none.json", "--say", "x", status=1).stderr


@pytest.mark.parametrize("agent", ["encoder", "tfidf"])
def test_a_greeting_answers_nothing(document: Document, card: Path, agent: str) -> None:
    asked = ("chat", card, "Mira", "--agent", agent, "--greeting", "1", "--facing", "Tom: a sailor")
    for message in ("Well? Speak.", "Nods?", "Is there fog?"):
        assert "Speak" not in document(*asked, "--say", message)["reply"]
