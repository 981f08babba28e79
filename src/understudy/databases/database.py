"""What both databases can do: statements with `?` for parameters, in transactions.

A transaction is on the disk when it is over. One writes at a time, so that ids are assigned in the order rows become
visible. What a database cannot do at present (disk full, server gone) is raised as `Unreachable`, whichever it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from understudy.errors import InputError

__all__ = ["Database", "Row", "check_parameters", "is_text"]

NOT_TEXT = re.compile("[\x00\ud800-\udfff]")

Row = tuple[Any, ...]


class Database(Protocol):
    purpose: str
    """What it is for, in words for error messages, such as "the utterance database"."""
    id_type: str
    """The column type of an id that the database assigns."""
    bytes_type: str
    """The column type of bytes."""

    def prepare(self, create_tables: Callable[[], None]) -> None:
        """Call `create_tables` in a transaction."""

    def has_table(self, name: str) -> bool: ...
    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Execute a statement, in the thread's transaction if it has one open."""

    def transaction(self) -> AbstractContextManager[None]: ...
    def erase_deleted(self, tables: Sequence[str]) -> None:
        """Overwrite what deleted rows of some tables have left on the disk."""

    def snapshot(self) -> AbstractContextManager[None]:
        """What the thread reads meanwhile is of one state of the database. Waits for no transaction."""

    def reserve_ids(self, table: str, count: int) -> list[int]:
        """Ids for rows that are inserted later, in a transaction."""

    def close(self) -> None: ...


def is_text(text: str) -> bool:
    """Can both databases store it? PostgreSQL takes no NUL character, and a lone surrogate has no UTF-8."""
    return NOT_TEXT.search(text) is None


def check_parameters(parameters: Sequence[Any]) -> None:
    for value in parameters:
        if isinstance(value, str) and not is_text(value):
            raise InputError(
                "a text with a NUL character, or with half of a surrogate pair, can be neither kept nor looked for: "
                "clean it first"
            )
