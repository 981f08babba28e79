"""The tables of the utterance database.

The first migration skips tables that exist: databases from before migrations were recorded have them.
"""

from __future__ import annotations

from collections.abc import Sequence

from understudy.databases import Migration
from understudy.utterances.databases import UtteranceDatabase
from understudy.utterances.record import FILTER

__all__ = ["migrations"]


def migrations(database: UtteranceDatabase) -> Sequence[Migration]:
    return (
        ("tables", _tables(database)),
        # Older lines are not bound to a story.
        ("stories", ("ALTER TABLE utterances ADD COLUMN story TEXT NOT NULL DEFAULT ''",)),
    )


def _tables(database: UtteranceDatabase) -> Sequence[str]:
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
