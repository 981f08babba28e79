"""Nearest-neighbour search: exact by scanning all vectors, or approximate with a graph on disk.

    score(q, v) = q . v          the cosine, as vectors have length 1

Up to `MAX_EXACT` vectors a scan is the better choice: nothing to build, nothing missed, and not much slower. Beyond it
a graph of near neighbours (HNSW, by usearch) is built once, lies in a file that is mapped into memory, and finds nearly
all of the nearest ten in a few thousand comparisons.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError, MissingExtra
from understudy.language.encoding.sequences import Floats
from understudy.language.libraries import import_library

__all__ = ["MAX_EXACT", "ExactIndex", "GraphIndex", "Index", "build_index", "search_exactly"]

MAX_EXACT = 50_000
BLOCK = 16_384  # vectors that are turned into float32 at a time
CONNECTIVITY = 16  # neighbours a vector is linked to
EXPANSION_ADD = 96  # neighbours considered when a vector is added
EXPANSION_SEARCH = 256  # and in a search
SNAPSHOT = 200_000  # vectors added between two snapshots of a build
GROWTH = 1.25  # an extended graph is saved whenever it has grown by this factor, since all of it is written

Vectors = NDArray[np.float32] | NDArray[np.float16]


class Index(Protocol):
    """Search among vectors, which are numbered in their order."""

    def __len__(self) -> int: ...
    def search(self, query: Floats, k: int) -> list[tuple[int, float]]: ...


def build_index(vectors: Vectors, path: Path, progress: Callable[[int, int], None] | None = None) -> Index:
    """The better index for this number of vectors; a graph is built at `path` unless it exists."""
    if len(vectors) <= MAX_EXACT:
        return ExactIndex(vectors)
    return GraphIndex.build(vectors, path, progress=progress)


class ExactIndex:
    """Compares the query with every vector."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = np.ascontiguousarray(vectors, dtype=np.float32)

    def __len__(self) -> int:
        return len(self._vectors)

    def search(self, query: Floats, k: int) -> list[tuple[int, float]]:
        return search_exactly(self._vectors, query, k)


def search_exactly(vectors: Vectors, query: Floats, k: int) -> list[tuple[int, float]]:
    """The k nearest, best first, ties by index. Vectors of float16, also on disk, are converted block by block."""
    if vectors.dtype == np.float32:
        scores = vectors @ query
    else:
        scores = np.empty(len(vectors), np.float32)
        for start in range(0, len(vectors), BLOCK):
            scores[start : start + BLOCK] = vectors[start : start + BLOCK].astype(np.float32) @ query
    k = min(k, len(scores))
    if k <= 0:
        return []
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    indices = np.flatnonzero(scores >= threshold)
    indices = indices[np.argsort(-scores[indices], kind="stable")[:k]]
    return list(zip(indices.tolist(), scores[indices].tolist()))


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
        self._graph.expansion_search = EXPANSION_SEARCH

    @classmethod
    def build(
        cls,
        vectors: Vectors,
        path: Path,
        threads: int = 1,
        progress: Callable[[int, int], None] | None = None,
        snapshot: int = SNAPSHOT,
    ) -> GraphIndex:
        """Build at `path`, unless an index of as many vectors exists. The file appears whole or not at all.

        An interrupted build is resumed from its last snapshot, which lies beside the file until it is done; the
        vectors must be the same ones.
        """
        if path.is_file() and len(built := cls(path)) == len(vectors):
            return built
        partial = path.with_name(path.name + ".part")
        graph = _resume(partial, vectors)
        for start in range(len(graph), len(vectors), snapshot):
            end = min(start + snapshot, len(vectors))
            numbers = np.arange(start, end, dtype=np.uint64)
            graph.add(numbers, np.asarray(vectors[start:end], np.float32), threads=threads)
            _save(graph, partial)
            if progress is not None:
                progress(len(graph), len(vectors))
        if not partial.is_file():
            _save(graph, partial)
        os.replace(partial, path)
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
        matches = self._graph.search(np.asarray(query, np.float32), min(k, len(self)), threads=1)
        ranked = zip(matches.keys.tolist(), (1 - matches.distances).tolist())
        return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


def _resume(partial: Path, vectors: Vectors) -> Any:
    """The graph of an interrupted build, or an empty one."""
    library = _usearch()
    if partial.is_file():
        try:
            graph = library.Index.restore(str(partial), view=False)
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
