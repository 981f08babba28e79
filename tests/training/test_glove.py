from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from understudy.errors import InputError
from understudy.metrics.overlap import glove_ranks
from understudy.training.glove import (
    GloveSettings,
    GloveTask,
    GloveVectors,
    adagrad_step,
    cooccurrences,
    pair_weights,
    train_glove,
)
from understudy.training.loop import no_progress
from understudy.training.task import checkpoint_folder
from understudy.training.word_vectors import read_embeddings

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")

SMALL = GloveSettings(width=16, window=3, epochs=30, batch=64, fewest=1)


def trained(texts: list[list[str]], out: Path, **options: Any) -> GloveVectors:
    progress = options.pop("progress", no_progress)
    return train_glove(GloveTask(texts, out, **{"settings": SMALL, "device": "cpu", **options}), progress)


def test_words_near_each_other_are_counted_by_their_distance() -> None:
    matrix = cooccurrences([[0, 1, 2, 1], [], [2, 2]], words=3, window=2)
    table = np.zeros((3, 3))
    table[matrix.first, matrix.second] = matrix.values
    # 0 1 at distance 1; 0 2 at 2; 1 2 at 1, twice; 1 1 at 2, which both orders count; 2 2 at 1, likewise
    np.testing.assert_allclose(table, [[0, 1, 0.5], [1, 2 * 0.5, 2], [0.5, 2, 2 * 1]])
    assert (matrix.values > 0).all()
    assert len(cooccurrences([[1], []], 2, 5).values) == 0


def test_a_step_is_the_gradient_of_the_weighted_squares() -> None:
    """J and its gradients on a table of three pairs, by hand."""
    counts = np.array([100.0, 4.0, 250.0])
    np.testing.assert_allclose(pair_weights(counts), [1, (4 / 100) ** 0.75, 1])
    first, second = np.array([0, 1, 1]), np.array([1, 0, 1])
    w, v = np.array([[0.1, 0.2], [0.3, -0.1]]), np.array([[0.5, 0.0], [-0.2, 0.4]])
    b, d = np.array([0.1, -0.1]), np.array([0.0, 0.2])
    differences = (w[first] * v[second]).sum(axis=1) + b[first] + d[second] - np.log(counts)
    gradient_w = np.zeros_like(w)
    for pair in range(3):
        gradient_w[first[pair]] += pair_weights(counts)[pair] * differences[pair] * v[second[pair]]
    tables = {
        name: torch.tensor(table, dtype=torch.float32) for name, table in (("w", w), ("v", v), ("b", b), ("d", d))
    }
    tables |= {f"{name}.squares": torch.full_like(table, 4.0) for name, table in list(tables.items())}
    loss = adagrad_step(
        tables, torch.from_numpy(first), torch.from_numpy(second), torch.from_numpy(np.log(counts)).float(),
        torch.from_numpy(pair_weights(counts)).float(), rate=0.05,
    )  # fmt: skip
    assert loss == pytest.approx(float((pair_weights(counts) * differences**2).sum()), rel=1e-5)
    np.testing.assert_allclose(tables["w"], w - 0.05 * gradient_w / 2, rtol=1e-5)
    np.testing.assert_allclose(tables["w.squares"], 4 + gradient_w**2, rtol=1e-5)


def court_and_farm(sentences: int = 400) -> list[list[str]]:
    """Kings and queens do the same things, as cows and sheep do."""
    rng = random.Random(3)
    groups = (
        (["king", "queen"], ["rules", "crowned", "throne", "palace"]),
        (["cow", "sheep"], ["grazes", "meadow", "milk", "barn"]),
    )
    texts = []
    for _ in range(sentences):
        who, deeds = rng.choice(groups)
        texts.append(["the", rng.choice(who), *rng.sample(deeds, 2), "."])
    return texts


def test_words_that_are_used_alike_are_neighbours(tmp_path: Path) -> None:
    vectors = trained(court_and_farm(), tmp_path / "vectors.txt")
    assert vectors.losses[-1] < 0.1 * vectors.losses[0]
    of = dict(zip(vectors.words, vectors.rows / np.linalg.norm(vectors.rows, axis=1, keepdims=True)))
    others = ("cow", "sheep", "meadow", "milk", "barn", "grazes")
    assert of["king"] @ of["queen"] > max(of["king"] @ of[other] for other in others)
    assert of["cow"] @ of["sheep"] > max(of["cow"] @ of[other] for other in ("king", "queen", "throne", "palace"))


def test_the_file_is_read_as_embeddings_and_as_ranks(tmp_path: Path) -> None:
    out = tmp_path / "vectors.txt"
    vectors = trained([*court_and_farm(), ["once"]], out, settings=GloveSettings(width=8, epochs=2, fewest=2))
    ranks = glove_ranks(out)
    assert list(ranks) == list(vectors.words) and "once" not in ranks
    assert {ranks["the"], ranks["."]} == {1, 2}
    read = read_embeddings(out, ["king", "nobody"])
    expected = vectors.rows[ranks["king"] - 1]
    np.testing.assert_allclose(read["king"], expected / np.linalg.norm(expected), atol=1e-4)


def test_a_stopped_training_goes_on_to_the_same_file(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    def progress(done: int, total: int, _loss: float) -> None:
        if done == total // 2:
            raise Stopped

    out, whole = tmp_path / "stopped.txt", tmp_path / "whole.txt"
    with pytest.raises(Stopped):
        trained(court_and_farm(50), out, progress=progress)
    assert checkpoint_folder(out).is_dir() and not out.exists()
    trained(court_and_farm(50), out)
    trained(court_and_farm(50), whole)
    assert out.read_bytes() == whole.read_bytes()
    assert not checkpoint_folder(out).exists()
    with pytest.raises(InputError, match="--fresh"):
        trained(court_and_farm(50), out)


def test_too_few_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="longer text"):
        trained([["a"], ["b"]], tmp_path / "vectors.txt")
