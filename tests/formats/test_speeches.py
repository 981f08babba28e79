from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage, of_kind, read_bytes, recognises, stands
from understudy import formats as readers
from understudy.errors import InputError
from understudy.formats.export import export_jsonl
from understudy.formats.speeches import READER
from understudy.sources.events import Description, Event, Heading, Movement, Opening, SceneStart, Speech, Unread
from understudy.story.storyfile import Story

ROWS = [
    {"season": 1.0, "episode": 1, "title": "The Oar", "character": "Ann", "lines": "The tide\nis out."},
    {"season": 1.0, "episode": 1, "title": "The Oar", "character": "Bob and Cyril", "lines": "So it is."},
    {"season": 1.0, "episode": 1, "title": "The Oar", "character": "Bob", "lines": ""},
    {"season": 1.0, "episode": 2, "title": "The Net", "character": None, "lines": "Rain on the quay."},
    {"season": 1.0, "episode": 2, "title": "The Net", "character": "Ann", "lines": "Rain."},
]


def jsonl(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(rows: list[dict[str, object]]) -> list[Event]:
    return read_bytes(READER, jsonl(rows))


def test_a_row_is_a_speech_in_its_episode() -> None:
    events = read(ROWS)
    assert events[0] == Opening(("season", "episode", "scene", "line"))
    assert [(one.title, one.numbers) for one in of_kind(events, Heading)] == [("The Oar", (1, 1)), ("The Net", (1, 2))]
    assert [(one.speakers, one.text, one.source.line) for one in of_kind(events, Speech)] == [
        (("Ann",), "The tide is out.", 1),
        (("Bob", "Cyril"), "So it is.", 2),
        (("Ann",), "Rain.", 5),
    ]
    assert [one.text for one in of_kind(events, Description)] == ["Rain on the quay."]
    assert [one.reason for one in of_kind(events, Unread)] == ["says nothing"]


def test_other_names_for_the_same_things_and_scenes() -> None:
    rows: list[dict[str, object]] = [
        {"speaker": "Ann", "text": ["One.", "Two."], "scene": "The quay"},
        {"speaker": ["Ann", "Bob"], "text": "Three.", "scene": "The quay"},
        {"speaker": "Bob", "text": "Four.", "scene": "The shed"},
    ]
    events = read(rows)
    assert events[0] == Opening(("scene", "line"))
    assert [one.setting for one in of_kind(events, SceneStart)] == ["The quay", "The shed"]
    assert [(one.speakers, one.text) for one in of_kind(events, Speech)] == [
        (("Ann",), "One. Two."),
        (("Ann", "Bob"), "Three."),
        (("Bob",), "Four."),
    ]


def test_whom_a_row_is_said_to_is_there() -> None:
    rows: list[dict[str, object]] = [
        {"speaker": "Ann", "text": "One.", "to": ["Bob", "everyone"]},
        {"speaker": "Ann", "text": "Two.", "to": "Bob and Cyril"},
        {"speaker": "Ann", "text": "Three.", "to": {"Dora": 0.9}},
    ]
    assert [one.enter for one in of_kind(read(rows), Movement)] == [("Bob",), ("Cyril",)]


def test_a_row_that_is_dated_otherwise_is_listed_as_unread() -> None:
    events = read([*ROWS, {"character": "Ann", "lines": "When?"}])
    assert "is not dated by season and episode" in of_kind(events, Unread)[-1].reason


def test_recognises_rows_with_a_speaker_and_words_only() -> None:
    assert recognises(READER, jsonl(ROWS), Path("any"))
    assert recognises(READER, b"\xef\xbb\xbf" + jsonl(ROWS), Path("any"))
    for other in (b'{"show": "x", "lines": [["a", "b"]]}', b'["a"]', b"Ann: One.", b"", b"{", b'{"name": "x"}'):
        assert not recognises(READER, other, Path("any.jsonl"))


@pytest.mark.parametrize("line", ['{"character": ', "[1, 2]", "Ann: One."])
def test_what_is_no_row_is_an_error_with_its_line(line: str) -> None:
    with pytest.raises(InputError) as caught:
        read_bytes(READER, jsonl(ROWS) + line.encode())
    assert caught.value.line == len(ROWS) + 1


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=9),
    st.lists(st.text(max_size=5)),
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["season", "episode", "scene", "character", "lines", "title"]), VALUES),
        min_size=1,
    )
)
def test_any_rows_add_up(rows: list[dict[str, object]]) -> None:
    read(rows)


@given(damage(jsonl(ROWS)))
def test_a_damaged_file_is_read_or_refused_with_the_place(content: bytes) -> None:
    stands(READER, content or b"\n")


def test_half_of_a_character_is_refused_with_its_line() -> None:
    rows = b'{"character": "Ann", "lines": "One."}\n{"character": "\\ud800", "lines": "Two."}\n'
    with pytest.raises(InputError, match=r":2: holds half of a character"):
        read_bytes(READER, rows)


def test_exported_rows_are_read_back_at_their_moments(tmp_path: Path) -> None:
    story = readers.read("demo")
    path = tmp_path / "demo.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        export_jsonl(story, stream)
    again = readers.read(path)
    assert again.levels == ("part", "chapter", "scene", "line")

    def lines(of: Story) -> list[tuple[str, str | None, str]]:
        return [(line.moment.dotted, line.speaker, line.text) for scene in of.scenes() for line in scene.lines]

    assert lines(again) == lines(story)
