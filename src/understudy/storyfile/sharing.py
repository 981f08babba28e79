"""A connection that any number of threads may put questions to, one at a time.

SQLite would make them wait itself, but while it does, Python may hold its own lock; and a persona's connection needs
that lock for the authorizer (see `past`) before it lets go of what all connections to a story share. So everybody
waits here, where waiting keeps nothing from anybody.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Any

__all__ = ["SharedConnection"]

Row = tuple[Any, ...]
AT_ONCE = 500  # rows of a stream that are fetched in one turn


class SharedConnection:
    """Questions in, rows out; no cursor leaves it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._turn = Lock()

    def __del__(self) -> None:
        self._connection.close()  # which refers to itself: left alone it would keep its file open for a good while

    def rows(self, question: str, parameters: Sequence[Any] = ()) -> list[Row]:
        with self._turn:
            return self._connection.execute(question, parameters).fetchall()

    def row(self, question: str, parameters: Sequence[Any] = ()) -> Row | None:
        return next(iter(self.rows(question, parameters)), None)

    def stream(self, question: str, parameters: Sequence[Any] = ()) -> Iterator[Row]:
        """For answers that may be too long to be held: a few rows a turn."""
        with self._turn:
            cursor = self._connection.execute(question, parameters)
            rows = cursor.fetchmany(AT_ONCE)
        while rows:
            yield from rows
            with self._turn:
                rows = cursor.fetchmany(AT_ONCE)
