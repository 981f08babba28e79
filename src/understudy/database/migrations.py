"""Numbered migrations, recorded in the database itself: the one way in which tables are made and changed.

A database that was made by an older version is brought up to date in one transaction; one of a newer version is
refused. Migrations are only ever appended. What is in many places at once (a server's database, a study's, one of
utterances) is migrated by `migrate`; whoever has a connection of its own to an SQLite file (a story file, the memory of
people) hands its `execute` to `apply_migrations`, within a transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from understudy.database.database import Database, Row
from understudy.errors import InputError

__all__ = ["Migration", "applied_migrations", "apply_migrations", "migrate"]

Migration = tuple[str, Sequence[str]]
"""A name, and statements."""
Execute = Callable[[str, Sequence[Any]], Iterable[Row]]
"""Executes a statement with its parameters, as `Database.rows` and SQLite's connections do."""

TABLE = "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)"


def migrate(database: Database, migrations: Sequence[Migration]) -> None:
    """Create the tables, or bring older ones up to date; a database that is up to date is only read."""
    if not database.has_table("migrations") or applied_migrations(database.rows) != len(migrations):
        database.prepare(lambda: apply_migrations(database.rows, migrations, database.purpose))


def apply_migrations(execute: Execute, migrations: Sequence[Migration], purpose: str) -> None:
    """Apply those that were not applied yet. Errors name the `purpose`, such as "the server's database"."""
    execute(TABLE, ())
    applied = applied_migrations(execute)
    if applied > len(migrations):
        raise InputError(f"{purpose} was made by a newer Understudy: upgrade with `pip install -U understudy`")
    for number, (name, statements) in enumerate(migrations[applied:], applied + 1):
        for statement in statements:
            execute(statement, ())
        now = datetime.now(UTC).isoformat(timespec="seconds")
        execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))


def applied_migrations(execute: Execute) -> int:
    """How many have been applied."""
    ((applied,),) = execute("SELECT coalesce(max(number), 0) FROM migrations", ())
    return int(applied)
