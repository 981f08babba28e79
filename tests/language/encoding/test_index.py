from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.encoding import index as module
from understudy.language.encoding.index import ExactIndex, GraphIndex, build_index, search_exactly


def clouds(count: int, width: int = 32, seed: int = 0) -> NDArray[np.float32]:
    """Vectors of length 1 in clusters, as sentences lie."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((count // 20 + 1, width))
    points = centres[rng.integers(0, len(centres), count)] + 0.5 * rng.standard_normal((count, width))
    unit: NDArray[np.float32] = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)
    return unit


@given(st.integers(0, 60), st.integers(-1, 70), st.booleans(), st.integers(0, 9))
def test_exact_search_finds_what_sorting_finds(count: int, k: int, half: bool, seed: int) -> None:
    vectors = (np.round(clouds(count, 8, seed) * 2) / 2).astype(np.float32)  # so that some are equal
    query = np.ones(8, np.float32)
    scores = vectors @ query
    expected = sorted(range(count), key=lambda index: -scores[index])[: max(k, 0)]
    stored = vectors.astype(np.float16) if half else vectors
    matches = search_exactly(stored, query, k)
    assert [index for index, _ in matches] == expected
    assert [score for _, score in matches] == pytest.approx([float(scores[index]) for index in expected])
    assert ExactIndex(stored).search(query, k) == matches


def test_a_graph_finds_nearly_all_of_the_nearest_ten(tmp_path: Path) -> None:
    vectors, queries = clouds(4_000), clouds(100, seed=1)
    graph = GraphIndex.build(vectors.astype(np.float16), tmp_path / "graph")
    true = [{index for index, _ in search_exactly(vectors, query, 10)} for query in queries]
    matches = [{index for index, _ in graph.search(query, 10)} for query in queries]
    assert sum(len(nearest & matched) for nearest, matched in zip(true, matches)) / 1_000 >= 0.95
    index, score = graph.search(vectors[7], 1)[0]
    assert index == 7 and score == pytest.approx(1, abs=1e-2)
    assert graph.search(vectors[0], 0) == []


def test_a_stopped_build_goes_on_and_a_finished_one_is_opened(tmp_path: Path) -> None:
    vectors, seen = clouds(900), list[int]()

    def stop(done: int, _of: int) -> None:
        seen.append(done)
        if len(seen) == 2:
            raise KeyboardInterrupt

    path = tmp_path / "graph"
    with pytest.raises(KeyboardInterrupt):
        GraphIndex.build(vectors, path, progress=stop, snapshot=300)
    assert not path.exists()
    graph = GraphIndex.build(vectors, path, progress=stop, snapshot=300)
    assert seen == [300, 600, 900]
    assert len(graph) == 900
    assert graph.search(vectors[10], 1)[0][0] == 10
    GraphIndex.build(vectors, path, progress=stop)
    assert len(seen) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["graph"]


def test_the_index_depends_on_the_number_of_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clouds(50)
    assert isinstance(build_index(vectors, tmp_path / "graph"), ExactIndex)
    monkeypatch.setattr(module, "MAX_EXACT", 49)
    assert isinstance(build_index(vectors, tmp_path / "graph"), GraphIndex)


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
from understudy.language.encoding import GraphIndex, SentenceEncoder
GraphIndex.build(np.eye(8, dtype=np.float32), Path(sys.argv[1]))
print(SentenceEncoder(cache=False).encode(["The tide is out."]).shape)
"""
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path / "graph")], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (0, "(1, 384)\n"), ended.stderr
