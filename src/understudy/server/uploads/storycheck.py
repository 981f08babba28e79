"""A story file that somebody sent: is it one, whole, and nothing but one?

A story file is a database, and a database can hold more than data: triggers, views, tables that are not what they
say. So its tables must be exactly those of a story file made here, it must be sound, and everything in it must be
readable as what it should be, before the server opens it.
"""

from __future__ import annotations

import sqlite3
import struct
from collections import deque
from contextlib import closing
from pathlib import Path

from understudy.errors import InputError, UnderstudyError
from understudy.storyfile import Story
from understudy.storyfile.schema import migrate

__all__ = ["check_story_file", "is_story_file"]

MAGIC = b"SQLite format 3\0"
VERSIONS = slice(18, 20)  # of the header: 1 and 1, where the file is complete without another beside it
BAD = (sqlite3.Error, ValueError, KeyError, TypeError, AttributeError, struct.error, UnderstudyError)


def is_story_file(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def check_story_file(path: Path) -> None:
    """Raises an `InputError` that says what is wrong with it."""
    with path.open("rb") as file:
        header = file.read(100)
    if header[VERSIONS] != b"\1\1":
        raise InputError("is still being written to: make it again with `understudy read`", path)
    try:
        story = Story.open(path)
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            if _tables(connection) != _expected():
                raise InputError("holds tables that a story file does not have: read its source again", path)
            if not _is_sound(connection):
                raise InputError("is damaged: read its source again", path)
            if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
                raise InputError("is damaged, it refers to what is not there: read its source again", path)
            _check_types(connection, path)
        _walk(story)
    except InputError:
        raise
    except BAD as error:
        raise InputError(f"is damaged ({error}): read its source again", path) from error


def _tables(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return {(kind, name, " ".join(sql.split())) for kind, name, sql in rows}


def _expected() -> set[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        migrate(connection)
        return _tables(connection)


def _is_sound(connection: sqlite3.Connection) -> bool:
    """SQLite's own check. Some versions of it see missing values where tables without row numbers have none; whether a
    value is missing is looked at by `_check_types`."""
    found = (str(told) for (told,) in connection.execute(f"PRAGMA integrity_check({2**31 - 1})"))
    return all(told == "ok" or told.startswith("NULL value in ") for told in found)


def _check_types(connection: sqlite3.Connection, path: Path) -> None:
    """SQLite keeps whatever it is given in a column of any type."""
    for _, table, _ in (found for found in _tables(connection) if found[0] == "table"):
        for _, column, declared, required, *_ in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
            kinds = [declared.lower(), *([] if required else ["null"])]
            wrong = f'SELECT 1 FROM "{table}" WHERE typeof("{column}") NOT IN ({", ".join("?" * len(kinds))}) LIMIT 1'
            if connection.execute(wrong, kinds).fetchone() is not None:
                raise InputError(f"is damaged (its {table} hold a {column} that is none): read its source again", path)


def _walk(story: Story) -> None:
    """Everything the server will ever ask of it, asked once."""
    story.files(), story.cast(), story.last_moment(), story.count()
    for found in (story.scenes(), story.headings(), story.unread(), story.facts(), story.relations(), story.outline()):
        deque(found, maxlen=0)
