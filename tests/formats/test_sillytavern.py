from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reading import AwkwardScene, awkward_scenes, of_kind, read_bytes, recognises, stands, story_of, told
from understudy.errors import InputError
from understudy.formats import read, reader_of
from understudy.formats.sillytavern import READER, export_sillytavern, parse_date
from understudy.sources import CastEntry, Description, Event, Heading, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

HEADER = {"user_name": "Tom", "character_name": "Odile", "create_date": "2023-6-19@14h20m", "chat_metadata": {}}


def message(text: object, name: str = "Odile", **fields: Any) -> dict[str, Any]:
    return {"name": name, "is_user": name == "Tom", "is_system": False, "mes": text, "extra": {}, **fields}


def events(*rows: object) -> list[Event]:
    content = "\n".join(json.dumps(row) for row in rows).encode()
    assert recognises(READER, content, Path("chat.jsonl"))
    return read_bytes(READER, content)


def said(found: list[Event]) -> list[tuple[str, str]]:
    return [(speech.speakers[0], speech.text) for speech in of_kind(found, Speech)]


def test_a_chat_is_a_scene_with_macros_filled_and_actions_kept() -> None:
    found = events(
        {**HEADER, "chat_metadata": {"scenario": "{{char}} and {{user}} at the lock."}},
        message("*She looks up.* Well, {{user}}?\nThe gate sticks."),
        message("I am {{user}}, you are {{char}}.", "Tom", swipes=["another try"]),
    )
    assert said(found) == [
        ("Odile", "*She looks up.* Well, Tom?\nThe gate sticks."),
        ("Tom", "I am Tom, you are Odile."),
    ]
    (scene,) = of_kind(found, SceneStart)
    assert scene.setting == "Odile and Tom at the lock."
    assert scene.present == ("Odile", "Tom")
    assert [heading.title for heading in of_kind(found, Heading)] == ["Odile and Tom"]
    assert {entry.character.name for entry in of_kind(found, CastEntry)} == {"Odile", "Tom"}


def test_a_long_silence_begins_another_scene() -> None:
    found = events(
        HEADER,
        message("One.", send_date="June 19, 2023 2:20pm"),
        message("Two.", send_date="June 19, 2023 8:19pm"),
        message("No date."),
        message("Three.", send_date="2023-6-20 @09h 05m 00s 12ms"),
        message("Earlier, by a clock that was set back.", send_date="2023-06-20T04:00:00.000Z"),
    )
    scenes = [index for index, event in enumerate(found) if isinstance(event, SceneStart)]
    between = [event.text for event in found[scenes[0] : scenes[1]] if isinstance(event, Speech)]
    assert len(scenes) == 2
    assert between == ["One.", "Two.", "No date."]


def test_narrator_comments_and_the_program() -> None:
    found = events(
        HEADER,
        message("Rain.", "System", extra={"type": "narrator"}),
        message("Remember the key.", "Note", is_system=True, extra={"type": "comment"}),
        message("Hello! Type /help.", "SillyTavern System", is_system=True),
        message("Hidden from the prompt, but said.", is_system=True),
        message("   "),
        {"name": "Odile"},
    )
    assert [description.text for description in of_kind(found, Description)] == ["Rain."]
    assert said(found) == [("Odile", "Hidden from the prompt, but said.")]
    reasons = [unread.reason for unread in of_kind(found, Unread)]
    assert [reason.split(":")[0] for reason in reasons] == [
        "a comment",
        "the chat program says it, not a character",
        "says nothing",
        "is no message",
    ]


def test_a_group_chat_has_no_two_names() -> None:
    rows = [message("One.", "Odile", is_group=True), message("{{char}} speaks to {{user}}.", "Zita")]
    assert said(events(*rows)) == [("Odile", "One."), ("Zita", "Zita speaks to you.")]
    found = events({**HEADER, "user_name": "unused", "character_name": "unused"}, *rows)
    assert of_kind(found, SceneStart)[0].present == ()


def test_blank_names_are_those_of_the_header_or_of_the_role() -> None:
    blank = [message("One.", "", is_user=True), message("Two.", " "), {"mes": "Three.", "name": None}]
    assert [name for name, _ in said(events(HEADER, *blank))] == ["Tom", "Odile", "Odile"]
    assert [name for name, _ in said(events(*blank))] == ["User", "Assistant", "Assistant"]


def test_two_who_share_a_word_of_their_names_stay_two(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    rows = [HEADER, message("One.", "Odile"), message("Two.", "Odile Marchetti"), message("Three.", "ODILE'S CAT")]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert {member.character.name for member in read(path).cast()} == {"Odile", "Odile Marchetti", "ODILE'S CAT"}


def test_chub_s_messages_and_several_chats_in_order(tmp_path: Path) -> None:
    assert said(events(HEADER, message({"message": "As an object."}))) == [("Odile", "As an object.")]
    for number in (1, 2):
        (tmp_path / f"{number}.jsonl").write_text("\n".join(map(json.dumps, [HEADER, message(f"Chat {number}.")])))
    story = read([tmp_path / "2.jsonl", tmp_path / "1.jsonl"])
    assert [line.text for scene in story.scenes() for line in scene.lines] == ["Chat 1.", "Chat 2."]
    assert story.levels == ("part", "scene", "line")


def test_a_header_longer_than_the_head_and_a_folder_of_chats(tmp_path: Path) -> None:
    long = {**HEADER, "chat_metadata": {"note_prompt": "long " * 20_000}}
    for first in (long, dict(reversed(long.items())), message("long " * 20_000)):
        assert len(events(first, message("Short."))) > 2
    for day in (9, 10, 11):
        path = tmp_path / f"Odile - 2024-7-{day}@01h31m37s.jsonl"
        path.write_text("\n".join(map(json.dumps, [HEADER, message(f"Day {day}.")])))
    assert [line.text for scene in read(tmp_path).scenes() for line in scene.lines] == ["Day 9.", "Day 10.", "Day 11."]


@pytest.mark.parametrize(
    "written",
    ["June 19, 2023 2:20pm", "2023-6-19 @14h 20m 00s 123ms", "2023-06-19@14h20m00s", "2023-06-19T14:20:00.000Z",
     "2023-06-19T16:20:00+02:00", 1687184400000, "1687184400000", 1687184400],
)  # fmt: skip
def test_a_moment_in_every_form_of_date(written: object) -> None:
    assert parse_date(written) == 1687184400


@given(st.text() | st.floats() | st.integers() | st.none() | st.booleans())
def test_what_is_no_date_is_none_or_a_number(written: object) -> None:
    parse_date(written)


def test_a_line_that_is_no_message_is_an_error_with_its_number() -> None:
    with pytest.raises(InputError, match=r":2: is JSON, but no message"):
        events(HEADER, [1])
    with pytest.raises(InputError, match=r":2: is not valid JSON"):
        read_bytes(READER, json.dumps(HEADER).encode() + b"\n{")


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(), lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["name", "mes", "extra", "type", "send_date", "is_user", "message"]), inner),
    max_leaves=8,
)  # fmt: skip


@given(rows=st.lists(json_values, max_size=5))
def test_any_rows_are_read_or_refused(rows: list[Any]) -> None:
    stands(READER, "\n".join(map(json.dumps, [HEADER, *rows])).encode("utf-8", "surrogatepass"))


TWO = [
    AwkwardScene("A kitchen.", ((None, "Night."), ("Odile", "You sold it."), ("Bastien", "I did."), ("Odile", "Why?"))),
    AwkwardScene("", (("Bastien", "{{user}} is a macro."),)),
]


def rows(scenes: list[AwkwardScene], character: str | None = None) -> list[dict[str, Any]]:
    stream = io.StringIO()
    export_sillytavern(story_of(scenes), stream, character)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_of_two_the_one_who_says_less_is_the_user() -> None:
    header, setting, *messages = rows(TWO)
    assert (header["character_name"], header["user_name"]) == ("Odile", "Bastien")
    assert setting["extra"] == {"type": "narrator", "understudy": "setting"}
    assert [(row["name"], row["is_user"]) for row in messages] == [
        ("System", False),
        ("Odile", False),
        ("Bastien", True),
        ("Odile", False),
        ("Bastien", True),
    ]
    assert messages[3]["send_date"] == "2000-01-01T00:03:00.000Z"
    assert messages[4]["send_date"] == "2000-01-02T00:04:00.000Z"
    assert messages[4]["extra"] == {"understudy": "verbatim"}


def test_from_a_chair_the_others_are_the_user_and_a_group_has_none() -> None:
    three = [AwkwardScene("", (("Odile", "One."), ("Bastien", "Two."), ("Marguerite", "Three.")))]
    header, *messages = rows(three)
    assert (header["character_name"], header["user_name"]) == ("unused", "unused")
    assert not any(row["is_user"] for row in messages)
    header, *messages = rows(three, "Bastien")
    assert header["character_name"] == "Bastien"
    assert [row["is_user"] for row in messages] == [True, False, True]


@settings(suppress_health_check=list(HealthCheck))
@given(scenes=awkward_scenes())
def test_any_story_reads_back(tmp_path: Path, scenes: list[AwkwardScene]) -> None:
    story = story_of(scenes)
    people = [member.character.name for member in story.cast()]
    for chair in (None, *people[:1]):
        path = tmp_path / "out.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            assert export_sillytavern(story, stream, chair) == story.count()[1]
        assert reader_of(SourceFile(path)).name == "sillytavern"
        assert told(read(path)) == told(story)
