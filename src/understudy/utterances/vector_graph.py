"""The vectors of a large SQLite database as a graph of near neighbours, in a file beside it: `lines.db.vectors`.

A graph search looks at a few thousand vectors instead of all. Its keys are utterance ids. It is built when it is first
needed and extended by ids that are new; utterances are never deleted and their vectors never changed, so nothing else
can happen to it. A file that does not belong to the database, because one of the two was replaced, is built anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError

if TYPE_CHECKING:
    from understudy.encoding.index import GraphIndex

__all__ = ["Progress", "VectorGraph"]

BATCH = 20_000  # vectors that are read from the database at a time
SAMPLES = 16  # vectors by which a file is compared with the database
TOLERANCE = 2e-3  # of a component: the graph keeps vectors of length 1 as float16

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
        from understudy.encoding.index import GraphIndex

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
        from understudy.encoding.index import GraphIndex

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
