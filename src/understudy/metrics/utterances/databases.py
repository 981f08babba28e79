"""SQLite and PostgreSQL with pgvector, with a search for the vectors nearest to one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.database import Database, Postgres, Sqlite
from understudy.database.postgres import READ_TIMEOUTS, WRITE_TIMEOUTS, Timeouts
from understudy.errors import MissingExtra
from understudy.metrics.utterances import vector_index
from understudy.metrics.utterances.vector_index import PgvectorIndex, Progress, VectorGraph

__all__ = ["EXACT_UP_TO", "PURPOSE", "UtteranceDatabase", "UtterancePostgres", "UtteranceSqlite", "Vector"]

APPLICATION_ID = 0x55445554  # 'UDUT': tells an utterance database from other databases
PURPOSE = "the utterance database"
EXACT_UP_TO = 50_000
"""Vectors that are all compared with the query; where more match, an index finds nearly all of the nearest."""
FIRST_K = 4  # neighbours asked of an index for each result wanted, before the condition is checked
LARGEST_K = 16_384  # neighbours after which the exact search is the better choice

Vector = NDArray[np.float32]


class UtteranceDatabase(Database, Protocol):
    vector_type: str
    """The column type of a vector."""
    vector_parameter: str
    """The placeholder of a vector in a statement."""

    def vector_value(self, vector: Vector) -> Any:
        """A vector as the value of a `vector_parameter`."""

    def nearest(
        self, vector: Vector, where: str, parameters: Sequence[Any], count: int, progress: Progress | None = None
    ) -> list[tuple[int, float]]:
        """(id, cosine) of the utterances most like a vector that fulfil a condition, best first."""


class UtteranceSqlite(Sqlite):
    vector_type = "BLOB"
    vector_parameter = "?"

    def __init__(self, path: Path) -> None:
        super().__init__(path, APPLICATION_ID, PURPOSE)
        self._graph = VectorGraph(path.with_name(f"{path.name}.vectors"), self.rows)

    def vector_value(self, vector: Vector) -> bytes:
        return vector.astype("<f4").tobytes()

    def nearest(
        self, vector: Vector, where: str, parameters: Sequence[Any], count: int, progress: Progress | None = None
    ) -> list[tuple[int, float]]:
        where = f"vector IS NOT NULL AND {where}"
        if _exceeds_exact_search(self, where, parameters):
            with suppress(MissingExtra, OSError, RuntimeError):  # no usearch, or its file cannot be written
                results = _search_index(
                    lambda k: self._graph.search(vector, k, progress),
                    lambda ids: self._rank(f"id IN ({ids}) AND {where}", parameters, vector, count),
                    count,
                    LARGEST_K,
                )
                if len(results) == count:
                    return results
        return self._rank(where, parameters, vector, count)

    def _rank(self, where: str, parameters: Sequence[Any], vector: Vector, count: int) -> list[tuple[int, float]]:
        """(id, cosine) of all utterances that fulfil a condition, best first, equals by id."""
        rows = self.rows(f"SELECT id, vector FROM utterances WHERE {where} ORDER BY id", parameters)
        if not rows:
            return []
        cosine = np.frombuffer(b"".join(blob for _, blob in rows), "<f4").reshape(len(rows), -1) @ vector
        best = np.argsort(-cosine, kind="stable")[:count]
        return [(rows[index][0], float(cosine[index])) for index in best]


class UtterancePostgres(Postgres):
    vector_type = "vector"
    vector_parameter = "CAST(? AS vector)"

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

    def nearest(
        self,
        vector: Vector,
        where: str,
        parameters: Sequence[Any],
        count: int,
        progress: Progress | None = None,  # noqa: ARG002
    ) -> list[tuple[int, float]]:
        where = f"vector IS NOT NULL AND {where}"
        if _exceeds_exact_search(self, where, parameters) and self._index.is_ready(len(vector)):
            results = _search_index(
                lambda k: self._index.search(vector, self.vector_value(vector), k),
                lambda ids: self._rank(f"id IN ({ids}) AND {where}", parameters, vector, count),
                count,
                vector_index.LARGEST_K,
            )
            if len(results) == count:
                return results
        return self._rank(where, parameters, vector, count)

    def _rank(self, where: str, parameters: Sequence[Any], vector: Vector, count: int) -> list[tuple[int, float]]:
        """(id, cosine) of all utterances that fulfil a condition, best first, equals by id."""
        rows = self.rows(
            f"""SELECT id, distance FROM (SELECT id, vector <=> CAST(? AS vector) AS distance FROM utterances
                WHERE {where}) AS measured ORDER BY distance, id LIMIT ?""",
            (self.vector_value(vector), *parameters, count),
        )
        return [(number, 1 - float(distance)) for number, distance in rows]


def _exceeds_exact_search(database: Database, where: str, parameters: Sequence[Any]) -> bool:
    """Do more than EXACT_UP_TO utterances fulfil a condition?"""
    ((newest,),) = database.rows("SELECT coalesce(max(id), 0) FROM utterances")
    if newest <= EXACT_UP_TO:
        return False
    matching = f"SELECT 1 FROM utterances WHERE {where} LIMIT ?"  # counts no further than need be
    ((count,),) = database.rows(f"SELECT count(*) FROM ({matching}) AS matching", (*parameters, EXACT_UP_TO + 1))
    return int(count) > EXACT_UP_TO


def _search_index(
    neighbours: Callable[[int], list[int]], rank: Callable[[str], list[tuple[int, float]]], count: int, largest_k: int
) -> list[tuple[int, float]]:
    """Ask an index for ever more neighbours, until `count` of them fulfil the condition that `rank` checks; fewer than
    `count` where not enough of `largest_k` do. `rank` is given the ids as a list for IN (...)."""
    k, results = FIRST_K * count, list[tuple[int, float]]()
    while k <= largest_k:
        ids = neighbours(k)
        results = rank(", ".join(map(str, ids)))
        if len(results) == count or len(ids) < k:
            break
        k *= FIRST_K
    return results
