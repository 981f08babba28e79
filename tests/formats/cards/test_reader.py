"""A card read as a tiny story: who, where, what is said, and every field accounted for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import recognises
from understudy.errors import InputError, StoryError
from understudy.formats import read
from understudy.formats.assembly import Assembly
from understudy.formats.cards import (
    CardNames,
    card_of,
    conversations,
    greeting_number,
    greetings_for,
    sentences,
)
from understudy.formats.cards.file import png_of
from understudy.formats.cards.reader import NO_TEXT, NOT_STORY, READER
from understudy.sources import CastEntry, Description, Event, Opening, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Situation, situation_at
from understudy.story.persona import Other, persona_at
from understudy.story.storyfile import Story, StoryWriter

CARD: dict[str, Any] = {
    "spec": "chara_card_v3",
    "spec_version": "3.0",
    "data": {
        "name": "Odile Marchetti",
        "nickname": "Odi",
        "description": "{{char}} keeps the lock at Verey. She owns {{user}}'s old boat.\n\n- Hates fog\n---",
        "personality": "Dry and patient.",
        "scenario": "{{user}} waits at the lock with {{char}}.",
        "first_mes": "*{{char}} looks up.*\n\nThe gate sticks, {{user}}.",
        "alternate_greetings": ["You again.", "", "{{// nothing}}"],
        "group_only_greetings": ["All aboard."],
        "mes_example": (
            "<START>\nThe water is low.\n{{user}}: When do we leave?\n{{char}}: When it rises.\nNot before.\n"
            "<START>\nYou: Now?\nOdile: No: wait.\nLevel: two feet"
        ),
        "creator_notes": "For patient people.",
        "system_prompt": "",
        "tags": ["canal"],
        "creator": None,
        "creation_date": 0,
        "extensions": {"elsewhere/voice": {"pitch": 2}},
        "character_book": {
            "name": "Verey",
            "extensions": {},
            "entries": [{"keys": ["gate"], "content": "depth 2\nThe gate is oak."}, {"keys": ["fog"]}],
        },
    },
}


def opened(tmp_path: Path, document: object, name: str = "odile.json") -> SourceFile:
    path = tmp_path / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return SourceFile(path)


def of_kind(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def accounted(events: list[Event]) -> int:
    return sum(event.units for event in events if not isinstance(event, Opening))


def story(source: SourceFile) -> Story:
    with StoryWriter(None) as writer:
        assembly = Assembly(writer)
        assembly.add_file(source, READER.name, READER.events(source))
        assembly.finish("untitled")
        return Story(writer.address)


def test_the_character(tmp_path: Path) -> None:
    events = list(READER.events(opened(tmp_path, CARD)))
    assert events[0] == Opening(("scene", "line"), "Odile Marchetti", "en")
    (entry,) = of_kind(events, CastEntry)
    assert entry.character.name == "Odile Marchetti"
    assert entry.character.aliases == ("Odi",)
    assert entry.character.profile == (
        "Odi keeps the lock at Verey.",
        "She owns your old boat.",
        "Hates fog",
        "Dry and patient.",
    )
    assert entry.units == 4


def test_the_scenes(tmp_path: Path) -> None:
    events = list(READER.events(opened(tmp_path, CARD)))
    scenes = of_kind(events, SceneStart)
    assert [scene.setting for scene in scenes] == ["You waits at the lock with Odi."] * 5
    assert [scene.units for scene in scenes] == [1, 0, 0, 0, 0]
    assert [(*speech.speakers, speech.text) for speech in of_kind(events, Speech)] == [
        ("Odile Marchetti", "*Odi looks up.* The gate sticks."),
        ("Odile Marchetti", "You again."),
        ("Odile Marchetti", "All aboard."),
        ("User", "When do we leave?"),
        ("Odile Marchetti", "When it rises. Not before."),
        ("User", "Now?"),
        ("Odile Marchetti", "No: wait. Level: two feet"),
    ]
    assert [description.text for description in of_kind(events, Description)] == ["The water is low."]


def test_the_rest_is_listed(tmp_path: Path) -> None:
    source = opened(tmp_path, CARD)
    events = list(READER.events(source))
    unread = of_kind(events, Unread)
    assert [one.text.split(":")[0] for one in unread] == [
        "creator_notes", "tags", "creation_date", "extensions", "character_book entry 2",
    ]  # fmt: skip
    assert {one.reason for one in unread} == {NOT_STORY}
    assert unread[0].text == "creator_notes: For patient people."
    assert source.units == accounted(events) == 16


def test_it_becomes_a_story(tmp_path: Path) -> None:
    told = story(opened(tmp_path, CARD))
    assert told.title == "Odile Marchetti"
    assert {member.character.name: member.lines for member in told.cast()} == {"Odile Marchetti": 5, "User": 2}
    assert told.character("Odi").name == "Odile Marchetti"
    (counts,) = told.files()
    assert counts.units == counts.lines + counts.descriptions + counts.headings + counts.unread == 16


def test_a_png_reads_like_its_json(tmp_path: Path) -> None:
    (tmp_path / "odile.png").write_bytes(png_of(card_of(CARD)))
    png = SourceFile(tmp_path / "odile.png")
    assert recognises(READER, png.head(), png.path)
    from_png, from_json = list(READER.events(png)), list(READER.events(opened(tmp_path, CARD)))
    assert [type(event) for event in from_png] == [type(event) for event in from_json]
    assert of_kind(from_png, CastEntry)[0].character == of_kind(from_json, CastEntry)[0].character


def test_a_v1_card(tmp_path: Path) -> None:
    flat = {"name": "Odile", "description": "She waits.", "first_mes": "Well?", "mes_example": "", "avatar": "none"}
    source = opened(tmp_path, flat)
    assert recognises(READER, source.head(), source.path)
    events = list(READER.events(source))
    assert of_kind(events, Speech)[0].text == "Well?"
    assert [one.text for one in of_kind(events, Unread)] == ["avatar: none"]
    assert source.units == accounted(events) == 4


def test_a_scenario_without_words_is_a_scene_still(tmp_path: Path) -> None:
    document = {"spec": "chara_card_v2", "data": {"name": "Odile", "scenario": "A lock.", "description": 5}}
    source = opened(tmp_path, document)
    events = list(READER.events(source))
    assert [scene.setting for scene in of_kind(events, SceneStart)] == ["A lock."]
    assert [(one.text, one.reason) for one in of_kind(events, Unread)] == [("description: 5", NO_TEXT)]
    assert source.units == accounted(events) == 3


def test_a_greeting_that_is_no_text_is_listed(tmp_path: Path) -> None:
    source = opened(
        tmp_path, {"spec": "chara_card_v2", "data": {"name": "Odile", "alternate_greetings": ["Hm.", {"a": 1}]}}
    )
    events = list(READER.events(source))
    assert [one.text for one in of_kind(events, Unread)] == ['alternate_greetings: {"a": 1}']
    assert source.units == accounted(events) == 2


def test_a_card_without_a_name_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"odile\.json: the card has no name"):
        list(READER.events(opened(tmp_path, {"spec": "chara_card_v2", "data": {"name": " "}})))


@pytest.mark.parametrize(
    ("content", "is_card"),
    [
        (b'{"spec": "chara_card_v2", "data": {}}', True),
        (b'\xef\xbb\xbf {"name": "x", "first_mes": "y"}', True),
        (b'{"speaker": "Odile", "text": "hello"}', False),
        (b"ODILE: hello", False),
        (b'{"spec": "lorebook_v3", "data": {}}', False),
        (b"", False),
    ],
)
def test_what_is_recognised(content: bytes, is_card: bool) -> None:
    assert recognises(READER, content, Path("any")) == is_card


fields = st.dictionaries(
    st.sampled_from([*CARD["data"], "assets", "unheard of"]),
    st.text(max_size=30)
    | st.lists(st.text(max_size=10), max_size=3)
    | st.integers()
    | st.just({"entries": [{}, 1, "x"]}),
)


@given(data=fields, name=st.text(min_size=1).filter(lambda name: name.strip() != ""))
def test_whatever_the_fields_hold_all_are_accounted_for(tmp_path: Path, data: dict[str, Any], name: str) -> None:
    source = opened(tmp_path, {"spec": "chara_card_v3", "data": {**data, "name": name}})
    events = list(READER.events(source))
    assert accounted(events) == source.units
    assert all(speech.text for speech in of_kind(events, Speech))


@given(text=st.text(alphabet=st.characters(codec=None, categories=("L", "Cs", "P")), min_size=1))
def test_half_characters_do_not_reach_the_story(tmp_path: Path, text: str) -> None:
    data = {
        **dict.fromkeys(("nickname", "description", "scenario", "first_mes", "mes_example"), text),
        f"x{text}": text,
    }
    source = opened(tmp_path, {"spec": "chara_card_v2", "data": {"name": f"O{text}", **data}})
    for event in READER.events(source):
        strings = [getattr(event, name, "") for name in ("text", "title", "setting")]
        if isinstance(event, CastEntry):
            strings += [event.character.name, *event.character.aliases, *event.character.profile]
        if isinstance(event, Speech):
            strings += event.speakers
        "".join(filter(None, strings)).encode()


def test_sentences() -> None:
    assert sentences("Dr. Vane met J. R. Tam. “Late?” He was not! 3 days passed… Then rain") == (
        "Dr. Vane met J. R. Tam.",
        "“Late?”",
        "He was not!",
        "3 days passed…",
        "Then rain",
    )
    assert sentences("「行く。」と言った。島は遠い！本当に？") == ("「行く。」と言った。", "島は遠い！", "本当に？")
    assert sentences("* one\n2) two. three\n\n***\n") == ("one", "two.", "three")


def test_macros() -> None:
    names = CardNames("Odile", "Odi")
    assert names.filled("{{CHAR}} and <BOT> see {{ user }}. <user> nods.") == "Odi and Odi see you. You nods."
    assert names.filled("{{user}}'s boat; {{user}}’s oar") == "Your boat; your oar"
    assert (
        names.filled(r"{{random:a\, b,c}} {{pick::d::e}}{{// hush}}{{comment: no}} {{roll:6}}") == "a, b d {{roll:6}}"
    )
    assert CardNames("千夏", "千夏", "ja").filled("{{char}}は{{user}}の弟子") == "千夏はあなたの弟子"


@pytest.mark.parametrize(
    "examples",
    [
        "<START>\n{{user}}: Now? {{char}}: No: wait.\nNot yet. <START>{{user}}: Well? {{char}}: Well.",
        "<START>\n**{{user}}:** Now?\n**{{char}}:** No: wait.\nNot yet.\n<START>\n*You*: Well?\n_Odi_: Well.",
        '<start>\n"{{user}}": Now?\n"{{char}}": No: wait. Not yet.\n\n<start>\nAnon: Well?\nOdile: Well.',
        "{{random_user_1}}: Now?\n<BOT> : No: wait.\n    Not yet.\n<START>\n<USER>: Well?\n<BOT>: Well.",
    ],
)
def test_both_sides_of_example_talk_are_told_apart(examples: str) -> None:
    blocks = list(conversations(examples, CardNames("Odile Marchetti", "Odi")))
    first = [("User", "Now?"), ("Odile Marchetti", "No: wait. Not yet.")]
    assert blocks == [first, [("User", "Well?"), ("Odile Marchetti", "Well.")]]


def test_a_macro_within_a_sentence_begins_no_turn() -> None:
    (turns,) = conversations("{{char}}: I said to {{user}}: wait. Then I went.", CardNames("Odile", "Odi"))
    assert turns == [("Odile", "I said to you: wait. Then I went.")]


def test_attributes_of_a_card_become_sentences_of_the_character(tmp_path: Path) -> None:
    described = (
        '[Character("Odi") { Personality("Dry" + "Patient") Age("50") Dislikes("fog") '
        'Relationship("{{user}}\'s aunt") }]'
        "\nShe keeps the lock.\n<START>\n{{user}}: Your boat?\n{{char}}: Sunk."
    )
    data = {**CARD["data"], "description": described, "personality": "[Odile: patient, deaf]", "mes_example": ""}
    events = list(READER.events(source := opened(tmp_path, {**CARD, "data": data})))
    (entry,) = of_kind(events, CastEntry)
    assert entry.character.profile == (
        "People would say I am dry, patient and deaf.",
        "I am 50.",
        "I do not like fog.",
        "My relationship: your aunt.",
        "She keeps the lock.",
    )
    assert ("User", "Your boat?") in [(*speech.speakers, speech.text) for speech in of_kind(events, Speech)]
    assert source.units == accounted(events)
    facing = situation_at(read(source.path), "Odile", "end", "User")
    assert "My relationship: User's aunt." in facing.persona.profile


@pytest.mark.parametrize(
    ("personality", "told"),
    [
        ("dry, patient and deaf", "People would say I am dry, patient and deaf."),
        ("Dry and patient.", "Dry and patient."),
        ("Dry. Patient, too.", "Dry."),
        ("She is dry, patient", "She is dry, patient"),
        ("Odile waits, always", "Odile waits, always"),
    ],
)
def test_a_personality_that_is_a_list_of_adjectives(tmp_path: Path, personality: str, told: str) -> None:
    document = {"spec": "chara_card_v2", "data": {"name": "Odile", "personality": personality}}
    (entry,) = of_kind(list(READER.events(opened(tmp_path, document))), CastEntry)
    assert entry.character.profile[0] == told


def test_a_description_that_is_all_talk_is_a_scene(tmp_path: Path) -> None:
    data = {"name": "Odile", "description": "<START>\n{{user}}: Your boat?\n{{char}}: Sunk."}
    source = opened(tmp_path, {"spec": "chara_card_v2", "data": data})
    events = list(READER.events(source))
    assert of_kind(events, CastEntry)[0].character.profile == ()
    assert [speech.text for speech in of_kind(events, Speech)] == ["Your boat?", "Sunk."]
    assert source.units == accounted(events) == 2


def test_hostile_prose_takes_no_time() -> None:
    names = CardNames("Odile", "Odi")
    for text in ("{{random:" + "\\," * 200_000, "{{//" * 100_000, "x" + " " * 500_000, "." * 500_000, "'" * 500_000):
        names.filled(text)
        sentences(text)
        list(conversations(text, names))


def test_greetings_lore_card_and_picture_are_kept_in_the_story(tmp_path: Path) -> None:
    picture = png_of(card_of(CARD))
    (tmp_path / "odile.png").write_bytes(picture)
    told = story(SourceFile(tmp_path / "odile.png"))
    persona = persona_at(told, "Odi", "end")
    assert persona.greetings == ("*Odi looks up.*\n\nThe gate sticks, {{user}}.", "You again.")
    (entry,) = persona.lore
    assert (entry.keys, entry.content, entry.book) == (("gate",), "depth 2\nThe gate is oak.", "Verey")
    assert persona_at(told, "User", "end").lore == ()
    assert json.loads(told.card("Odile Marchetti") or "") == CARD
    kept = told.picture("Odile Marchetti")
    assert kept is not None
    assert kept.startswith(b"\x89PNG")
    assert b"ccv3" not in kept
    assert png_of(card_of(CARD), kept) == picture
    facing = Situation(persona, faced=Other("Tom"))
    assert greetings_for(facing)[0].endswith("The gate sticks, Tom.")
    assert greetings_for(Situation(persona))[0].endswith("The gate sticks.")
    assert greeting_number(facing, 2) == "You again."
    with pytest.raises(StoryError, match="choose from 1 to 2"):
        greeting_number(facing, 3)


def test_a_story_of_cards_alone_tells_of_no_time(tmp_path: Path) -> None:
    opened(tmp_path, CARD)
    assert read(tmp_path / "odile.json").is_of_cards
    (tmp_path / "lock.txt").write_text("ODILE: Push.\nBASTIEN: I am pushing.\n" * 4, encoding="utf-8")
    assert not read(tmp_path).is_of_cards


def test_a_key_that_cannot_be_a_pattern_is_told_where_the_card_is_read(tmp_path: Path) -> None:
    entry = {"keys": ["/(?<=old )gate/i", "/gates?/"], "content": "The gate is oak.", "name": "gate", "enabled": True}
    document = {**CARD, "data": {**CARD["data"], "character_book": {"entries": [entry]}}}
    (tmp_path / "odile.json").write_text(json.dumps(document))
    told = story(SourceFile(tmp_path / "odile.json"))
    (unread,) = [item for item in told.unread() if "pattern" in item.reason]
    assert "/(?<=old )gate/i" in unread.text and "gate" in unread.text
    assert "plain text" in unread.reason and "looking ahead or behind" in unread.reason
    (kept,) = persona_at(told, "Odi", "end").lore
    assert kept.keys == ("/(?<=old )gate/i", "/gates?/")


def test_whoever_it_talks_with_is_named_in_profile_and_setting(tmp_path: Path) -> None:
    path = tmp_path / "odile.json"
    path.write_text(json.dumps(CARD), encoding="utf-8")
    told = read(path)
    facing = situation_at(told, "Odile", "end", "User")
    assert facing.persona.profile[:2] == ("Odi keeps the lock at Verey.", "She owns User's old boat.")
    assert facing.setting == "User waits at the lock with Odi."
    alone = situation_at(told, "Odile", "end")
    assert alone.persona.profile[1] == "She owns your old boat."
    assert alone.setting == "You waits at the lock with Odi."
