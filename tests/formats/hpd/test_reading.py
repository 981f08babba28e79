from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from realdata import folder
from understudy.errors import InputError
from understudy.formats.hpd import READER, dialogue_examples, examples
from understudy.sources import (
    CastEntry,
    Description,
    FactEntry,
    Heading,
    RelationEntry,
    SceneStart,
    Speech,
    Unread,
)
from understudy.sources.source import SourceFile
from understudy.story.types import Fact, Relation

KINDS = ("friend", "teacher", "immediate family", "colleague")


def row(name: str, own: tuple[Any, Any], theirs: tuple[Any, Any], **kinds: float) -> dict[str, Any]:
    return {
        "name": name,
        **{kind: kinds.get(kind.replace(" ", "_"), 0.0) for kind in KINDS},
        "Wren's affection to him": own[0],
        "Wren's familiarity with him": own[1],
        "His affection to Wren": theirs[0],
        "His familiarity with Wren": theirs[1],
    }


def session(position: str, *lines: str, **more: Any) -> dict[str, Any]:
    return {
        "position": position,
        "speakers": ["Wren", "Moss"],
        "scene": "Wren asks for the key.",
        "dialogue": list(lines),
        "positive_response": "I'll bring it back.",
        "negative_response": ["What key?", "It rained."],
        "attributes": {"Wren": {"name": "Wren", "age": "9", "hobbies": "Kites, knots", "spells": ""}},
        "relations with Wren": {"Moss": row("Moss Fell", (2.0, 3.0), ("", None), teacher=1.0)},
        **more,
    }


LATER = session(
    "Book2-chapter1",
    "Moss: You again.",
    attributes={
        "Wren": {"name": "Wren", "age": "10", "hobbies": "None", "belongings": "a kite, the brass key"},
        "Moss ": {"name": "Moss Fell", "age": "Adult"},
    },
    **{"relations with Wren": {"Moss": row("Moss Fell", (4.0, 3.0), (1.0, 2.0), friend=1.0)}},
)
SESSIONS = {
    "Session-9": LATER,
    "Session-2": session("Book1-chapter3", "Wren: May I?", "Moss: Ask properly.", "Moss:", "The clock strikes."),
}


def as_json(sessions: Mapping[str, Any]) -> bytes:
    return json.dumps(sessions, indent=1, ensure_ascii=False).encode()


def test_sessions_become_scenes_in_the_order_of_the_books() -> None:
    events = read_bytes(READER, as_json(SESSIONS))
    assert [heading.numbers for heading in of_kind(events, Heading)] == [(1, 3), (2, 1)]
    assert [(speech.speakers, speech.text) for speech in of_kind(events, Speech)] == [
        (("Wren",), "May I?"),
        (("Moss",), "Ask properly."),
        (("Moss",), "You again."),
    ]
    assert [one.text for one in of_kind(events, Description)] == ["The clock strikes."]
    first = of_kind(events, SceneStart)[0]
    assert first.setting == "Wren asks for the key."
    assert "Wren" in first.present


def test_who_is_asked_is_present_even_if_silent() -> None:
    events = read_bytes(READER, as_json({"S": session("Book1-chapter1", "Moss: So?", speakers=["Moss"])}))
    assert of_kind(events, SceneStart)[0].present == ("Moss", "Wren")


def test_what_is_not_said_is_listed_with_a_reason() -> None:
    unread = of_kind(read_bytes(READER, as_json(SESSIONS)), Unread)
    assert [(one.units, one.reason.split(":")[0]) for one in unread] == [
        (1, "a label with nothing said"),
        (3, "replies to choose from"),
        (3, "replies to choose from"),
    ]


def facts(content: bytes) -> list[Fact]:
    return [trait.fact for trait in of_kind(read_bytes(READER, content), FactEntry)]


def ties(content: bytes) -> list[Relation]:
    return [tie.relation for tie in of_kind(read_bytes(READER, content), RelationEntry)]


def test_attributes_are_dated_where_they_change_and_end() -> None:
    told = {
        (fact.attribute, fact.values, fact.since.dotted, fact.until.dotted if fact.until else None)
        for fact in facts(as_json(SESSIONS))
        if fact.who == "Wren"
    }
    assert told == {
        ("age", ("9",), "1.3", "2.1"),
        ("age", ("10",), "2.1", None),
        ("hobbies", ("Kites, knots",), "1.3", "2.1"),
        ("belongings", ("a kite", "the brass key"), "2.1", None),
    }


def test_levels_go_both_ways_and_blank_is_zero() -> None:
    told = {
        (tie.of, tie.to, tie.kind, tie.level, tie.since.dotted)
        for tie in ties(as_json(SESSIONS))
        if tie.level is not None
    }
    assert told == {
        ("Wren", "Moss", "affection", 2, "1.3"),
        ("Wren", "Moss", "familiarity", 3, "1.3"),
        ("Moss", "Wren", "affection", 0, "1.3"),
        ("Moss", "Wren", "familiarity", 0, "1.3"),
        ("Wren", "Moss", "affection", 4, "2.1"),
        ("Moss", "Wren", "affection", 1, "2.1"),
        ("Moss", "Wren", "familiarity", 2, "2.1"),
    }


def test_kinds_hold_both_ways_but_a_teacher_is_one_only_to_the_pupil() -> None:
    told = {
        (tie.of, tie.to, tie.kind, tie.since.dotted, tie.until and tie.until.dotted)
        for tie in ties(as_json(SESSIONS))
        if tie.level is None
    }
    assert told == {
        ("Wren", "Moss", "teacher", "1.3", "2.1"),
        ("Wren", "Moss", "friend", "2.1", None),
        ("Moss", "Wren", "friend", "2.1", None),
    }


def test_a_list_is_several_values_and_secrets_and_sentences_are_facts_of_their_own(tmp_path: Path) -> None:
    own = {"secret": ["a map, torn", "a debt"], "profile": ["I row.", "I sing."], "motto": ["So, be it"]}
    path = tmp_path / "test.json"
    path.write_bytes(as_json({"a": session("Book1-chapter1", "Moss: So?", attributes={"Wren": own})}))
    assert {(fact.attribute, fact.values, fact.known_to) for fact in facts(path.read_bytes())} == {
        ("secret", ("a map, torn",), ()),
        ("secret", ("a debt",), ()),
        ("profile", ("I row.",), None),
        ("profile", ("I sing.",), None),
        ("motto", ("So, be it",), None),
    }
    (example,) = examples(SourceFile(path))
    persona = example.situation.persona
    assert persona.attributes == {"secret": ("a map, torn", "a debt"), "motto": ("So, be it",)}
    assert {"I row.", "I sing."} < set(persona.profile)


def test_a_parent_is_no_child() -> None:
    related = {"Moss": {"name": "Moss Fell", "parent": 1.0, "sibling": 0.0}}
    told = ties(as_json({"a": session("Book1-chapter1", "Moss: So?", **{"relations with Wren": related})}))
    assert [(tie.of, tie.to, tie.kind) for tie in told] == [("Wren", "Moss", "parent")]


def test_a_change_within_a_chapter_is_dated_by_its_scene() -> None:
    changed = {**LATER, "attributes": {"Wren": {"age": "11"}}}
    told = [
        (fact.values, fact.since.dotted)
        for fact in facts(as_json({"a": LATER, "b": changed}))
        if fact.attribute == "age"
    ]
    assert (("10",), "2.1") in told
    assert (("11",), "2.1.2") in told


def test_full_names_are_aliases_unless_two_people_share_one() -> None:
    people = {"Moss": {"name": "Moss Fell"}, "Mr. Reed": {"name": "Reed"}, "Mrs. Reed": {"name": "Reed"}}
    events = read_bytes(READER, as_json({"a": session("Book1-chapter1", "Moss: So.", attributes=people)}))
    assert {(entry.character.name, entry.character.aliases) for entry in of_kind(events, CastEntry)} == {
        ("Moss", ("Moss Fell",)),
        ("Mr. Reed", ()),
        ("Mrs. Reed", ()),
    }


def test_an_example_is_put_to_the_owner_of_the_relations(tmp_path: Path) -> None:
    path = tmp_path / "test.json"
    path.write_bytes(as_json(SESSIONS))
    later, earlier = examples(SourceFile(path))
    assert (later.name, earlier.name) == ("Session-9", "Session-2")
    assert later.candidates == ("I'll bring it back.", "What key?", "It rained.")
    assert later.gold == {0}
    assert later.situation.setting == "Wren asks for the key."
    persona = later.situation.persona
    assert (persona.name, persona.moment.dotted) == ("Wren", "2.1")
    assert persona.attributes == {"age": ("10",), "belongings": ("a kite", "the brass key")}
    assert any("brass key" in sentence for sentence in persona.profile)
    faced = later.situation.faced
    assert faced is not None
    assert faced.name == "Moss"
    assert any("Adult" in sentence for sentence in faced.profile)
    assert {(tie.kind, tie.level) for tie in faced.relations} == {
        ("affection", 4),
        ("familiarity", 3),
        ("friend", None),
    }
    assert [(turn.speaker, turn.text) for turn in earlier.history] == [("Wren", "May I?"), ("Moss", "Ask properly.")]


def test_every_line_of_the_owner_is_a_question_of_the_dialogue(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    lines = ("Wren: Good day.", "Moss: You again.", "(A pause.)", "Wren: The key, please.", "Moss: No.", "Wren: Why?")
    talk = session("Book1-chapter2", *lines)
    del talk["positive_response"], talk["negative_response"]
    path.write_text(json.dumps({"Session-1": talk}))
    asked = list(dialogue_examples(SourceFile(path)))
    assert [example.candidates for example in asked] == [("The key, please.",), ("Why?",)]
    assert [turn.text for turn in asked[1].history] == ["Good day.", "You again.", "The key, please.", "No."]
    assert asked[0].situation.faced is not None and asked[0].situation.faced.name == "Moss"
    assert asked[0].situation.persona.relations and asked[0].gold == frozenset({0})
    assert [example.name for example in asked] == ["Session-1.2", "Session-1.4"]


def test_a_file_without_questions_says_so(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    train = {key: value for key, value in LATER.items() if not key.endswith("_response")}
    path.write_bytes(as_json({"a": train}))
    assert of_kind(events_of(READER, path), Unread) == []
    with pytest.raises(InputError, match="positive_response"):
        list(examples(SourceFile(path)))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"position": "chapter two"}, "should look like"),
        ({"dialogue": "Wren: Hello."}, "should be a list"),
        ({"dialogue": ["Wren: Hello.", 3]}, "should be a text"),
        ({"attributes": {"Wren": []}}, "should have an object"),
        ({"relations with Wren": {"Moss": row("Moss", (11, 0), (0, 0))}}, "from -10 to 10"),
        ({"relations with Wren": {"Moss": row("Moss", (2.5, 0), (0, 0))}}, "whole number"),
        ({"relations with Wren": {"Moss": row("Moss", ("much", 0), (0, 0))}}, "number or blank"),
    ],
)
def test_a_session_that_is_wrong_is_an_error_with_its_line(change: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word) as raised:
        read_bytes(READER, as_json({"Session-1": {**LATER, **change}}))
    assert raised.value.line == 2


PLACES = st.builds("Book{}-chapter{}".format, st.integers(1, 3), st.integers(1, 3))
LINES = st.lists(st.text(alphabet="Wren: .\n", max_size=10), max_size=4)


@given(st.lists(st.tuples(PLACES, LINES, st.text(max_size=4), st.lists(st.text(max_size=4), max_size=3)), max_size=5))
def test_every_unit_is_accounted_for(sessions: list[tuple[str, list[str], str, list[str]]]) -> None:
    content = {
        f"Session-{number}": session(place, *lines, scene=scene, negative_response=negatives)
        for number, (place, lines, scene, negatives) in enumerate(sessions)
    }
    events = read_bytes(READER, as_json(content))
    places = [heading.numbers or () for heading in of_kind(events, Heading)]
    assert places == sorted(set(places))


@given(damage(as_json(SESSIONS)))
def test_damage_is_an_error_or_can_be_read(content: bytes) -> None:
    stands(READER, content)


def test_the_english_test_sessions() -> None:
    path = folder("hpd") / "en_test_set.part1.json"
    assert recognises(READER, SourceFile(path).head(), path)
    events = events_of(READER, path)
    assert len(of_kind(events, SceneStart)) == 75
    assert len(of_kind(events, Speech)) > 450
    at_start = {
        (tie.relation.to, tie.relation.kind): tie.relation.level
        for tie in of_kind(events, RelationEntry)
        if tie.relation.of == "Harry" and tie.relation.since.dotted == "1.2"
    }
    assert at_start["Petunia", "affection"] == -4
    assert at_start["Petunia", "familiarity"] == 8
    assert ("Petunia", "family") in at_start
    found = list(examples(SourceFile(path)))
    assert len(found) == 75
    assert all(len(example.candidates) == 11 and example.situation.persona.name == "Harry" for example in found)
