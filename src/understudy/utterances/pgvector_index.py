"""pgvector's HNSW index on the vectors of a large PostgreSQL database, created when it is first needed.

An index needs vectors of one width, which the column does not have, so it is on an expression: `vector` cast to that
width. It is created without blocking writers. Where it cannot be (no right to, an older pgvector, another program is
creating it), `is_ready` says so, and all vectors are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST_K", "PgvectorIndex"]

LARGEST_K = 1000  # the most neighbours that pgvector considers in a search
SMALLEST_SEARCH = 200  # and the fewest that are considered here, for the sake of recall

Rows = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]


class PgvectorIndex:
    """`rows` asks the database; `run_alone` runs statements outside any transaction and without a timeout: True where
    they succeeded, None where it cannot be done now."""

    def __init__(self, rows: Rows, run_alone: Callable[[Sequence[str]], bool | None]) -> None:
        self._rows, self._run_alone = rows, run_alone
        self._lock = Lock()
        self._is_ready: dict[int, bool] = {}  # by width; False after a failure, which is not tried again

    def is_ready(self, width: int) -> bool:
        """Create the index if need be; False where there is none to be used now."""
        if width not in self._is_ready and self._lock.acquire(blocking=False):
            try:
                ready = self._create(width)
                if ready is not None:
                    self._is_ready[width] = ready
            finally:
                self._lock.release()
        return self._is_ready.get(width, False)

    def search(self, vector: NDArray[np.float32], value: str, k: int) -> list[int]:
        """The ids of the nearest vectors, best first; `value` is the vector as a parameter."""
        self._rows("SELECT set_config('hnsw.ef_search', ?, false)", (str(min(max(k, SMALLEST_SEARCH), LARGEST_K)),))
        kind = f"vector({len(vector)})"
        statement = f"""SELECT id FROM utterances WHERE vector IS NOT NULL
                        ORDER BY CAST(vector AS {kind}) <=> CAST(? AS {kind}) LIMIT ?"""
        return [int(number) for (number,) in self._rows(statement, (value, k))]

    def _create(self, width: int) -> bool | None:
        """Whether the index is there; None where that may change, as while another program creates it."""
        name = f"utterances_by_vector_{width}"
        if self._is_valid(name):
            return True
        if self._rows("SELECT 1 FROM pg_stat_progress_create_index", ()):
            return None
        created = self._run_alone(
            (
                f"DROP INDEX CONCURRENTLY IF EXISTS {name}",  # what is left of a creation that was stopped
                f"""CREATE INDEX CONCURRENTLY {name} ON utterances
                    USING hnsw (CAST(vector AS vector({width})) vector_cosine_ops)""",
            )
        )
        return created and self._is_valid(name)

    def _is_valid(self, name: str) -> bool:
        rows = self._rows("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)", (name,))
        return bool(rows and rows[0][0])
