from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reading import AwkwardScene, awkward_scenes, of_kind, read_bytes, recognises, stands, story_of, told
from understudy.formats import read, reader_of
from understudy.formats.conversations import MESSAGES, SHAREGPT, export_messages, export_sharegpt, parse_message
from understudy.sources import Description, Event, Reader, SceneStart, Speech, Unread
from understudy.sources.source import SourceFile

TALK = [("human", "Hello."), ("gpt", "Hello yourself.")]


def sharegpt_of(*turns: tuple[str, str], **fields: Any) -> dict[str, Any]:
    return {"conversations": [{"from": role, "value": text} for role, text in turns], **fields}


def messages_of(*turns: dict[str, Any]) -> dict[str, Any]:
    return {"messages": list(turns)}


def events(content: object, reader: Reader = SHAREGPT) -> list[Event]:
    written = content if isinstance(content, bytes) else json.dumps(content).encode()
    assert recognises(reader, written, Path("x"))
    return read_bytes(reader, written)


def said(found: list[Event]) -> list[tuple[str, str]]:
    return [(speech.speakers[0], speech.text) for speech in of_kind(found, Speech)]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([sharegpt_of(*TALK), sharegpt_of(*TALK)]).encode(),
        json.dumps([sharegpt_of(*TALK), sharegpt_of(*TALK)], indent=4).encode(),
        b"\n".join(json.dumps(sharegpt_of(*TALK)).encode() for _ in range(2)),
        b"\xef\xbb\xbf" + json.dumps(sharegpt_of(*TALK), indent=1).encode() + json.dumps(sharegpt_of(*TALK)).encode(),
    ],
)
def test_a_list_lines_or_documents_are_the_same(content: bytes) -> None:
    found = events(content)
    assert len(of_kind(found, SceneStart)) == 2
    assert said(found) == [("User", "Hello."), ("Assistant", "Hello yourself.")] * 2


def test_names_in_the_place_of_roles_and_beside_them() -> None:
    found = events(sharegpt_of(("Bastien", "I did."), ("Odile", "Why?")))
    assert said(found) == [("Bastien", "I did."), ("Odile", "Why?")]
    turns: list[dict[str, Any]] = [
        {
            "role": "user",
            "name": "Bastien",
            "content": [{"type": "text", "text": "I"}, {"type": "image"}, {"text": "did."}],
        },
        {"role": "assistant", "content": "Why?"},
    ]
    assert said(events(messages_of(*turns), MESSAGES)) == [("Bastien", "I\ndid."), ("Assistant", "Why?")]


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("You are Odile. She plays.", "Odile"),
        ("You are Odile Marchetti, a pianist.", "Odile Marchetti"),
        ("Play a part.\nYou are Dr. Watson from Baker Street", "Dr. Watson"),
        ("You're Joan of Arc (1412)", "Joan of Arc"),
        ("You are Zita the postmistress.", "Zita"),
        ("You are a helpful assistant.", "Assistant"),
        ("You are Expert-level coder.", "Assistant"),
        ("You are An AI.", "Assistant"),
        ("You are Python developers' friend.", "Assistant"),
        ("Be kind.", "Assistant"),
    ],
)
def test_a_prompt_that_plainly_says_who_the_assistant_is(prompt: str, name: str) -> None:
    found = events([sharegpt_of(("system", prompt), *TALK), sharegpt_of(*TALK, system=prompt), sharegpt_of(*TALK)])
    assert [speaker for speaker, _ in said(found)] == ["User", name, "User", name, "User", "Assistant"]
    assert [description.text for description in of_kind(found, Description)] == [prompt, prompt]


def test_tools_blanks_and_what_is_no_message_are_listed() -> None:
    found = events(
        messages_of(
            {"role": "user", "content": "What is the weather?"},
            {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "weather"}}]},
            {"role": "tool", "content": "rain"},
            {"role": "assistant", "content": " "},
            {"role": 7, "content": "x"},
            {"role": "assistant", "content": "Rain."},
        ),
        MESSAGES,
    )
    assert [text for _, text in said(found)] == ["What is the weather?", "Rain."]
    assert [unread.reason.split(":")[0] for unread in of_kind(found, Unread)] == [
        "a call of a tool, or what it returned",
        "a call of a tool, or what it returned",
        "says nothing",
        "is no message",
    ]


def test_other_fields_of_a_conversation_are_listed_and_its_id_is_not() -> None:
    found = events([sharegpt_of(*TALK, id="1", tools="[]", source="web"), {"text": "no conversation"}])
    assert [unread.reason for unread in of_kind(found, Unread)] == [
        "not talk: tools, source",
        "is no conversation: it has no list of conversations",
    ]


def test_messages_without_a_record_are_one_conversation() -> None:
    bare = [{"role": "system", "content": "You are Odile."}, {"role": "user", "content": "Well?"},
            {"content": "Well.", "role": "assistant"}]  # fmt: skip
    for content in (json.dumps(bare).encode(), "\n".join(map(json.dumps, bare)).encode()):
        found = events(content, MESSAGES)
        assert len(of_kind(found, SceneStart)) == 1
        assert said(found) == [("User", "Well?"), ("Odile", "Well.")]


def test_a_first_message_longer_than_the_head() -> None:
    found = events(sharegpt_of(("human", "long " * 40_000), ("gpt", "Yes.")))
    assert len(said(found)) == 2


@pytest.mark.parametrize(
    "first",
    [
        {"id": 1, "weight": 0.5, "from": "human", "value": "Hello."},
        {"markdown": None, "text": 'a "quoted" {brace} [and] more', "from": "human", "value": "Hello."},
        {"value": "Hello.", "from": "human"},
    ],
)
def test_keys_stand_in_any_order(first: dict[str, Any]) -> None:
    found = events([{"tags": ["a"], "note": "see [1]", "conversations": [first]}])
    assert said(found) == [("User", "Hello.")]
    assert not recognises(MESSAGES, json.dumps({"conversations": [first]}).encode(), Path("x"))
    assert not recognises(SHAREGPT, json.dumps({"conversations": ["text"], "from": 1}).encode(), Path("x"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["from", "value", "role", "content", "name", "text", "system"]), inner),
    max_leaves=8,
)  # fmt: skip


@given(value=json_values, turns=st.lists(json_values, max_size=3))
def test_any_records_are_read_or_refused(value: Any, turns: list[Any]) -> None:
    parse_message(value)
    for reader, key in ((SHAREGPT, "conversations"), (MESSAGES, "messages")):
        stands(reader, json.dumps([{key: turns, "system": value}, value]).encode())


def message(name: str, parent: str | None, text: str, model: str = "", **more: Any) -> tuple[str, dict[str, Any]]:
    role = {"role": "assistant", "model": model} if model else {"role": "user", "user": {"name": "Tom"}}
    return name, {"id": name, "parentId": parent, "content": text, **role, **more}


def open_webui(current: str, *said_there: tuple[str, dict[str, Any]], **chat: Any) -> list[dict[str, Any]]:
    history = {"currentId": current, "messages": dict(said_there)}
    return [{"id": "7", "title": "Gate", "chat": {"title": "Gate", "history": history, "messages": [], **chat}}]


def test_of_an_open_webui_export_the_branch_on_its_page_is_read() -> None:
    exported = open_webui(
        "d",
        message("a", None, "Is the gate open?"),
        message("b", "a", "No.", "verey/Odile%20March@1.2"),
        message("b2", "a", "Not yet.", "verey/Odile%20March@1.2"),
        message("c", "b2", "When?"),
        message("d", "c", "At six.", "verey/Odile%20March@1.2#Tom"),
        params={"system": "It is dusk."},
    )
    found = events(exported, MESSAGES)
    assert said(found) == [
        ("Tom", "Is the gate open?"), ("Odile March", "Not yet."), ("Tom", "When?"), ("Odile March", "At six."),
    ]  # fmt: skip
    assert [line.text for line in of_kind(found, Description)] == ["It is dusk."]
    (left_out,) = of_kind(found, Unread)
    assert "No." in left_out.text
    assert "other tries" in left_out.reason


def test_where_several_models_were_asked_all_have_answered() -> None:
    exported = open_webui(
        "c",
        message("a", None, "Who are you?"),
        message("b", "a", "Bastien.", "verey/Bastien", modelIdx=1),
        message("c", "a", "Odile.", "verey/Odile", modelIdx=0),
        message("x", "a", "Nobody.", "verey/Bastien", modelIdx=1),
        message("y", "a", "The carter.", "verey/Bastien", modelIdx=1),
    )
    assert said(events(exported, MESSAGES)) == [
        ("Tom", "Who are you?"), ("Odile", "Odile."), ("Bastien", "The carter."),
    ]  # fmt: skip


def test_a_tree_that_runs_in_a_circle_ends() -> None:
    circle = open_webui("a", message("a", "b", "One."), message("b", "a", "Two.", "verey/Odile"))
    assert said(events(circle, MESSAGES)) == [("Odile", "Two."), ("Tom", "One.")]


TREE_VALUES = st.none() | st.text(max_size=3) | st.integers() | st.lists(st.text(max_size=2), max_size=2)


@given(
    tree=st.dictionaries(
        st.sampled_from("abcd"),
        st.dictionaries(
            st.sampled_from(["parentId", "role", "content", "model", "modelIdx", "user"]),
            TREE_VALUES | st.sampled_from(["a", "b", "c", "user", "assistant", "x/Y@1"]),
        )
        | TREE_VALUES,
    ),
    current=TREE_VALUES | st.sampled_from("abcd"),
)
def test_any_tree_is_read_to_its_end(tree: dict[str, Any], current: Any) -> None:
    content = [{"chat": {"history": {"currentId": current, "messages": tree}}}]
    assert all(speech.text for speech in of_kind(events(content, MESSAGES), Speech))


WRITERS = {"sharegpt": export_sharegpt, "messages": export_messages}
SCENES = [AwkwardScene("A kitchen.", ((None, "Night."), ("Odile", "You sold it."), ("Bastien", "I did.")))]


def records(form: str, character: str | None = None) -> list[dict[str, object]]:
    stream = io.StringIO()
    assert WRITERS[form](story_of(SCENES), stream, character) == 3
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_without_a_chair_names_say_who_speaks() -> None:
    (record,) = records("sharegpt")
    assert record == {
        "id": "1",
        "setting": "A kitchen.",
        "conversations": [
            {"from": "system", "value": "Night."},
            {"from": "Odile", "value": "You sold it."},
            {"from": "Bastien", "value": "I did."},
        ],
    }
    (record,) = records("messages")
    assert [message["role"] for message in record["messages"]] == ["system", "user", "user"]  # type: ignore[attr-defined]


def test_from_a_chair_its_own_turns_are_the_model_s() -> None:
    (record,) = records("sharegpt", "Odile")
    turns = record["conversations"]
    assert [(turn["from"], turn.get("name")) for turn in turns] == [  # type: ignore[attr-defined]
        ("system", None),
        ("gpt", "Odile"),
        ("human", "Bastien"),
    ]
    (record,) = records("messages", "Bastien")
    assert [message["role"] for message in record["messages"]] == ["system", "user", "assistant"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", WRITERS)
@settings(suppress_health_check=list(HealthCheck))
@given(scenes=awkward_scenes())
def test_any_story_reads_back(tmp_path: Path, form: str, scenes: list[AwkwardScene]) -> None:
    story = story_of(scenes)
    people = [member.character.name for member in story.cast()]
    for chair in (None, *people[:1]):
        path = tmp_path / "out.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            assert WRITERS[form](story, stream, chair) == story.count()[1]
        assert reader_of(SourceFile(path)).name == form
        assert told(read(path)) == told(story)
