"""The tables of the utterance database, as numbered migrations that are recorded in the database itself.

An older database is migrated when it is opened, in one transaction. The first migration skips tables that exist:
databases from before migrations were recorded have them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from understudy.errors import InputError
from understudy.utterances.databases import Database
from understudy.utterances.record import FILTER

__all__ = ["migrate"]


def migrate(database: Database) -> None:
    """Create the tables, or bring older ones up to date; a database that is up to date is only read."""
    if not database.has_table("migrations") or _done(database) != len(_steps(database)):
        database.prepare(lambda: _migrate(database))


def _migrate(database: Database) -> None:
    database.rows(
        "CREATE TABLE IF NOT EXISTS migrations (number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied TEXT NOT NULL)"
    )
    done, steps = _done(database), _steps(database)
    if done > len(steps):
        raise InputError(
            "the utterance database was made by a newer Understudy: upgrade with `pip install -U understudy`"
        )
    for number, (name, statements) in enumerate(steps, 1):
        if number > done:
            for statement in statements:
                database.rows(statement)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            database.rows("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))


def _done(database: Database) -> int:
    ((done,),) = database.rows("SELECT coalesce(max(number), 0) FROM migrations")
    return int(done)


def _steps(database: Database) -> Sequence[tuple[str, Sequence[str]]]:
    """The name and statements of each migration."""
    return (
        ("tables", _tables(database)),
        # Older lines are not bound to a story.
        ("stories", ("ALTER TABLE utterances ADD COLUMN story TEXT NOT NULL DEFAULT ''",)),
    )


def _tables(database: Database) -> Sequence[str]:
    return (
        f"""CREATE TABLE IF NOT EXISTS utterances (
            id {database.id_type}, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL, character TEXT NOT NULL,
            since TEXT NOT NULL, until TEXT NOT NULL, file TEXT NOT NULL, line BIGINT NOT NULL,
            vector {database.vector_type}, decision TEXT NOT NULL, decided_by TEXT NOT NULL,
            decided_at TEXT NOT NULL)""",
        """CREATE TABLE IF NOT EXISTS scores (
            utterance BIGINT NOT NULL REFERENCES utterances, metric TEXT NOT NULL, value DOUBLE PRECISION,
            reason TEXT NOT NULL, PRIMARY KEY (utterance, metric))""",
        f"""CREATE TABLE IF NOT EXISTS decisions (
            id {database.id_type}, utterance BIGINT NOT NULL REFERENCES utterances, decision TEXT NOT NULL,
            decided_by TEXT NOT NULL, decided_at TEXT NOT NULL, why TEXT NOT NULL)""",
        "CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, line BIGINT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS utterances_by_character ON utterances (character, decision, id)",
        "CREATE INDEX IF NOT EXISTS decisions_of_utterance ON decisions (utterance, id)",
        "DROP INDEX IF EXISTS scores_by_metric",
        "CREATE INDEX IF NOT EXISTS scores_by_value ON scores (metric, value, utterance)",
        f"CREATE INDEX IF NOT EXISTS decisions_of_people ON decisions (utterance) WHERE decided_by <> '{FILTER}'",
    )
