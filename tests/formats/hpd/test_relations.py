from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from reading import damage, events_of, of_kind, read_bytes, recognises, stands
from realdata import folder
from understudy.errors import InputError, MissingExtra
from understudy.formats import read
from understudy.formats.hpd import relations as hpd_relations
from understudy.formats.hpd.relations import READER, ChangeLog, DatedSpan
from understudy.sources import CastEntry, Heading, Opening, RelationEntry, Unread
from understudy.sources.source import SourceFile
from understudy.story.persona import persona_at
from understudy.story.types import Moment, Source

openpyxl = pytest.importorskip("openpyxl")

NAME = "book-4_relations.xlsx"
HEADERS = (
    *("name", "friend", "teacher", "immediate family"),
    *("Wren's affection to him (-10 to 10, 0 is the initial value)", "Wren's familiarity with him (0 to 10)"),
    *("His affection to Wren (0 to 10)", "His familiarity with Wren (0 to 10)"),
)
SHEETS: dict[str, list[tuple[Any, ...]]] = {
    "Chapter-2": [HEADERS, (" Moss Fell ", 1, 0, 0, 4, 3, None, 2), ("Ada", 0, 0, 1, 10, 1, 10, 0)],
    "Chapter-1": [HEADERS, ("Moss", 0, 1, 0, 0, None, -2, 1), (None, 1, 0, 0, 0, 0, 0, 0)],
}


def workbook(sheets: dict[str, list[tuple[Any, ...]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


WHOLE = workbook(SHEETS)


def test_chapters_come_out_in_order_with_the_book_of_the_file_name() -> None:
    events = read_bytes(READER, WHOLE, NAME)
    assert of_kind(events, Opening)[0].levels == ("book", "chapter", "scene", "line")
    assert [heading.numbers for heading in of_kind(events, Heading)] == [(4, 1), (4, 2)]


def test_without_a_book_in_its_name_a_file_counts_by_chapters() -> None:
    events = read_bytes(READER, WHOLE, "relations.xlsx")
    assert of_kind(events, Opening)[0].levels == ("chapter", "scene", "line")
    assert [heading.numbers for heading in of_kind(events, Heading)] == [(1,), (2,)]


def test_ties_are_dated_by_chapter_and_end() -> None:
    told = {
        (one.of, one.to, one.kind, one.level, one.since.dotted, one.until and one.until.dotted)
        for one in (tie.relation for tie in of_kind(read_bytes(READER, WHOLE, NAME), RelationEntry))
        if "Ada" not in (one.of, one.to)
    }
    assert told == {
        ("Wren", "Moss Fell", "teacher", None, "4.1", "4.2"),
        ("Wren", "Moss Fell", "friend", None, "4.2", None),
        ("Moss Fell", "Wren", "friend", None, "4.2", None),
        ("Wren", "Moss Fell", "affection", 0, "4.1", "4.2"),
        ("Wren", "Moss Fell", "affection", 4, "4.2", None),
        ("Wren", "Moss Fell", "familiarity", 0, "4.1", "4.2"),
        ("Wren", "Moss Fell", "familiarity", 3, "4.2", None),
        ("Moss Fell", "Wren", "affection", -2, "4.1", "4.2"),
        ("Moss Fell", "Wren", "affection", 0, "4.2", None),
        ("Moss Fell", "Wren", "familiarity", 1, "4.1", "4.2"),
        ("Moss Fell", "Wren", "familiarity", 2, "4.2", None),
    }


def test_a_short_name_in_another_sheet_is_the_same_person() -> None:
    cast = {
        entry.character.name: entry.character.aliases
        for entry in of_kind(read_bytes(READER, WHOLE, NAME), CastEntry)
        if not entry.units
    }
    assert cast == {"Moss Fell": ("Moss",), "Ada": (), "Wren": ()}


def test_two_people_in_one_sheet_are_not_merged() -> None:
    content = workbook({"Chapter-1": [HEADERS, ("Moss",), ("Moss Fell",)]})
    names = {entry.character.name for entry in of_kind(read_bytes(READER, content, NAME), CastEntry)}
    assert {"Moss", "Moss Fell"} <= names


def test_a_row_without_a_name_is_listed_with_its_number() -> None:
    unread = of_kind(read_bytes(READER, WHOLE, NAME), Unread)
    assert [(one.source.line, one.reason) for one in unread] == [(3, "a row without a name")]


@pytest.mark.parametrize(
    ("sheets", "word"),
    [
        ({"Chapter-1": [HEADERS, ("Moss", 0, 0, 0, 11, 0, 0, 0)]}, "from -10 to 10"),
        ({"Chapter-1": [HEADERS, ("Moss", "yes", 0, 0, 0, 0, 0, 0)]}, "number or blank"),
        ({"Chapter-1": [("name", "age"), ("Moss", 3)]}, "no table of relations"),
        ({"Moss": [HEADERS, ("Moss",)]}, "named for one chapter"),
        ({"Chapter-1": [HEADERS], "chapter 01": [HEADERS]}, "same chapter"),
        ({"Chapter-1": []}, "nothing to read"),
    ],
)
def test_what_does_not_fit_is_an_error(sheets: dict[str, list[tuple[Any, ...]]], word: str) -> None:
    with pytest.raises(InputError, match=word):
        read_bytes(READER, workbook(sheets), NAME)


def test_an_archive_that_unpacks_to_too_much_is_refused_unparsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hpd_relations, "LARGEST", 10_000)
    content = io.BytesIO(WHOLE)
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros", b"\0" * 20_000)
    with pytest.raises(InputError, match="unpacks to more than"):
        read_bytes(READER, content.getvalue(), NAME)


def test_a_workbook_that_declares_entities_is_refused() -> None:
    content = io.BytesIO(WHOLE)
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr("xl/more.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    with pytest.raises(InputError, match="document type"):
        read_bytes(READER, content.getvalue(), NAME)


@pytest.mark.parametrize("content", [b"name,friend\n", b"PK\x03\x04 and nothing more", WHOLE[: len(WHOLE) // 2]])
def test_what_is_no_whole_archive_is_an_error(content: bytes) -> None:
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_bytes(READER, content, NAME)


def test_another_kind_of_archive_is_an_error() -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
    with pytest.raises(InputError, match="not an XLSX"):
        read_bytes(READER, content.getvalue(), NAME)


def test_the_optional_part_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    path = tmp_path / NAME
    path.write_bytes(WHOLE)
    with pytest.raises(MissingExtra, match=r"\.\[xlsx\]"):
        list(READER.events(SourceFile(path)))


@given(damage(WHOLE))
def test_damage_is_an_error_or_can_be_read(content: bytes) -> None:
    stands(READER, content, NAME)


def test_the_relations_of_the_first_book() -> None:
    path = folder("hpd") / "book-1_character_relations_new.xlsx"
    assert recognises(READER, SourceFile(path).head(), path)
    events = events_of(READER, path)
    assert [heading.numbers for heading in of_kind(events, Heading)] == [(1, chapter) for chapter in range(1, 18)]
    relations = [tie.relation for tie in of_kind(events, RelationEntry)]
    feelings = [
        (one.level, one.since.dotted)
        for one in relations
        if (one.of, one.to, one.kind) == ("Harry", "Snape", "affection")
    ]
    assert feelings[0] == (0, "1.1")
    assert (-8, "1.11") in feelings
    assert any((one.of, one.to, one.kind) == ("Harry", "Ron", "friend") for one in relations)


SESSIONS = {
    "s1": {
        "position": "Book4-chapter1",
        "speakers": ["Wren", "Moss"],
        "scene": "Wren asks for the key.",
        "dialogue": ["Wren: Is that the key?", "Moss: It is."],
        "attributes": {"Moss": {"name": "Moss Fell"}},
        "relations with Wren": {"Moss": {"name": "Moss Fell", "Wren's affection to him": 1, "friend": 1}},
    },
    "s2": {
        "position": "Book5-chapter3",
        "speakers": ["Wren", "Moss"],
        "scene": "They meet again.",
        "dialogue": ["Moss: You again."],
        "attributes": {"Moss": {"name": "Moss Fell"}},
        "relations with Wren": {"Moss": {"name": "Moss Fell", "Wren's affection to him": -6, "friend": 0}},
    },
}


@pytest.mark.parametrize("is_workbook_first", [True, False])
def test_sessions_and_a_workbook_are_one_story_in_either_order(tmp_path: Path, is_workbook_first: bool) -> None:
    sessions, tables = tmp_path / "sessions.json", tmp_path / NAME
    sessions.write_text(json.dumps(SESSIONS), encoding="utf-8")
    tables.write_bytes(WHOLE)
    story = read([tables, sessions] if is_workbook_first else [sessions, tables])
    assert [scene.moment.dotted for scene in story.scenes()] == ["4.1.1", "5.3.1"]
    assert {record.name: record.unread for record in story.files()} == {"sessions.json": 0, NAME: 1}

    def ties(at: str) -> dict[str, int | None]:
        relations = persona_at(story, "Wren", at).relations
        return {tie.kind: tie.level for tie in relations if tie.to == "Moss"}

    assert ties("4.1.2")["affection"] == 1, "what a session says of its scene comes after what the chapter's table says"
    assert ties("4.2") == {"friend": None, "affection": 4, "familiarity": 3}, "what only the workbook tells"
    assert ties("end") == {"affection": -6, "familiarity": 3}, "what a session says is no longer so has ended"


def test_a_workbook_read_with_sessions_says_of_which_book_it_is(tmp_path: Path) -> None:
    (tmp_path / "sessions.json").write_text(json.dumps(SESSIONS), encoding="utf-8")
    (tmp_path / "relations.xlsx").write_bytes(WHOLE)
    with pytest.raises(InputError, match="of which book"):
        read([tmp_path / "relations.xlsx", tmp_path / "sessions.json"])


def test_of_the_real_annotations_every_line_is_accounted_for() -> None:
    real = folder("hpd")
    parts = [real / "book-1_character_relations_new.xlsx", real / "en_test_set.part1.json"]
    for paths in (parts, parts[::-1]):
        story = read(paths)
        assert len(list(story.scenes())) == 75
        assert sum(record.lines for record in story.files()) == 481
        assert all(
            record.units == record.lines + record.descriptions + record.headings + record.unread
            for record in story.files()
        )
        kinds = {tie.kind for tie in persona_at(story, "Harry", "1.13").relations if tie.to == "Hermione"}
        assert {"classmate", "familiarity"} <= kinds, "in book 1 only the workbook speaks of her"


# How relations are written.

AT = Source("file", 1)


def told(*statements: tuple[str, str | None, tuple[int, int]]) -> list[tuple[str, str, str, str | None]]:
    """What a ledger makes of (key, value, (chapter, scene))."""
    ledger: ChangeLog[str, str] = ChangeLog()
    spans: list[DatedSpan[str, str]] = []
    for key, value, (chapter, scene) in statements:
        span = ledger.record(key, value, Moment((chapter,)), Moment((chapter, scene)), AT)
        spans += [span] if span else []
    spans += ledger.open_spans()
    return [(span.key, span.value, span.since.dotted, span.until.dotted if span.until else None) for span in spans]


def test_the_same_again_is_no_change() -> None:
    assert told(("hair", "red", (1, 1)), ("hair", "red", (2, 1))) == [("hair", "red", "1", None)]


def test_a_new_value_ends_the_old_one_at_its_chapter() -> None:
    assert told(("hair", "red", (1, 1)), ("hair", "grey", (3, 2))) == [
        ("hair", "red", "1", "3"),
        ("hair", "grey", "3", None),
    ]


def test_what_is_said_to_be_absent_has_ended_and_may_begin_again() -> None:
    assert told(("key", "brass", (1, 1)), ("key", None, (2, 1)), ("key", "brass", (4, 1))) == [
        ("key", "brass", "1", "2"),
        ("key", "brass", "4", None),
    ]


def test_a_second_change_within_a_chapter_is_dated_by_its_scene() -> None:
    assert told(("mood", "low", (1, 1)), ("mood", "high", (1, 2))) == [
        ("mood", "low", "1", "1.2"),
        ("mood", "high", "1.2", None),
    ]


def test_what_is_not_mentioned_goes_on() -> None:
    assert told(("a", "x", (1, 1)), ("b", "y", (2, 1))) == [("a", "x", "1", None), ("b", "y", "2", None)]
