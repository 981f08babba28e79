"""The tables of a story file, as small numbered migrations recorded in the file itself.

Lines are numbered in story order, so 'before a moment' is a prefix of the line numbers and every question about
time becomes a comparison of integers. A moment is kept as big-endian 32-bit numbers: SQLite compares blobs byte by
byte and a prefix comes first, which is how moments compare.
"""

from __future__ import annotations

import sqlite3
import struct
from datetime import UTC, datetime

from understudy.story import Moment

__all__ = ["APPLICATION", "MIGRATIONS", "migrate", "pack", "unpack", "version_of"]

APPLICATION = 0x55445354  # 'UDST': tells a story file from other SQLite files

MIGRATIONS = [
    (
        1,
        "story",
        """
        CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE files (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, format TEXT NOT NULL, units INTEGER NOT NULL DEFAULT 0,
            lines INTEGER NOT NULL DEFAULT 0, descriptions INTEGER NOT NULL DEFAULT 0,
            headings INTEGER NOT NULL DEFAULT 0, unread INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE unread (
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL);
        CREATE TABLE headings (
            id INTEGER PRIMARY KEY, moment BLOB, title TEXT NOT NULL, before_scene INTEGER NOT NULL,
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL);
        CREATE TABLE scenes (
            id INTEGER PRIMARY KEY, moment BLOB NOT NULL UNIQUE, setting TEXT NOT NULL,
            first INTEGER NOT NULL, last INTEGER NOT NULL,
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL);
        CREATE TABLE characters (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, is_group INTEGER NOT NULL DEFAULT 0,
            profile TEXT NOT NULL DEFAULT '[]', lines INTEGER NOT NULL DEFAULT 0,
            first INTEGER, last INTEGER);
        CREATE TABLE aliases (
            folded TEXT NOT NULL, alias TEXT NOT NULL, character INTEGER NOT NULL REFERENCES characters,
            PRIMARY KEY (folded, character)) WITHOUT ROWID;
        CREATE TABLE lines (
            id INTEGER PRIMARY KEY, scene INTEGER NOT NULL REFERENCES scenes, number INTEGER NOT NULL,
            speaker INTEGER REFERENCES characters, text TEXT NOT NULL,
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL);
        CREATE TABLE presence (
            character INTEGER NOT NULL REFERENCES characters, first INTEGER NOT NULL, last INTEGER NOT NULL,
            scene INTEGER NOT NULL REFERENCES scenes, PRIMARY KEY (character, first, scene)) WITHOUT ROWID;
        CREATE TABLE acquaintance (
            character INTEGER NOT NULL REFERENCES characters, other INTEGER NOT NULL REFERENCES characters,
            met INTEGER, named INTEGER, PRIMARY KEY (character, other)) WITHOUT ROWID;
        CREATE TABLE facts (
            id INTEGER PRIMARY KEY, who INTEGER NOT NULL REFERENCES characters, attribute TEXT NOT NULL,
            content TEXT NOT NULL, since BLOB NOT NULL, until BLOB, known_to TEXT,
            file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL);
        CREATE TABLE relations (
            id INTEGER PRIMARY KEY, of INTEGER NOT NULL REFERENCES characters,
            towards INTEGER NOT NULL REFERENCES characters, kind TEXT NOT NULL, level INTEGER,
            since BLOB NOT NULL, until BLOB, file INTEGER NOT NULL REFERENCES files, line INTEGER NOT NULL);
        """,
    ),
    (
        2,
        "indexes",
        """
        CREATE INDEX lines_by_speaker ON lines (speaker, id);
        CREATE INDEX presence_by_scene ON presence (scene, character);
        CREATE INDEX facts_by_character ON facts (who, attribute, since);
        CREATE INDEX relations_by_character ON relations (of, towards, kind, since);
        CREATE INDEX relations_towards ON relations (towards, of);
        """,
    ),
]


def migrate(connection: sqlite3.Connection, upto: int | None = None) -> None:
    """Bring a new or older file up to date (or up to one migration, which a writer does before its bulk load)."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)"
    )
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    done = version_of(connection)
    for number, name, script in MIGRATIONS:
        if number > done and (upto is None or number <= upto):
            for statement in filter(str.strip, script.split(";")):
                connection.execute(statement)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            connection.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))


def version_of(connection: sqlite3.Connection) -> int:
    (number,) = connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()
    return int(number)


def pack(moment: Moment) -> bytes:
    return struct.pack(f">{len(moment.numbers)}I", *moment.numbers)


def unpack(blob: bytes, levels: tuple[str, ...], *more: int) -> Moment:
    return Moment((*struct.unpack(f">{len(blob) // 4}I", blob), *more), levels)
