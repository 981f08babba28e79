"""SQLite and PostgreSQL with pgvector, with a search for the vectors nearest to one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.database import Database, Postgres, Sqlite
from understudy.database.postgres import READ_TIMEOUTS, WRITE_TIMEOUTS, Timeouts
from understudy.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from understudy.language.encoding.index import GraphIndex

__all__ = [
    "EXACT_UP_TO",
    "PURPOSE",
    "PgvectorIndex",
    "Progress",
    "UtteranceDatabase",
    "UtterancePostgres",
    "UtteranceSqlite",
    "Vector",
    "VectorGraph",
]

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
                LARGEST_SEARCH,
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


# Nearest-neighbour indexes of large utterance databases, built when they are first needed.
#
# SQLite has a graph of near neighbours in a file beside the database: `lines.db.vectors`. A graph search looks at a few
# thousand vectors instead of all. Its keys are utterance ids. It is extended by ids that are new; utterances are never
# deleted and their vectors never changed, so nothing else can happen to it. A file that does not belong to the
# database, because one of the two was replaced, is built anew.
#
# PostgreSQL has pgvector's HNSW index. An index needs vectors of one width, which the column does not have, so it is on
# an expression: `vector` cast to that width. It is created without blocking writers. Where it cannot be (no right to,
# an older pgvector, another program is creating it), `is_ready` says so, and all vectors are compared.


BATCH = 20_000  # vectors that are read from the database at a time
SAMPLES = 16  # vectors by which a file is compared with the database
TOLERANCE = 2e-3  # of a component: the graph keeps vectors of length 1 as float16

Rows = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
Progress = Callable[[int, int], None]
"""Called with how many vectors are in the graph, and the last id of the database."""

LARGEST_SEARCH = 1000  # the most neighbours that pgvector considers in a search
SMALLEST_SEARCH = 200  # and the fewest that are considered here, for the sake of recall


class VectorGraph:
    """Finds the ids of near vectors; `rows` asks the database."""

    def __init__(self, path: Path, rows: Rows) -> None:
        self._path, self._rows = path, rows
        self._lock = Lock()
        self._graph: GraphIndex | None = None
        self._last = 0  # the last id that was looked at

    def __len__(self) -> int:
        return 0 if self._graph is None else len(self._graph)

    def search(self, vector: Vector, count: int, progress: Progress | None = None) -> list[int]:
        """The ids of the nearest vectors, of any utterance, best first; MissingExtra without usearch."""
        with self._lock:  # the first to come builds, the others wait for it
            graph = self._up_to_date(len(vector), progress)
        return [key for key, _ in graph.search(vector, count)]

    def _up_to_date(self, width: int, progress: Progress | None) -> GraphIndex:
        from understudy.language.encoding.index import GraphIndex

        if self._graph is None:
            self._graph = self._opened(width)
            self._last = 0 if self._graph is None else self._graph.last_key
        ((newest,),) = self._rows("SELECT coalesce(max(id), 0) FROM utterances", ())
        if self._graph is None or newest > self._last:
            try:
                self._graph = GraphIndex.extend(self._path, self._batches(newest, progress))
            except BaseException:
                self._graph = None  # goes on from what was saved
                raise
            self._last = newest
        return self._graph

    def _opened(self, width: int) -> GraphIndex | None:
        """The graph of the file, if it is one of this database; else the file is removed."""
        from understudy.language.encoding.index import GraphIndex

        if not self._path.exists():
            return None
        try:
            graph = GraphIndex(self._path)
        except InputError:  # damaged
            graph = None
        if graph is None or not self._fits(graph, width):
            self._path.unlink()
            return None
        return graph

    def _fits(self, graph: GraphIndex, width: int) -> bool:
        last = graph.last_key
        for first in np.linspace(last, 1, SAMPLES).astype(int).tolist():
            rows = self._rows(
                "SELECT id, vector FROM utterances WHERE vector IS NOT NULL AND id >= ? ORDER BY id LIMIT 1", (first,)
            )
            if not rows or rows[0][0] > last:
                return False
            expected, stored = np.frombuffer(rows[0][1], "<f4"), graph.vector(rows[0][0])
            if stored is None or len(stored) != width or not np.allclose(stored, expected, atol=TOLERANCE):
                return False
        return True

    def _batches(self, newest: int, progress: Progress | None) -> Iterator[tuple[list[int], Vector]]:
        done = len(self)
        while rows := self._rows(
            "SELECT id, vector FROM utterances WHERE vector IS NOT NULL AND id > ? AND id <= ? ORDER BY id LIMIT ?",
            (self._last, newest, BATCH),
        ):
            yield (
                [row[0] for row in rows],
                np.frombuffer(b"".join(row[1] for row in rows), "<f4").reshape(len(rows), -1),
            )
            self._last, done = rows[-1][0], done + len(rows)
            if progress is not None:
                progress(done, newest)


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
        size = min(max(k, SMALLEST_SEARCH), LARGEST_SEARCH)
        self._rows("SELECT set_config('hnsw.ef_search', ?, false)", (str(size),))
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
