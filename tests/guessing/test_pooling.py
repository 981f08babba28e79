"""Attentive pooling over the vectors of several texts."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.guessing.pooling import learn_pooling


def test_attention_finds_the_text_that_tells() -> None:
    """Each mask has one telling text among noise; the mean of them would say little."""
    rng = np.random.default_rng(0)
    masks, texts, width = 300, 6, 12
    labels = rng.integers(0, 3, masks)
    vectors = rng.normal(0, 1.0, (masks, texts, width)).astype(np.float32)
    vectors[:, :, 0] = 0
    telling = rng.integers(0, texts, masks)
    vectors[np.arange(masks), telling] = 0
    vectors[np.arange(masks), telling, 0] = 3  # 'look here'
    vectors[np.arange(masks), telling, 1 + labels] = 2
    starts = np.arange(0, masks * texts + 1, texts)
    flat = vectors.reshape(-1, width)
    learned = learn_pooling(flat[: 200 * texts], starts[:201], labels[:200], 3, hold=0.001)
    found = learned.scores(flat[200 * texts :], starts[:101])
    assert (found.argmax(axis=1) == labels[200:]).mean() > 0.95
    assert np.exp(found).sum(axis=1) == pytest.approx(np.ones(100))


def test_the_order_of_a_masks_texts_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(8, 4)).astype(np.float32)
    starts = np.array([0, 3, 5, 8])
    learned = learn_pooling(vectors, starts, np.array([0, 1, 0]), 2)
    turned = vectors[[2, 1, 0, 4, 3, 7, 5, 6]]
    assert learned.scores(turned, starts) == pytest.approx(learned.scores(vectors, starts), abs=1e-5)
