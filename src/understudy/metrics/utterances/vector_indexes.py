"""The vectors nearest to one in an utterance database: all are compared, or an index finds nearly all of the nearest.

Indexes of large databases are built when they are first needed.

SQLite has a graph of near neighbours (HNSW, by usearch) in a file beside the database: `lines.db.vectors`. The file is
mapped into memory: opening it reads nothing, and a search looks at a few thousand vectors instead of all. Its keys are
utterance ids. It is extended by ids that are new; utterances are never deleted and their vectors never changed, so
nothing else can happen to it. A file that does not belong to the database, because one of the two was replaced, is
built anew.

PostgreSQL has pgvector's HNSW index. An index needs vectors of one width, which the column does not have, so it is on
an expression: `vector` cast to that width. It is created without blocking writers. Where it cannot be (no right to, an
older pgvector, another program is creating it), `is_ready` says so, and all vectors are compared.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.database.postgres import READ_TIMEOUTS, WRITE_TIMEOUTS, Postgres, Timeouts
from understudy.database.sqlite import Sqlite
from understudy.errors import InputError, MissingExtra
from understudy.language import import_library

BATCH = 20_000  # vectors that are read from the database at a time
SAMPLES = 16  # vectors by which a file is compared with the database
TOLERANCE = 2e-3  # of a component: the graph keeps vectors of length 1 as float16
CONNECTIVITY = 16  # neighbours a vector of the graph is linked to
EXPANSION_ADD = 96  # neighbours considered when a vector is added
EXPANSION_SEARCH = 256  # and in a search
GROWTH = 1.25  # an extended graph is saved whenever it has grown by this factor, since all of it is written
LARGEST_SEARCH = 1000  # the most neighbours that pgvector considers in a search
SMALLEST_SEARCH = 200  # and the fewest that are considered here, for the sake of recall

Vector = NDArray[np.float32]
Rows = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
Progress = Callable[[int, int], None]
"""Called with how many vectors are in the graph, and the last id of the database."""


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


class GraphIndex:
    """A graph in a file, mapped into memory: opening it reads nothing, a search reads what it walks over."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InputError("there is no index", path)
        try:
            self._graph = _usearch().Index.restore(str(path), view=True)
        except (RuntimeError, ValueError) as error:
            raise InputError(f"the index cannot be read, build it anew: {error}", path) from error
        if self._graph is None:
            raise InputError("this is no index: build it anew", path)
        self._graph.expansion_search = EXPANSION_SEARCH

    @classmethod
    def extend(cls, path: Path, batches: Iterable[tuple[Sequence[int], Vector | NDArray[np.float16]]]) -> GraphIndex:
        """Add vectors under keys of the caller's, none of which is in the graph yet. The graph is made if need be.

        It is saved now and then, so that whoever is stopped goes on after `last_key`.
        """
        graph, saved = None, 0
        for keys, vectors in batches:
            if graph is None:
                graph = _usearch().Index.restore(str(path), view=False) if path.is_file() else _empty(vectors.shape[1])
                saved = len(graph)
            graph.add(np.asarray(keys, np.uint64), np.asarray(vectors, np.float32), threads=1)
            if len(graph) >= GROWTH * saved:
                _save(graph, path)
                saved = len(graph)
        if graph is not None and len(graph) > saved:
            _save(graph, path)
        return cls(path)

    @property
    def last_key(self) -> int:
        return int(np.asarray(self._graph.keys).max()) if len(self) else 0

    def vector(self, key: int) -> Vector | None:
        """The vector of a key, rounded to float16; None where the graph does not have it."""
        stored = self._graph.get(key)
        return None if stored is None else np.asarray(stored, np.float32)

    def __len__(self) -> int:
        return len(self._graph)

    def search(self, query: Vector, k: int) -> list[tuple[int, float]]:
        if k <= 0 or not len(self):
            return []
        matches = self._graph.search(np.asarray(query, np.float32), min(k, len(self)), threads=1)
        ranked = zip(matches.keys.tolist(), (1 - matches.distances).tolist())
        return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


def _empty(width: int) -> Any:
    return _usearch().Index(
        ndim=width,
        metric="ip",
        dtype="f16",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSION_SEARCH,
    )


def _save(graph: Any, path: Path) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")  # another process may save its own
    graph.save(str(temporary))
    os.replace(temporary, path)


def _usearch() -> Any:
    import_library("onnxruntime")  # loaded after usearch it crashes the process: each brings a C++ runtime of its own
    try:
        import usearch.index
    except ImportError as error:
        raise MissingExtra("searching more vectors than can be looked at one by one", "index") from error
    return usearch.index


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

    def search(self, vector: Vector, value: str, k: int) -> list[int]:
        """The ids of the nearest vectors, best first; `value` is the vector as a parameter.

        :raises RuntimeError: there is no index to be used now.
        """
        if not self.is_ready(len(vector)):
            raise RuntimeError("pgvector's index cannot be used now")
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


# The databases with their search.

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
