"""The utterance database: lines that may be said, by whom, from when to when, and who decided so.

    store = open_store("lines.db")                       SQLite, in one file
    store = open_store("postgresql://me@host/lines")     PostgreSQL with pgvector, for teams

Nothing is ever deleted: a decision is one more entry, and so is taking it back.
"""

from __future__ import annotations

from understudy.metrics.utterances.record import (
    APPROVED,
    DECISIONS,
    FILTER,
    PENDING,
    REJECTED,
    Decision,
    Sayable,
    StoredUtterance,
    Utterance,
)
from understudy.metrics.utterances.store import UtteranceStore, open_store

__all__ = [
    "APPROVED",
    "DECISIONS",
    "FILTER",
    "PENDING",
    "REJECTED",
    "Decision",
    "Sayable",
    "StoredUtterance",
    "Utterance",
    "UtteranceStore",
    "open_store",
]
