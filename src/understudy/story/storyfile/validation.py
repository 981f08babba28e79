"""Is a file a story file, whole, and nothing but one?

A story file is a database that may come from anybody. It can hold more than data (triggers, views, tables that are not
what they say), and values of the wrong type or out of range, which SQLite keeps as they are. Code that reads stories
trusts them, so all of this is checked before a file is opened: the tables must be exactly those of a story file made
here, the database must be sound, and every value must be what its column is for.

Looking at a million lines takes seconds, so files that have been validated are remembered between runs. A file is known
again by its place on the disk, its size, its times and its header, in which SQLite counts changes. An empty file in the
user's cache folder stands for it; where that folder cannot be written to, it is forgotten with the process. What a
`StoryWriter` has just written needs no validation.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from understudy.errors import InputError
from understudy.story.storyfile.database import (
    APPLICATION,
    MIGRATIONS,
    NAMES_VERSION,
    OLDEST,
    SPANS_VERSION,
    StepBudget,
    address_of,
    connect,
    migrate,
    span_problems,
    version_of,
)
from understudy.story.storyfile.people import card_problems
from understudy.story.user_folders import cache_folder
from understudy.text import LANGUAGES

MAGIC = b"SQLite format 3\0"
VERSIONS = slice(18, 20)  # of the header: 1 and 1, where the file is complete without another beside it
MOST_LEVELS = 12
LISTS = ("levels", "attributes", "kinds")

# Readers keep to far less; story files that were made before they did are still opened.
LONGEST_NAME, LONGEST_TITLE, LONGEST_VALUES = 2_000, 20_000, 1_000_000

# Each selects rows that no story file has. {scene} is the length of a scene's moment in bytes, {deepest} of a line's.
MOMENT = "length({0}) % 4 <> 0 OR length({0}) NOT BETWEEN 4 AND {{deepest}}"
UNSOUND: tuple[tuple[str, str], ...] = (
    (
        "its lines are not numbered from 1 on",
        """SELECT 1 FROM (SELECT count(*) AS number, min(id) AS first, max(id) AS last FROM lines)
           WHERE first <> 1 OR last <> number""",
    ),
    (
        "a scene does not begin where the one before it ends",
        """SELECT 1 FROM (SELECT id, first, last, lag(last, 1, 0) OVER (ORDER BY id) AS before FROM scenes)
           WHERE id < 1 OR first <> before + 1 OR last < first - 1""",
    ),
    (
        "its scenes end before or after its lines",
        "SELECT 1 WHERE (SELECT coalesce(max(last), 0) FROM scenes) <> (SELECT coalesce(max(id), 0) FROM lines)",
    ),
    ("a scene's moment is none", "SELECT 1 FROM scenes WHERE length(moment) <> {scene}"),
    (
        "its scenes are out of order",
        """SELECT 1 FROM (SELECT moment, lag(moment, 1, x'') OVER (ORDER BY id) AS before FROM scenes)
           WHERE moment <= before""",
    ),
    (
        "a line is not where its scene is",
        """SELECT 1 FROM lines LEFT JOIN scenes ON scenes.id = lines.scene
           WHERE scenes.id IS NULL OR lines.id NOT BETWEEN first AND last OR number <> lines.id - first + 1""",
    ),
    (
        "somebody is present outside of the scene",
        """SELECT 1 FROM presence LEFT JOIN scenes ON scenes.id = presence.scene
           WHERE scenes.id IS NULL OR presence.first < scenes.first OR presence.last > scenes.last
           OR presence.first > presence.last""",
    ),
    (
        "somebody is present twice at a time",
        """SELECT 1 FROM (SELECT first, lag(last, 1, 0) OVER (PARTITION BY character ORDER BY first) AS before
           FROM presence) WHERE first <= before""",
    ),
    (
        "a character's number of lines is wrong",
        """SELECT 1 FROM characters LEFT JOIN
           (SELECT speaker, count(*) AS said, min(id) AS earliest, max(id) AS latest FROM lines GROUP BY speaker)
           ON speaker = characters.id
           WHERE lines <> coalesce(said, 0) OR first IS NOT earliest OR last IS NOT latest OR is_group NOT IN (0, 1)""",
    ),
    (
        "somebody met or was named at no line of it",
        """SELECT 1 FROM acquaintance WHERE met NOT BETWEEN 1 AND (SELECT max(id) FROM lines)
           OR named NOT BETWEEN 1 AND (SELECT max(id) FROM lines)""",
    ),
    ("a name is longer than any is", f"SELECT 1 FROM characters WHERE length(name) > {LONGEST_NAME}"),
    ("an alias is longer than any is", f"SELECT 1 FROM aliases WHERE length(alias) > {LONGEST_NAME}"),
    ("a heading is longer than any is", f"SELECT 1 FROM headings WHERE length(title) > {LONGEST_TITLE}"),
    ("a setting is longer than any is", f"SELECT 1 FROM scenes WHERE length(setting) > {LONGEST_VALUES}"),
    (
        "a fact is longer than any is",
        f"SELECT 1 FROM facts WHERE length(attribute) > {LONGEST_NAME} OR length(content) > {LONGEST_VALUES}",
    ),
    ("a tie's kind is longer than any is", f"SELECT 1 FROM relations WHERE length(kind) > {LONGEST_NAME}"),
    ("a count is below zero", "SELECT 1 FROM files WHERE min(units, lines, descriptions, headings, unread) < 0"),
    ("a heading's moment is none", "SELECT 1 FROM headings WHERE " + MOMENT.format("moment")),
    ("a fact's date is none", f"SELECT 1 FROM facts WHERE {MOMENT.format('since')} OR {MOMENT.format('until')}"),
    ("a tie's date is none", f"SELECT 1 FROM relations WHERE {MOMENT.format('since')} OR {MOMENT.format('until')}"),
    ("a tie's level is out of range", "SELECT 1 FROM relations WHERE level NOT BETWEEN -10 AND 10"),
)  # fmt: skip

MISPLACED_NAMES = "SELECT 1 FROM names WHERE line NOT BETWEEN 1 AND (SELECT max(id) FROM lines) LIMIT 1"


def is_story_file(path: Path) -> bool:
    """By its first bytes; whether it is a good one, `validate_story_file` says."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def validate_story_file(path: Path) -> None:
    """Raises an `InputError` that says what is wrong with a file. Reads all of it once."""
    if not path.is_file():
        raise InputError("no such story file", path)
    try:
        with path.open("rb") as file:
            header = file.read(100)
        with closing(connect(address_of(path), path)) as connection:
            StepBudget(path).limit(connection)
            _check_version(connection, path)
            if header[VERSIONS] != b"\1\1":
                raise InputError("is still being written to: make it again with `understudy read`", path)
            for problem in _problems(connection):
                raise InputError(f"is damaged ({problem}): read its source again", path)
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", path) from error
    except (sqlite3.Error, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"is not a story file, or it is damaged ({error}): read its source again", path) from error


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Is it a story file, of this version, with nothing else in it?"""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        raise InputError("is a database, but not a story file: make one with `understudy read`", path)
    tables, newest = _tables(connection), len(MIGRATIONS)
    recorded = {table for table in _expected_tables(newest) if table[1] == "migrations"}
    version = version_of(connection) if recorded <= tables else newest
    if version > newest:
        raise InputError("was made by a newer Understudy: upgrade with `pip install -U understudy`", path)
    if version < OLDEST:
        raise InputError("was made by an older Understudy, or never finished: read its source again", path)
    if tables != _expected_tables(version):
        raise InputError("holds tables that a story file does not have, or lacks some: read its source again", path)


def _tables(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    rows = connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master")
    return {(str(kind), str(name), " ".join(str(sql).split())) for kind, name, sql in rows}


@cache
def _expected_tables(version: int) -> frozenset[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        migrate(connection, upto=version)
        return frozenset(_tables(connection))


def _problems(connection: sqlite3.Connection) -> Iterator[str]:
    """What is wrong with it, the plainest first: later checks rely on the earlier ones."""
    yield from _corruption(connection)
    if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
        yield "it refers to what is not there"
    yield from _wrong_types(connection)
    about: dict[str, str] = dict(connection.execute("SELECT key, value FROM about"))
    yield from _wrong_about(about)
    yield from _wrong_lists(connection)
    if version_of(connection) > OLDEST:
        yield from card_problems(connection)
    if version_of(connection) >= SPANS_VERSION:
        yield from span_problems(connection)
    if version_of(connection) >= NAMES_VERSION and connection.execute(MISPLACED_NAMES).fetchone() is not None:
        yield "a name stands in no line of it"
    levels = len(json.loads(about["levels"]))
    for problem, query in UNSOUND:
        unsound_rows = connection.execute(f"{query.format(scene=4 * (levels - 1), deepest=4 * levels)} LIMIT 1")
        if unsound_rows.fetchone() is not None:
            yield problem


def _corruption(connection: sqlite3.Connection) -> Iterator[str]:
    """SQLite's own check. Some versions of it see missing values where tables without row numbers have none; whether a
    value is missing is looked at by `_wrong_types`."""
    for (message,) in connection.execute(f"PRAGMA integrity_check({2**31 - 1})"):
        if message != "ok" and not str(message).startswith("NULL value in "):
            yield str(message)


def _wrong_types(connection: sqlite3.Connection) -> Iterator[str]:
    """SQLite keeps whatever it is given in a column of any type. Text is read as well: it may not be UTF-8."""
    for table in sorted(name for kind, name, _ in _expected_tables(version_of(connection)) if kind == "table"):
        texts = []
        for _, column, declared, required, *_ in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
            kinds = [declared.lower(), *([] if required else ["null"])]
            wrong = f'SELECT 1 FROM "{table}" WHERE typeof("{column}") NOT IN ({", ".join("?" * len(kinds))}) LIMIT 1'
            if connection.execute(wrong, kinds).fetchone() is not None:
                yield f"its {table} hold a {column} that is none"
            if declared == "TEXT":
                texts.append(f'"{column}"')
        if texts:
            deque(connection.execute(f'SELECT {", ".join(texts)} FROM "{table}"'), maxlen=0)


def _wrong_about(about: Mapping[str, str]) -> Iterator[str]:
    for key in ("title", "language", *LISTS):
        if key not in about:
            yield f"it does not say its {key}"
        elif key in LISTS and not _is_list_of(str, about[key]):
            yield f"its {key} are no list of words"
    if len(about["title"]) > LONGEST_TITLE:
        yield "its title is longer than any is"
    if about["language"] not in LANGUAGES:
        yield f"its language is none of {', '.join(LANGUAGES)}"
    if not 2 <= len(json.loads(about["levels"])) <= MOST_LEVELS:
        yield "it does not count by two levels or more"


def _wrong_lists(connection: sqlite3.Connection) -> Iterator[str]:
    people = {number for (number,) in connection.execute("SELECT id FROM characters")}
    for (profile,) in connection.execute("SELECT profile FROM characters WHERE profile <> '[]'"):
        if not _is_list_of(str, profile):
            yield "a profile is no list of sentences"
    for content, known_to in connection.execute("SELECT content, known_to FROM facts"):
        if not _is_list_of(str, content):
            yield "a fact is no list of words"
        if known_to is not None and not (_is_list_of(int, known_to) and people.issuperset(json.loads(known_to))):
            yield "a fact is known to somebody who is not there"


def _is_list_of(kind: type, text: str) -> bool:
    values = json.loads(text)
    if not isinstance(values, list) or not all(type(value) is kind for value in values):
        return False
    if kind is str:
        "".join(values).encode()  # half of a character passes json.loads, but can be written nowhere
    return True


CHECKS = 3  # counted up when `validate_story_file` looks at more than before
HEADER_BYTES = 100
MOST_REMEMBERED = 1000
SETTLED_NS = 100_000_000  # a file younger than that may change again within one tick of the clock of its file system

_validated: set[str] = set()


class Identity(NamedTuple):
    """What a file is known by, as long as nobody writes to it."""

    key: str
    changed_ns: int


def identity_of(path: Path) -> Identity:
    if not path.is_file():
        raise InputError("no such story file", path)
    try:
        with path.open("rb") as file:
            stat, header = os.fstat(file.fileno()), file.read(HEADER_BYTES)
    except OSError as error:
        raise InputError(f"cannot be opened: {error.strerror}", path) from error
    changed = max(stat.st_mtime_ns, stat.st_ctime_ns)
    identity = (CHECKS, len(MIGRATIONS), stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, changed, header)
    return Identity(sha256(repr(identity).encode()).hexdigest(), changed)


def is_validated(identity: Identity) -> bool:
    with contextlib.suppress(OSError, RuntimeError):  # a user without a home
        if identity.key not in _validated and _marker(identity).exists():
            _validated.add(identity.key)
    return identity.key in _validated


def remember_validated(identity: Identity, written_here: bool = False) -> None:
    """`written_here`: nobody else has had a chance to change it, however young it is."""
    if not written_here and abs(time.time_ns() - identity.changed_ns) < SETTLED_NS:
        return
    _validated.add(identity.key)
    with contextlib.suppress(OSError, RuntimeError):
        marker = _marker(identity)
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
        _forget_oldest(marker.parent)


def _marker(identity: Identity) -> Path:
    return cache_folder() / "validated" / identity.key


def _forget_oldest(folder: Path) -> None:
    markers = list(folder.iterdir())
    if len(markers) > MOST_REMEMBERED:
        for marker in sorted(markers, key=lambda marker: marker.stat().st_mtime)[: len(markers) // 2]:
            marker.unlink(missing_ok=True)
