from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generated import NAMES, Plan, plans
from people import LEVELS, ScenePast, scene
from understudy.formats import read
from understudy.formats.cards import card_from_text, in_version, json_of
from understudy.formats.cards.export import EXCHANGES, CardScene, card_at
from understudy.formats.cards.file import read_card, write_card
from understudy.formats.cards.lore_files import book_entries
from understudy.formats.cards.reader import READER
from understudy.sources import CastEntry, Opening, Speech
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Situation, situation_at
from understudy.story.names import people_at
from understudy.story.persona import Other, Persona
from understudy.story.types import LoreEntry, Moment, Relation
from understudy.story.wording import tie_sentence

TIE = Relation("Odile", "Bastien", "friend", None, Moment((1, 1)))
FAR_TIE = Relation("Odile", "Marguerite", "enemy", None, Moment((1, 1)))
TALK = (
    scene(
        1,
        (None, "Fog."),
        ("Bastien", "Is the gate open?"),
        ("Odile", "It sticks when the water is low."),
        ("Odile", "Push."),
    ),
    scene(2, ("Odile", "You are\nlate."), ("Bastien", "The train."), (None, "A bell."), ("Odile", "Hm.")),
)
SITUATION = Situation(
    Persona(
        "Odile",
        Moment((1, 3), LEVELS),
        ("I keep the lock.", "I have a brass key."),
        {"character": ("dry", "patient"), "belongings": ("a brass key",), "hobby": ("rowing",)},
        (TIE, FAR_TIE),
        ScenePast(TALK, "Odile"),
    ),
    "at the lock",
    Other("Bastien", ("Bastien is a carter.",), (TIE,)),
)


def test_what_goes_where() -> None:
    card = card_at(SITUATION, "The Lock at Verey", version=2)
    friend, enemy = tie_sentence(TIE, "en"), tie_sentence(FAR_TIE, "en")
    assert card.version == 2
    assert card.name == "Odile"
    assert card.text("description") == "I keep the lock.\nI have a brass key.\ncharacter: dry, patient\nhobby: rowing"
    assert card.text("personality") == "dry, patient"
    assert card.text("scenario") == (
        f"Scene: at the lock.\n{{{{user}}}} is Bastien, and speaks to {{{{char}}}}.\n{friend}"
    )
    assert card.text("first_mes") == "It sticks when the water is low."
    assert card.text("mes_example") == (
        "<START>\n{{user}}: Is the gate open?\n{{char}}: It sticks when the water is low.\n{{char}}: Push.\n"
        "<START>\n{{char}}: You are late.\n{{user}}: The train.\n{{char}}: Hm."
    )
    assert card.text("creator") == "The Lock at Verey"
    assert card.extension("understudy") == {
        "story": "The Lock at Verey",
        "character": "Odile",
        "moment": "1.3",
        "language": "en",
        "version": 1,
    }
    assert [(entry["keys"], entry["content"]) for entry in card.book] == [
        (["Bastien"], f"Bastien is a carter.\n{friend}"),
        (["Marguerite"], enemy),
    ]


def test_somebody_without_a_past_introduces_themselves() -> None:
    card = card_at(Situation(Persona("千夏", profile=("高二です。",), language="ja")), "右上の丸")
    assert card.text("first_mes") == "千夏です。 高二です。"
    assert card.text("mes_example") == ""
    assert "character_book" not in card.data
    assert card.version == 3
    assert card.data["group_only_greetings"] == []


def test_only_the_last_exchanges_are_shown() -> None:
    long = [scene(n, ("Bastien", f"question {n}"), ("Odile", f"answer {n}")) for n in range(1, 200)]
    sparse = [scene(n, ("Bastien", "alone")) for n in range(200, 300)]
    persona = Persona("Odile", past=ScenePast([*long, *sparse], "Odile"))
    example = card_at(Situation(persona), "Verey").text("mes_example")
    assert [line for line in example.splitlines() if line.startswith("{{char}}")] == [
        f"{{{{char}}}}: answer {n}" for n in range(200 - EXCHANGES, 200)
    ]


@pytest.mark.parametrize("version", [2, 3])
def test_it_comes_back_from_files_whole(tmp_path: Path, version: int) -> None:
    card = card_at(SITUATION, "Verey", version)
    for name in ("odile.json", "odile.png"):
        write_card(card, tmp_path / name)
        assert json_of(read_card(tmp_path / name)) == json_of(card)
    assert json_of(in_version(card_at(SITUATION, "Verey", 2), 3)) == json_of(card_at(SITUATION, "Verey", 3))


def test_it_reads_as_a_story_again(tmp_path: Path) -> None:
    write_card(card_at(SITUATION, "Verey"), tmp_path / "odile.json")
    events = list(READER.events(SourceFile(tmp_path / "odile.json")))
    assert events[0] == Opening(title="Odile", language="en")
    (entry,) = (event for event in events if isinstance(event, CastEntry))
    assert "I have a brass key." in entry.character.profile
    said = [(event.speakers[0], event.text) for event in events if isinstance(event, Speech)]
    assert ("User", "The train.") in said
    assert ("Odile", "Hm.") in said


@given(plan=plans(), data=st.data())
def test_nothing_of_the_future_gets_in(tmp_path: Path, plan: Plan, data: st.DataObject) -> None:
    cast = NAMES[: sum(isinstance(event, CastEntry) for event in plan.events)]
    who, facing = data.draw(st.permutations(cast))[:2]
    at = data.draw(st.sampled_from(list(plan.moments())))
    situation = situation_at(plan.story(tmp_path), who, at, facing)
    text = json_of(card_at(situation, "Made Up")).decode()
    for moment, _, line, company in plan.lines:
        if moment >= at or who not in company:
            assert line not in text
    for fact in plan.facts:
        if fact.since > at:
            assert fact.values[0] not in text
    held = {tie_sentence(tie, "en") for tie in situation.persona.relations}
    for tie in plan.ties:
        if tie_sentence(tie, "en") not in held:
            assert tie_sentence(tie, "en") not in text


def test_whoever_goes_by_other_names_is_found_by_them() -> None:
    known = replace(SITUATION, acquaintances=(Other("Bastien", aliases=("Bas", "the carter")), Other("Nobody")))
    assert [entry["keys"] for entry in card_at(known, "The Lock").book] == [
        ["Bastien", "Bas", "the carter"],
        ["Marguerite"],
    ]


def test_a_description_where_the_story_gives_none() -> None:
    persona = replace(SITUATION.persona, profile=(), attributes={})
    described = card_at(Situation(persona), "The Lock").text("description")
    assert described.splitlines() == [
        "Odile is one of the people of 'The Lock'.",
        tie_sentence(TIE, "en"),
        tie_sentence(FAR_TIE, "en"),
        "Odile talks like this:",
        '"It sticks when the water is low."',
    ]
    assert card_at(Situation(Persona("Odile")), "The Lock").text("description").startswith("Odile is one of")


def test_greetings_and_lore_of_the_persona_are_in_its_card() -> None:
    entry = LoreEntry("The gate is oak.", ("gate",), order=7)
    card = card_at(
        replace(SITUATION, persona=replace(SITUATION.persona, greetings=("Hm, {{user}}.", "You?"), lore=(entry,))),
        "Lock",
    )
    assert (card.text("first_mes"), card.texts("alternate_greetings")) == ("Hm, {{user}}.", ("You?",))
    assert [item["keys"] for item in card.book] == [["Bastien"], ["Marguerite"], ["gate"]]
    assert book_entries(card.data["character_book"])[-1] == replace(entry, book="Odile 1.3 (Lock)")


def test_the_lorebooks_of_two_cards_have_two_names_that_files_can_have() -> None:
    def book_name(situation: Situation, title: str) -> str:
        return str(card_at(situation, title).data["character_book"]["name"])

    later = replace(SITUATION, persona=replace(SITUATION.persona, moment=Moment((2, 1), LEVELS)))
    other = replace(SITUATION, persona=replace(SITUATION.persona, name="Odette"))
    titles = {book_name(situation, 'Lock: "Verey"/1?') for situation in (SITUATION, later, other)}
    assert len(titles) == 3
    assert not any(mark in name for name in titles for mark in '/\\:*?"<>|')


def test_from_a_card_to_a_story_and_back_nothing_is_lost(tmp_path: Path) -> None:
    data = {
        "name": "Odile", "description": "{{char}} waits.", "personality": "dry", "scenario": "A lock.",
        "first_mes": "Hm, {{user}}.", "mes_example": "<START>\n{{user}}: Now?\n{{char}}: No.",
        "alternate_greetings": ["You?"], "group_only_greetings": ["All?"], "nickname": "Odi",
        "system_prompt": "Be {{char}}.", "post_history_instructions": "Stay.", "creator_notes": "Notes.",
        "creator_notes_multilingual": {"fr": "Notes."}, "creator": "somebody", "character_version": "7", "tags": ["a"],
        "source": ["somewhere"], "creation_date": 1, "modification_date": 2, "assets": [{"type": "icon", "uri": "x"}],
        "extensions": {"depth_prompt": {"depth": 4}}, "odd": [1],
        "character_book": {
            "name": "Book", "scan_depth": 3, "token_budget": 9, "recursive_scanning": True, "extensions": {"x": 1},
            "entries": [
                {"keys": ["gate"], "content": "{{char}}'s gate.", "extensions": {"sticky": 2}, "enabled": True,
                 "insertion_order": 1, "use_regex": False, "comment": "c"},
                {"keys": [], "content": "", "extensions": {}, "enabled": True, "insertion_order": 1,
                 "use_regex": False},
            ],
        },
    }  # fmt: skip
    document = {"spec": "chara_card_v3", "spec_version": "3.0", "data": data, "also": "odd"}
    source = tmp_path / "odile.json"
    source.write_text(json.dumps(document))
    told = read(source, tmp_path / "odile.story", lore=[LoreEntry("Fog kills.", ("fog",))])
    original = card_from_text(told.card("Odile"))
    back = card_at(situation_at(told, "Odile", "end"), told.title, original=original).document
    own = back["data"]["extensions"].pop("understudy")
    assert own["character"] == "Odile"
    added = back["data"]["character_book"]["entries"].pop()
    assert (added["keys"], added["content"]) == (["fog"], "Fog kills.")
    assert back == document
    as_v2 = card_at(situation_at(told, "Odile", "end"), told.title, 2, original).data
    assert {field: as_v2[field] for field in data if field not in ("extensions", "character_book")} == {
        field: value for field, value in data.items() if field not in ("extensions", "character_book")
    }


FRIEND = Relation("Odile", "Bastien", "friend", None, Moment((1, 1)))
ENEMY = Relation("Odile", "Marguerite", "enemy", None, Moment((1, 1)))
PAST = (
    scene(
        1,
        ("Odile", "There is a barge below the lower gate."),
        ("Marguerite", "Whose barge is it?"),
        ("Odile", "Nobody has said, Marguerite, and I have not asked."),
    ),
    scene(
        2,
        ("Odile", "You were to be here at six."),
        ("Bastien", "The road was under water."),
        ("Odile", "The road is always under water, Bas."),
        ("Marguerite", "I was here at six."),
        ("Odile", "That is so."),
        ("Bastien", "Then let us begin."),
        ("Odile", "Oh Bas, it is all done."),
        ("Odile", "Wind the gate down."),
    ),
    scene(3, (None, "The gate comes down."), ("Bastien", "Is it raining?"), ("Odile", "It has not stopped, carter.")),
)
PERSONA = Persona(
    "Odile", Moment((1, 4)), ("I keep the lock at Verey.",), {}, (FRIEND, ENEMY), ScenePast(PAST, "Odile")
)
KNOWN = (Other("Bastien", aliases=("Bas",)), Other("Marguerite"))
ALONE = Situation(PERSONA, acquaintances=KNOWN, scene=replace(PAST[-1], setting="the lower gate, at dusk"))
FACING = replace(ALONE, faced=Other("Bastien", relations=(FRIEND,), aliases=("Bas",)))


def test_the_scenario_is_a_scene() -> None:
    lines = CardScene(ALONE).scenario().splitlines()
    assert lines[0] == "Scene: after this one: the lower gate, at dusk."
    assert lines[1] == "{{char}} was there with Bastien."
    assert 'Bastien: "Is it raining?" Odile: "It has not stopped, carter."' in lines[2]
    assert lines[3] == "{{user}} speaks to {{char}}."
    assert lines[4:] == ["Bastien is my friend."], "of those who are not there the lorebook tells"


def test_a_scene_that_is_still_going_on_is_told_as_such() -> None:
    under_way = replace(ALONE, is_in_scene=True, setting="the lower gate, at dusk", present=(Other("Bastien"),))
    lines = CardScene(under_way).scenario().splitlines()
    assert lines[0] == "Scene: the lower gate, at dusk."
    assert lines[1] == "{{char}} is there with Bastien."


def test_the_scenario_says_who_the_user_is() -> None:
    assert "{{user}} is Bastien" in CardScene(FACING).scenario()
    without_scene = CardScene(replace(FACING, scene=None)).scenario()
    assert without_scene.startswith("Scene: {{user}} is Bastien"), "chat programs send it among other texts"


def test_nobody_knows_where_somebody_without_a_past_is() -> None:
    assert CardScene(Situation(Persona("Odile"))).scenario() == ""


def test_what_is_long_is_cut() -> None:
    told = scene(1, ("Bastien", "and " * 1_000))
    assert len(CardScene(replace(ALONE, scene=told)).scenario()) < 1_000


def test_the_greeting_calls_nobody() -> None:
    assert CardScene(ALONE).greetings() == (
        "There is a barge below the lower gate.",
        "I am Odile. I keep the lock at Verey.",
    )


def test_without_a_line_for_anybody_the_character_introduces_itself() -> None:
    last_scenes = replace(PERSONA, past=ScenePast(PAST[1:], "Odile"))
    assert CardScene(replace(ALONE, persona=last_scenes)).greetings() == ("I am Odile. I keep the lock at Verey.",)
    words = ("Madam, the gate is shut for the night.", "Shut the gate, my dear, and come in.", "You are too late now.")
    for text in words:
        called = replace(PERSONA, past=ScenePast([scene(1, ("Odile", text))], "Odile"))
        assert text not in CardScene(replace(ALONE, persona=called)).greetings()


def test_before_somebody_the_greeting_is_for_them() -> None:
    first, *_ = CardScene(FACING).greetings()
    assert first == "You were to be here at six."
    marguerite = CardScene(replace(ALONE, faced=Other("Marguerite"))).greetings()
    assert marguerite[0] == "There is a barge below the lower gate."
    assert not any("Bas" in text for text in marguerite)


def test_the_user_of_the_examples_is_one_person() -> None:
    assert CardScene(ALONE).examples().splitlines() == [
        "<START>",
        "{{char}}: You were to be here at six.",
        "{{user}}: The road was under water.",
        "{{char}}: The road is always under water, {{user}}.",
        "{{user}}: Then let us begin.",
        "{{char}}: Oh {{user}}, it is all done.",
        "{{char}}: Wind the gate down.",
        "<START>",
        "{{user}}: Is it raining?",
        "{{char}}: It has not stopped, carter.",
    ]


def test_before_somebody_the_examples_are_with_them_and_call_them_as_ever() -> None:
    examples = CardScene(FACING).examples()
    assert "{{char}}: The road is always under water, Bas." in examples
    with_marguerite = CardScene(replace(ALONE, faced=Other("Marguerite"))).examples()
    assert [line for line in with_marguerite.splitlines() if line.startswith("{{user}}")] == [
        "{{user}}: Whose barge is it?",
        "{{user}}: I was here at six.",
    ]


def test_before_somebody_new_the_examples_are_with_whoever_was_talked_with_most() -> None:
    with_stranger = CardScene(replace(ALONE, faced=Other("Tom", ("Tom is a sailor.",)))).examples()
    assert with_stranger == CardScene(ALONE).examples()
    assert "{{char}}: The road is always under water, {{user}}." in with_stranger


@given(plan=plans(), data=st.data())
def test_of_any_story_the_user_is_one_person_and_the_greeting_names_nobody(
    tmp_path: Path, plan: Plan, data: st.DataObject
) -> None:
    cast = NAMES[: sum(isinstance(event, CastEntry) for event in plan.events)]
    who = data.draw(st.sampled_from(cast))
    at = data.draw(st.sampled_from(list(plan.moments())))
    story = plan.story(tmp_path)
    situation = situation_at(story, who, at)
    card = CardScene(situation)
    *openings, introduction = card.greetings()
    assert introduction.startswith(f"I am {who}.")
    others = {person.name for person in people_at(story, at)} - {who}  # who is born later is nobody yet
    for text in openings:
        assert not any(other in text for other in others)
    spoken = [line.removeprefix("{{user}}: ") for line in card.examples().splitlines() if line.startswith("{{user}}")]
    speakers = {
        line.text: {line.speaker} for heard in situation.persona.past.scenes() for line in heard.lines if line.speaker
    }
    common = [speakers[text] for text in spoken if text in speakers]
    assert not common or set.intersection(*common)
