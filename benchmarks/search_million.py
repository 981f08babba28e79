"""A million encoded candidates: exact search and the graph on disk, side by side, on one core.

    python benchmarks/search_million.py DATA [--size 1000000] [--folder DIR] [--model FOLDER]

DATA has personachat/ and tvshowguess/transcripts/. Their utterances are encoded (once; encodings are cached). All but
2,000 of them are in the index, and as many mixtures as are wanted to fill it: an utterance, 0.35 of another and a
little noise, at length 1. So neighbourhoods are those of real speech, denser than that of random vectors. The held-out
utterances are the queries; recall is against exact search.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from understudy.language.encoding.encoder import SentenceEncoder
from understudy.metrics.utterances.vector_indexes import GraphIndex

QUERIES = 2_000
AT_ONCE = 20_000  # vectors added to a graph, or compared, at a time
Search = Callable[[NDArray[np.float32], int], list[tuple[int, float]]]
SPOKEN = re.compile(r"^[ \t]*[A-Z][\w .'-]{0,25}: ?(.{4,300})$", re.MULTILINE)


def utterances(data: Path) -> Iterator[str]:
    for file in sorted((data / "personachat").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            said = line.partition(" ")[2].split("\t")
            yield from said[:2] if len(said) > 1 else ()
    for file in sorted((data / "tvshowguess" / "transcripts").glob("*/*")):
        yield from (match[1].strip() for match in SPOKEN.finditer(file.read_text("utf-8", "replace")))


def make_vectors(real: NDArray[np.float16], size: int, path: Path) -> None:
    """`size` vectors to be searched, on disk."""
    chance = np.random.default_rng(0)
    out = np.lib.format.open_memmap(path, "w+", np.float16, (size, real.shape[1]))
    out[: len(real)] = real[:size]
    for start in range(len(real), size, 50_000):
        count = min(50_000, size - start)
        one, other = (real[chance.integers(0, len(real), count)].astype(np.float32) for _ in range(2))
        mixed = one + 0.35 * other + 0.005 * chance.standard_normal(one.shape, np.float32)
        out[start : start + count] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    out.flush()


def search_exactly(vectors: NDArray[np.floating[Any]], query: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    """The k nearest, best first, of all vectors."""
    blocks = (vectors[start : start + AT_ONCE] for start in range(0, len(vectors), AT_ONCE))
    scores = np.concatenate([block.astype(np.float32, copy=False) @ query for block in blocks])
    best = np.argpartition(-scores, k)[:k]
    best = best[np.argsort(-scores[best], kind="stable")]
    return list(zip(best.tolist(), scores[best].tolist()))


def build(vectors: NDArray[np.float16], path: Path) -> GraphIndex:
    """The graph at the path, with what it lacks of the vectors."""
    first = GraphIndex(path).last_key + 1 if path.exists() else 0
    starts = range(first, len(vectors), AT_ONCE)
    batches = ((range(start, min(start + AT_ONCE, len(vectors))), vectors[start : start + AT_ONCE]) for start in starts)
    return GraphIndex.extend(path, batches)


def timed(search: Search, queries: NDArray[np.float32]) -> tuple[float, float]:
    """Median and 95th percentile, in milliseconds."""
    taken = []
    for query in queries:
        start = time.perf_counter()
        search(query, 10)
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken), statistics.quantiles(taken, n=20)[18]


def recall(index: GraphIndex, vectors: NDArray[np.float16], queries: NDArray[np.float32]) -> float:
    hits = 0
    for query in queries:
        true = {place for place, _ in search_exactly(vectors, query, 10)}
        hits += len(true & {place for place, _ in index.search(query, 10)})
    return hits / (10 * len(queries))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("million"), help="keeps vectors and index between runs")
    parser.add_argument("--model", type=Path)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    options.folder.mkdir(parents=True, exist_ok=True)
    encoded, made = options.folder / "real.npy", options.folder / f"vectors-{options.size}.npy"
    if not encoded.exists():
        texts = list(dict.fromkeys(utterances(options.data)))
        random.Random(0).shuffle(texts)
        np.save(encoded, SentenceEncoder(options.model).encode(texts).astype(np.float16))
    real = np.load(encoded, mmap_mode="r")
    if not made.exists():
        make_vectors(real[QUERIES:], options.size, made)
    vectors = np.load(made, mmap_mode="r")
    queries = np.asarray(real[:QUERIES], np.float32)
    print(f"{len(vectors):,} vectors, {min(len(real) - QUERIES, len(vectors)):,} of them real utterances")

    print(f"\n{'size':>10} {'exact p50':>10} {'graph p50':>10} {'recall@10':>10} {'build s':>9} {'MB':>7}")
    sizes = [size for size in (10_000, 25_000, 50_000, 100_000, 200_000) if size < options.size]
    for size in [*sizes, options.size]:
        some = vectors[:size]
        path = options.folder / f"graph-{size}.usearch"
        ready, start = path.exists(), time.process_time()
        graph = build(some, path)
        took = time.process_time() - start
        few = queries[:200] if size > 200_000 else queries[:400]
        exact = timed(partial(search_exactly, some.astype(np.float32)), few[:50])
        walked = timed(graph.search, queries)
        print(
            f"{size:10,} {exact[0]:10.2f} {walked[0]:10.2f} {recall(graph, some, few):10.3f} "
            f"{'ready' if ready else f'{took:.0f}':>9} {path.stat().st_size / 2**20:7.0f}",
            flush=True,
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\ngraph of {options.size:,}: p50 {walked[0]:.2f} ms, p95 {walked[1]:.2f} ms; peak memory {peak:,.0f} MB")


if __name__ == "__main__":
    main()
