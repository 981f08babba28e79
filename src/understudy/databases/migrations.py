"""Numbered migrations, recorded in the database itself.

An older database is migrated when it is opened, in one transaction. Migrations are only ever appended.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from understudy.databases.database import Database
from understudy.errors import InputError

__all__ = ["Migration", "migrate"]

Migration = tuple[str, Sequence[str]]
"""A name, and statements."""


def migrate(database: Database, steps: Sequence[Migration]) -> None:
    """Create the tables, or bring older ones up to date; a database that is up to date is only read."""
    if not database.has_table("migrations") or _done(database) != len(steps):
        database.prepare(lambda: _migrate(database, steps))


def _migrate(database: Database, steps: Sequence[Migration]) -> None:
    database.rows(
        "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)"
    )
    done = _done(database)
    if done > len(steps):
        raise InputError(f"{database.purpose} was made by a newer Understudy: upgrade with `pip install -U understudy`")
    for number, (name, statements) in enumerate(steps[done:], done + 1):
        for statement in statements:
            database.rows(statement)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        database.rows("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))


def _done(database: Database) -> int:
    ((done,),) = database.rows("SELECT coalesce(max(number), 0) FROM migrations")
    return int(done)
