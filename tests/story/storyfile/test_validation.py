"""Story files that somebody sends: sound ones pass, and nothing else does."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reading import damage
from samples import SAMPLES
from understudy.errors import InputError
from understudy.formats import EMBEDDED, read
from understudy.story.storyfile import CardRecord, Story, is_story_file, validate_story_file
from understudy.story.storyfile.database import address_of
from understudy.story.types import Moment


@pytest.fixture
def made(story: Path, tmp_path: Path) -> Path:
    into = tmp_path / "made.story"
    read(story, into=into)
    return into


def changed(path: Path, *statements: str) -> Path:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def test_a_story_file_as_it_was_made_passes(made: Path) -> None:
    assert is_story_file(made)
    validate_story_file(made)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("PRAGMA application_id = 7", "not a story file"),
        ("CREATE TABLE more (x)", "tables that a story file does not have"),
        ("CREATE VIEW more AS SELECT * FROM lines", "tables that a story file does not have"),
        (
            "CREATE TRIGGER more AFTER INSERT ON lines BEGIN DELETE FROM lines; END",
            "tables that a story file does not have",
        ),
        ("DROP INDEX lines_by_speaker", "tables that a story file does not have"),
        ("UPDATE migrations SET number = 99 WHERE number = 2", "newer Understudy"),
        ("DELETE FROM migrations WHERE number >= 2", "never finished"),
        ("DELETE FROM about WHERE key = 'title'", "damaged"),
        ("UPDATE about SET value = '[[' WHERE key = 'levels'", "damaged"),
        ("UPDATE lines SET text = x'ff00' WHERE id = 1", "lines hold a text that is none"),
        ("UPDATE lines SET text = CAST(x'ff' AS TEXT) WHERE id = 1", "damaged"),
        ("UPDATE lines SET speaker = 999 WHERE id = 1", "refers to what is not there"),
        ("UPDATE scenes SET moment = x'00' WHERE id = 1", "damaged"),
        ("UPDATE characters SET profile = 'no JSON' WHERE id = 1", "damaged"),
        ("PRAGMA journal_mode = WAL", "still being written"),
        ("UPDATE scenes SET last = 2147483648", "does not begin where"),
        ("UPDATE scenes SET last = 2147483648 WHERE id = (SELECT max(id) FROM scenes)", "end before or after"),
        ("UPDATE scenes SET first = -5 WHERE id = 1", "does not begin where"),
        ("UPDATE scenes SET moment = CAST(x'00000001' || moment AS BLOB)", "a scene's moment is none"),
        ("UPDATE scenes SET moment = x'0000000900000009' WHERE id = 1", "out of order"),
        ("UPDATE lines SET number = 77 WHERE id = 1", "a line is not where its scene is"),
        ("UPDATE lines SET id = 99999999 WHERE id = (SELECT max(id) FROM lines)", "not numbered"),
        ("UPDATE presence SET last = 2147483648", "present outside"),
        ("INSERT INTO presence SELECT character, first + 1, last, scene FROM presence WHERE last > first", "twice"),
        ("UPDATE characters SET lines = 2147483648 WHERE id = 1", "number of lines is wrong"),
        ("UPDATE characters SET first = 2147483648 WHERE id = 1", "number of lines is wrong"),
        ("UPDATE characters SET profile = '[1]' WHERE id = 1", "profile is no list"),
        ("UPDATE characters SET profile = '{}' WHERE id = 1", "profile is no list"),
        ("""UPDATE characters SET profile = '["\\ud800"]' WHERE id = 1""", "damaged"),
        ("UPDATE facts SET content = '7'", "fact is no list"),
        ("UPDATE facts SET known_to = '[999]'", "not there"),
        ("UPDATE facts SET since = x'000000'", "fact's date is none"),
        ("UPDATE relations SET level = 2147483648 WHERE level IS NOT NULL", "out of range"),
        ("UPDATE acquaintance SET met = 2147483648", "met or was named at no line"),
        ("INSERT INTO lore (entry) VALUES ('{}')", "entry of a lorebook is none"),
        ("INSERT INTO lore (entry) VALUES ('[')", "entry of a lorebook is none"),
        ("INSERT INTO cards VALUES (1, '[1]', '', '[]', '{}', NULL)", "no list of texts"),
        ("INSERT INTO cards VALUES (1, '[]', '', '{}', '{}', NULL)", "no list of texts"),
        ("INSERT INTO cards VALUES (1, '[]', '', '[]', '[]', NULL)", "a card is none"),
        ("INSERT INTO cards VALUES (1, '[]', '', '[]', '{}', x'ff')", "picture is no PNG"),
        ("INSERT INTO cards VALUES (999, '[]', '', '[]', '{}', NULL)", "refers to what is not there"),
        ("UPDATE about SET value = '[]' WHERE key = 'levels'", "two levels"),
        ("UPDATE about SET value = '[1, 2]' WHERE key = 'levels'", "no list of words"),
        ("UPDATE characters SET name = name || hex(zeroblob(2500000)) WHERE id = 1", "name is longer"),
        ("UPDATE aliases SET alias = hex(zeroblob(2500000))", "alias is longer"),
        ("UPDATE headings SET title = hex(zeroblob(2500000))", "heading is longer"),
        ("UPDATE scenes SET setting = hex(zeroblob(2500000))", "setting is longer"),
        ("UPDATE facts SET content = '[\"' || hex(zeroblob(2500000)) || '\"]'", "fact is longer"),
        ("UPDATE relations SET kind = hex(zeroblob(2500000))", "kind is longer"),
        ("UPDATE about SET value = hex(zeroblob(2500000)) WHERE key = 'title'", "title is longer"),
        ("UPDATE about SET value = 'xx' WHERE key = 'language'", "language is none"),
    ],
)
def test_what_is_not_as_it_should_be_is_refused(made: Path, statement: str, told: str) -> None:
    changed(made, statement)
    with pytest.raises(InputError, match=told):
        validate_story_file(made)
    with pytest.raises(InputError, match=told):  # however it comes in
        read(made)


@pytest.mark.parametrize("form", SAMPLES)
def test_whatever_is_read_makes_a_file_that_passes(form: str, tmp_path: Path) -> None:
    name, content = SAMPLES[form]
    (tmp_path / name).write_bytes(content())
    read(tmp_path / name, into=tmp_path / "made.story")
    validate_story_file(tmp_path / "made.story")


@pytest.mark.parametrize("demo", EMBEDDED)
def test_the_stories_that_come_along_pass(demo: str, tmp_path: Path) -> None:
    read(demo, into=tmp_path / "made.story")
    validate_story_file(tmp_path / "made.story")


def test_a_file_is_validated_once_and_again_when_it_changes(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    validated: list[Path] = []
    monkeypatch.setattr("understudy.story.storyfile.story.validate_story_file", validated.append)
    monkeypatch.setattr("understudy.story.storyfile.validation.SETTLED_NS", 0)
    Story.open(made)
    assert validated == []  # it has just been written here
    foreign = made.with_name("foreign.story")
    shutil.copy(made, foreign)
    for _ in range(2):
        Story.open(foreign)
        monkeypatch.setattr("understudy.story.storyfile.validation._validated", set())  # as in another process
    assert validated == [foreign]
    Story.open(changed(foreign, "UPDATE about SET value = 'Other' WHERE key = 'title'"))
    assert validated == [foreign, foreign]


def test_without_a_cache_folder_files_are_opened_all_the_same(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERSTUDY_CACHE", "/dev/null/nowhere")
    monkeypatch.setattr("understudy.story.storyfile.validation._validated", set())
    assert Story.open(made).count()[0] == 4


def test_a_query_on_a_file_is_broken_off_when_it_takes_more_than_its_size_accounts_for(made: Path) -> None:
    story = Story.open(made)
    for_ever = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(InputError, match=r"made\.story: is damaged"):
        story._db.rows(for_ever)
    assert story.count()[0] == 4


def test_damage_that_comes_while_a_story_is_open_is_an_error_of_ours(made: Path) -> None:
    story = Story.open(made)
    whole = made.read_bytes()
    made.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(InputError, match=r"made\.story: is damaged"):
        list(story.scenes())


def test_counting_the_lines_of_a_scene_never_goes_beyond_the_story(made: Path) -> None:
    changed(made, "UPDATE scenes SET last = 2147483648")
    story = Story(address_of(made), made)
    assert max(lines for _, _, lines in story.outline()) <= story.count()[1]


def test_another_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a story file"):
        validate_story_file(changed(tmp_path / "other.db", "CREATE TABLE more (x)"))


@given(st.data())
def test_damage_is_refused_or_harmless(made: Path, data: st.DataObject) -> None:
    whole = made.read_bytes()
    harmed = made.with_name("harmed.story")
    harmed.write_bytes(data.draw(damage(whole)))
    with contextlib.suppress(InputError):
        validate_story_file(harmed)


def test_a_file_from_before_there_were_cards_terms_and_names_is_still_read(made: Path) -> None:
    for table in ("cards", "lore", "spans", "attributions", "names"):
        changed(made, f"DROP TABLE {table}")
    changed(made, "ALTER TABLE relations DROP COLUMN term")
    changed(made, "DELETE FROM migrations WHERE number > 2")
    story = Story.open(made)
    name = story.cast()[0].character.name
    assert (story.card_texts(name), story.lore(name)) == (CardRecord(), ())
    assert (story.card(name), story.picture(name)) == (None, None)
    assert list(story.spans()) == []
    assert {tie.term for tie in story.relations()} == {""}
    assert story.spoken_names(Moment.end()) == {}
