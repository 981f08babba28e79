"""Searching more vectors than are compared one by one, with a bound so low that few vectors are many."""

from __future__ import annotations

import builtins
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.metrics.utterances import UtteranceStore, open_store, vector_indexes
from understudy.metrics.utterances.record import APPROVED, REJECTED, Utterance
from understudy.metrics.utterances.vector_indexes import GraphIndex
from understudy.story.types import Moment

WIDTH = 24


def clustered(count: int, seed: int = 0) -> NDArray[np.float32]:
    """Vectors of length 1 in clusters, as those of sentences lie."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((40, WIDTH))
    vectors = centres[random.integers(0, len(centres), count)] + 0.6 * random.standard_normal((count, WIDTH))
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


def add(store: UtteranceStore, vectors: NDArray[np.float32], first: int = 0, decision: str = APPROVED) -> None:
    """Lines of Ines and Tobias in turn; every third may be said only from 2 on."""
    store.add(
        [
            Utterance(
                f"Line {first + index}.",
                ("Ines", "Tobias")[index % 2],
                Moment.parse("2" if index % 3 == 0 else "1"),
            )
            for index in range(len(vectors))
        ],
        decision,
        "filter",
        list(vectors),
    )


@pytest.fixture(autouse=True)
def low_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_indexes, "EXACT_UP_TO", 100)
    monkeypatch.setattr(vector_indexes, "BATCH", 150)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[UtteranceStore]:
    opened = open_store(tmp_path / "lines.db")
    yield opened
    opened.close()


def numbers(store: UtteranceStore, query: NDArray[np.float32], count: int = 10, **conditions: Any) -> list[int]:
    return [stored.number for stored in store.nearest(query, count, **conditions)]


def exact(store: UtteranceStore, query: NDArray[np.float32], count: int = 10, **conditions: Any) -> list[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_indexes, "EXACT_UP_TO", 10**9)
        return numbers(store, query, count, **conditions)


def graph_file(tmp_path: Path) -> Path:
    return tmp_path / "lines.db.vectors"


def test_few_vectors_are_compared_one_by_one(store: UtteranceStore, tmp_path: Path) -> None:
    vectors = clustered(100)
    add(store, vectors)
    expected = np.argsort(-(vectors @ vectors[7]), kind="stable")[:10] + 1
    assert numbers(store, vectors[7]) == expected.tolist()
    assert not graph_file(tmp_path).exists()


def test_of_many_nearly_all_of_the_nearest_are_found_whatever_the_condition(
    store: UtteranceStore, tmp_path: Path
) -> None:
    add(store, clustered(1200))
    queries, hits = clustered(40, seed=1), 0
    conditions: list[dict[str, Any]] = [{}, {"character": "Ines"}, {"character": "Ines", "at": Moment.parse("1")}]
    for condition in conditions:
        for query in queries:
            results, expected = numbers(store, query, **condition), exact(store, query, **condition)
            assert len(results) == 10 and all(
                condition.get("character") in (None, store.get(number).utterance.character) for number in results
            )
            hits += len(set(results) & set(expected))
    assert hits / (10 * len(queries) * len(conditions)) >= 0.95
    assert graph_file(tmp_path).exists()


def test_likeness_is_the_cosine_and_orders_the_results(store: UtteranceStore) -> None:
    vectors = clustered(300)
    add(store, vectors)
    results = store.nearest(vectors[7], 5)
    assert results[0].number == 8 and results[0].likeness == pytest.approx(1, abs=1e-6)
    likeness = [stored.likeness or 0 for stored in results]
    assert likeness == sorted(likeness, reverse=True)
    assert likeness == pytest.approx([float(vectors[stored.number - 1] @ vectors[7]) for stored in results], abs=1e-6)


def test_new_lines_are_found_by_a_graph_that_is_extended_and_not_built_again(
    store: UtteranceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, clustered(300))
    progress = list[tuple[int, int]]()
    store.nearest(clustered(1)[0], 1, progress=lambda done, newest: progress.append((done, newest)))
    assert progress == [(150, 300), (300, 300)]
    new = clustered(20, seed=2)
    add(store, new, first=300)
    store.nearest(new[0], 1, progress=lambda done, newest: progress.append((done, newest)))
    assert progress[2:] == [(320, 320)]
    assert [numbers(store, vector, 1) for vector in new] == [[number] for number in range(301, 321)]
    store.add([Utterance("No vector.", "Ines")], APPROVED, "filter")
    assert numbers(store, new[0], 1) == [301]


def test_a_graph_is_used_again_by_the_next_who_opens_the_database(store: UtteranceStore, tmp_path: Path) -> None:
    vectors = clustered(300)
    add(store, vectors)
    store.nearest(vectors[0], 1)
    written = graph_file(tmp_path).stat().st_mtime_ns
    other = open_store(tmp_path / "lines.db")
    assert numbers(other, vectors[9], 1) == [10]
    other.close()
    assert graph_file(tmp_path).stat().st_mtime_ns == written


@pytest.mark.parametrize("replaced", ["damaged", "of another database", "of a later state"])
def test_a_graph_that_does_not_fit_is_built_anew(tmp_path: Path, replaced: str) -> None:
    vectors = clustered(300)
    other = open_store(tmp_path / "other.db")
    add(other, clustered(300, seed=3) if replaced == "of another database" else clustered(400))
    other.nearest(vectors[0], 1)
    other.close()
    if replaced == "damaged":
        graph_file(tmp_path).write_bytes(b"not a graph" * 100)
    else:
        shutil.copy(tmp_path / "other.db.vectors", graph_file(tmp_path))
    store = open_store(tmp_path / "lines.db")
    add(store, vectors)
    assert [numbers(store, vectors[index], 1) for index in (0, 150, 299)] == [[1], [151], [300]]
    store.close()
    assert len(GraphIndex(graph_file(tmp_path))) == 300


def test_where_too_few_neighbours_match_all_that_do_are_compared(
    store: UtteranceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_indexes.UtteranceSqlite, "largest_k", 64)
    vectors = clustered(400)
    add(store, vectors)
    far = np.argsort(vectors @ vectors[0])[:150]  # none of them among the nearest 64
    for number in far.tolist():
        store.decide(number + 1, REJECTED, "Mara")
    assert numbers(store, vectors[0], 10, decision=REJECTED) == exact(store, vectors[0], 10, decision=REJECTED)
    assert numbers(store, vectors[0], 500) == exact(store, vectors[0], 500)


def test_a_stopped_build_goes_on(store: UtteranceStore, tmp_path: Path) -> None:
    vectors, seen = clustered(450), list[int]()
    add(store, vectors)

    def stop(done: int, _newest: int) -> None:
        seen.append(done)
        if done == 300 and seen.count(300) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.nearest(vectors[0], 1, progress=stop)
    assert [stored.number for stored in store.nearest(vectors[440], 1, progress=stop)] == [441]
    assert seen == [150, 300, 450]
    assert [file.name for file in sorted(tmp_path.glob("*.vectors*"))] == ["lines.db.vectors"]


def test_without_the_extra_all_vectors_are_compared(
    store: UtteranceStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, original = clustered(300), builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("usearch"):
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    add(store, vectors)
    assert numbers(store, vectors[7]) == exact(store, vectors[7])
    assert not graph_file(tmp_path).exists()


def test_where_the_file_cannot_be_written_all_vectors_are_compared(store: UtteranceStore, tmp_path: Path) -> None:
    vectors = clustered(300)
    add(store, vectors)
    graph_file(tmp_path).mkdir()
    assert numbers(store, vectors[7]) == exact(store, vectors[7])


def test_vectors_are_never_changed_in_place(store: UtteranceStore, tmp_path: Path) -> None:
    """What the graph relies on: the same line again leaves the vector as it was."""
    vectors = clustered(2)
    add(store, vectors)
    add(store, vectors[::-1].copy())
    with sqlite3.connect(tmp_path / "lines.db") as connection:
        blobs = [blob for (blob,) in connection.execute("SELECT vector FROM utterances ORDER BY id")]
    assert blobs == [vector.tobytes() for vector in vectors]


def test_a_file_that_is_not_an_index_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no index"):
        GraphIndex(tmp_path / "none")
    (tmp_path / "text").write_text("not an index" * 20)
    with pytest.raises(InputError, match="build it anew"):
        GraphIndex(tmp_path / "text")


def test_an_encoder_can_be_loaded_after_a_graph(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
import numpy as np
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.metrics.utterances.vector_indexes import GraphIndex
graph = GraphIndex.extend(Path(sys.argv[1]), [(range(8), np.eye(8, dtype=np.float32))])
assert graph.search(np.eye(8, dtype=np.float32)[3], 1)[0][0] == 3 and graph.search(np.ones(8), 0) == []
print(SentenceEncoder(cache=False).encode(["The tide is out."]).shape)
"""
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path / "graph")], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "(1, 384)\n"), ended.stderr
