"""Which vectors are nearest to this one: all of them looked at, or a graph walked on disk.

    score(q, v) = q . v          the cosine, as vectors have length 1

Up to `EXACT_UP_TO` vectors a look at every one is the better choice: nothing to build, nothing missed, and not much
slower than a walk. Beyond it a graph of near neighbours (HNSW, by usearch) is built once, lies in a file that is mapped
into memory, and finds nearly all of the nearest ten in a few thousand comparisons.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.encoding.sequences import Floats
from understudy.errors import InputError, MissingExtra

__all__ = ["EXACT_UP_TO", "ExactIndex", "GraphIndex", "Index", "index_of", "search_exactly"]

EXACT_UP_TO = 50_000
BLOCK = 16_384  # vectors that are turned into float32 at a time
CONNECTIONS = 16  # neighbours a vector is linked to
CARE_IN_BUILDING = 96  # neighbours considered when a vector is added
CARE_IN_SEARCH = 256  # and when one is looked for
SNAPSHOT = 200_000  # vectors between two that are saved while building
GROWTH = 1.25  # a graph that is extended is saved whenever it has grown by so much, since all of it is written

Vectors = NDArray[np.float32] | NDArray[np.float16]


class Index(Protocol):
    """Vectors by their number, in the order they were given."""

    def __len__(self) -> int: ...
    def search(self, query: Floats, k: int) -> list[tuple[int, float]]: ...


def index_of(vectors: Vectors, path: Path, progress: Callable[[int, int], None] | None = None) -> Index:
    """The better kind for so many vectors; a graph is built at `path` unless it is there."""
    if len(vectors) <= EXACT_UP_TO:
        return ExactIndex(vectors)
    return GraphIndex.build(vectors, path, progress=progress)


class ExactIndex:
    """Looks at every vector."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = np.ascontiguousarray(vectors, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, query: Floats, k: int) -> list[tuple[int, float]]:
        return search_exactly(self._vectors, query, k)


def search_exactly(vectors: Vectors, query: Floats, k: int) -> list[tuple[int, float]]:
    """The k nearest, best first, equals in their order. Vectors of float16, also on disk, are read block by block."""
    if vectors.dtype == np.float32:
        scores = vectors @ query
    else:
        scores = np.empty(len(vectors), np.float32)
        for start in range(0, len(vectors), BLOCK):
            scores[start : start + BLOCK] = vectors[start : start + BLOCK].astype(np.float32) @ query
    k = min(k, len(scores))
    if k <= 0:
        return []
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    places = np.flatnonzero(scores >= least)
    places = places[np.argsort(-scores[places], kind="stable")[:k]]
    return list(zip(places.tolist(), scores[places].tolist()))


class GraphIndex:
    """A graph in a file, mapped into memory: opening it reads nothing, a search reads what it walks over."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InputError("there is no index: build it with GraphIndex.build", path)
        try:
            self._graph = _usearch().Index.restore(str(path), view=True)
        except (RuntimeError, ValueError) as error:
            raise InputError(f"the index cannot be read, build it anew: {error}", path) from error
        if self._graph is None:
            raise InputError("this is no index: build it anew", path)
        self._graph.expansion_search = CARE_IN_SEARCH

    @classmethod
    def build(
        cls,
        vectors: Vectors,
        path: Path,
        threads: int = 1,
        progress: Callable[[int, int], None] | None = None,
        snapshot: int = SNAPSHOT,
    ) -> GraphIndex:
        """Build at `path`, unless it is there with as many vectors. The file appears whole or not at all.

        A build that was stopped goes on from its last snapshot, which lies beside the file until it is done; the
        vectors must be the same ones.
        """
        if path.is_file() and len(built := cls(path)) == len(vectors):
            return built
        part = path.with_name(path.name + ".part")
        graph = _resumed(part, vectors)
        for start in range(len(graph), len(vectors), snapshot):
            some = np.arange(start, min(start + snapshot, len(vectors)))
            graph.add(some.astype(np.uint64), np.asarray(vectors[some[0] : some[-1] + 1], np.float32), threads=threads)
            _save(graph, part)
            if progress is not None:
                progress(len(graph), len(vectors))
        if not part.is_file():
            _save(graph, part)
        os.replace(part, path)
        return cls(path)

    @classmethod
    def extend(cls, path: Path, batches: Iterable[tuple[Sequence[int], Vectors]]) -> GraphIndex:
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

    def vector(self, key: int) -> Floats | None:
        """The vector of a key, rounded to float16; None where the graph does not have it."""
        stored = self._graph.get(key)
        return None if stored is None else np.asarray(stored, np.float32)

    def __len__(self) -> int:
        return len(self._graph)

    def search(self, query: Floats, k: int) -> list[tuple[int, float]]:
        if k <= 0 or not len(self):
            return []
        found = self._graph.search(np.asarray(query, np.float32), min(k, len(self)), threads=1)
        ranked = zip(found.keys.tolist(), (1 - found.distances).tolist())
        return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


def _resumed(part: Path, vectors: Vectors) -> Any:
    """The graph of a build that was stopped, or a new one."""
    library = _usearch()
    if part.is_file():
        try:
            graph = library.Index.restore(str(part), view=False)
        except (RuntimeError, ValueError):
            graph = None
        if graph is not None and len(graph) <= len(vectors) and graph.ndim == vectors.shape[1]:
            return graph
    return _empty(vectors.shape[1])


def _empty(width: int) -> Any:
    return _usearch().Index(
        ndim=width,
        metric="ip",
        dtype="f16",
        connectivity=CONNECTIONS,
        expansion_add=CARE_IN_BUILDING,
        expansion_search=CARE_IN_SEARCH,
    )


def _save(graph: Any, path: Path) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")  # another process may save its own
    graph.save(str(beside))
    os.replace(beside, path)


def _usearch() -> Any:
    try:
        import usearch.index
    except ImportError as error:
        raise MissingExtra("searching more vectors than can be looked at one by one", "index") from error
    return usearch.index
