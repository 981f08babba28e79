"""Story files that somebody sends: sound ones pass, and nothing else does."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reading import damage
from understudy.errors import InputError
from understudy.readers import read
from understudy.server.uploads.storycheck import check_story_file, is_story_file


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
    check_story_file(made)


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
        ("DELETE FROM migrations WHERE number = 2", "never finished"),
        ("DELETE FROM about WHERE key = 'title'", "damaged"),
        ("UPDATE about SET value = '[[' WHERE key = 'levels'", "damaged"),
        ("UPDATE lines SET text = x'ff00' WHERE id = 1", "lines hold a text that is none"),
        ("UPDATE lines SET text = CAST(x'ff' AS TEXT) WHERE id = 1", "damaged"),
        ("UPDATE lines SET speaker = 999 WHERE id = 1", "refers to what is not there"),
        ("UPDATE scenes SET moment = x'00' WHERE id = 1", "damaged"),
        ("UPDATE characters SET profile = 'no JSON' WHERE id = 1", "damaged"),
        ("PRAGMA journal_mode = WAL", "still being written"),
    ],
)
def test_what_is_not_as_it_should_be_is_refused(made: Path, statement: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        check_story_file(changed(made, statement))


def test_another_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a story file"):
        check_story_file(changed(tmp_path / "other.db", "CREATE TABLE more (x)"))


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
def test_damage_is_refused_or_harmless(made: Path, data: st.DataObject) -> None:
    whole = made.read_bytes()
    harmed = made.with_name("harmed.story")
    harmed.write_bytes(data.draw(damage(whole)))
    with contextlib.suppress(InputError):
        check_story_file(harmed)
