"""SQLite and PostgreSQL with pgvector, with a search for the vectors nearest to one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from understudy.database.postgres import READ_TIMEOUTS, WRITE_TIMEOUTS, Postgres, Timeouts
from understudy.database.sqlite import Sqlite
from understudy.errors import MissingExtra
from understudy.metrics.utterances.vector_indexes import LARGEST_SEARCH, PgvectorIndex, Progress, Vector, VectorGraph

__all__ = ["PURPOSE", "UtteranceDatabase", "UtterancePostgres", "UtteranceSqlite"]

APPLICATION_ID = 0x55445554  # 'UDUT': tells an utterance database from other databases
PURPOSE = "the utterance database"
EXACT_UP_TO = 50_000
"""Vectors that are all compared with the query; where more match, an index finds nearly all of the nearest."""
FIRST_K = 4  # neighbours asked of an index for each result wanted, before the condition is checked


class _VectorSearch(ABC):
    """`nearest` of a database: all vectors that match are compared, or an index finds nearly all of the nearest."""

    vector_type: str
    """The column type of a vector."""
    vector_parameter: str
    """The placeholder of a vector in a statement."""
    largest_k: int
    """Neighbours after which the exact search is the better choice."""
    rows: Callable[..., list[tuple[Any, ...]]]

    @abstractmethod
    def vector_value(self, vector: Vector) -> Any:
        """A vector as the value of a `vector_parameter`."""

    @abstractmethod
    def _neighbours(self, vector: Vector, k: int, progress: Progress | None) -> list[int]:
        """The ids of the nearest vectors, of any utterance, best first.

        :raises MissingExtra, OSError, RuntimeError: there is no index to be used now.
        """

    @abstractmethod
    def _rank(self, where: str, parameters: Sequence[Any], vector: Vector, count: int) -> list[tuple[int, float]]:
        """(id, cosine) of all utterances that fulfil a condition, best first, equals by id."""

    def nearest(
        self, vector: Vector, where: str, parameters: Sequence[Any], count: int, progress: Progress | None = None
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the utterances most like a vector that fulfil a condition, best first."""
        where = f"vector IS NOT NULL AND {where}"
        if self._exceeds_exact_search(where, parameters):
            with suppress(MissingExtra, OSError, RuntimeError):
                k = FIRST_K * count
                while k <= self.largest_k:
                    ids = self._neighbours(vector, k, progress)
                    results = self._rank(f"id IN ({', '.join(map(str, ids))}) AND {where}", parameters, vector, count)
                    if len(results) == count:
                        return results
                    if len(ids) < k:
                        break
                    k *= FIRST_K
        return self._rank(where, parameters, vector, count)

    def _exceeds_exact_search(self, where: str, parameters: Sequence[Any]) -> bool:
        """Do more than EXACT_UP_TO utterances fulfil a condition?"""
        ((newest,),) = self.rows("SELECT coalesce(max(id), 0) FROM utterances")
        if newest <= EXACT_UP_TO:
            return False
        matching = f"SELECT 1 FROM utterances WHERE {where} LIMIT ?"  # counts no further than need be
        ((count,),) = self.rows(f"SELECT count(*) FROM ({matching}) AS matching", (*parameters, EXACT_UP_TO + 1))
        return int(count) > EXACT_UP_TO


class UtteranceSqlite(Sqlite, _VectorSearch):
    vector_type = "BLOB"
    vector_parameter = "?"
    largest_k = 16_384

    def __init__(self, path: Path) -> None:
        super().__init__(path, APPLICATION_ID, PURPOSE)
        self._graph = VectorGraph(path.with_name(f"{path.name}.vectors"), self.rows)

    def vector_value(self, vector: Vector) -> bytes:
        return vector.astype("<f4").tobytes()

    def _neighbours(self, vector: Vector, k: int, progress: Progress | None) -> list[int]:
        return self._graph.search(vector, k, progress)

    def _rank(self, where: str, parameters: Sequence[Any], vector: Vector, count: int) -> list[tuple[int, float]]:
        rows = self.rows(f"SELECT id, vector FROM utterances WHERE {where} ORDER BY id", parameters)
        if not rows:
            return []
        cosine = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(len(rows), -1) @ vector
        best = np.argsort(-cosine, kind="stable")[:count]
        return [(rows[index][0], float(cosine[index])) for index in best]


class UtterancePostgres(Postgres, _VectorSearch):
    vector_type = "vector"
    vector_parameter = "CAST(? AS vector)"
    largest_k = LARGEST_SEARCH

    def __init__(
        self, address: str, read_timeouts: Timeouts = READ_TIMEOUTS, write_timeouts: Timeouts = WRITE_TIMEOUTS
    ) -> None:
        super().__init__(address, APPLICATION_ID, PURPOSE, read_timeouts, write_timeouts)
        self._index = PgvectorIndex(self.rows, self.run_alone)

    def prepare(self, create_tables: Callable[[], None]) -> None:
        def create_extension_and_tables() -> None:
            self.rows("CREATE EXTENSION IF NOT EXISTS vector")
            create_tables()

        super().prepare(create_extension_and_tables)

    def vector_value(self, vector: Vector) -> str:
        return "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"

    def _neighbours(self, vector: Vector, k: int, progress: Progress | None) -> list[int]:  # noqa: ARG002
        return self._index.search(vector, self.vector_value(vector), k)

    def _rank(self, where: str, parameters: Sequence[Any], vector: Vector, count: int) -> list[tuple[int, float]]:
        rows = self.rows(
            f"""SELECT id, distance FROM (SELECT id, vector <=> CAST(? AS vector) AS distance FROM utterances
                WHERE {where}) AS measured ORDER BY distance, id LIMIT ?""",
            (self.vector_value(vector), *parameters, count),
        )
        return [(number, 1 - float(distance)) for number, distance in rows]


UtteranceDatabase = UtteranceSqlite | UtterancePostgres
