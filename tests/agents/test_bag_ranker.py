from __future__ import annotations

import numpy as np

from understudy.agents.bag_ranker import WordVectors, spelled, unit

OKRA = [-0.942809, 0.000000, -0.471405, -0.942809]
VECTORS = WordVectors(["boat", "key"], np.array([[1, 0], [0, 2]], np.float32))


def test_a_text_is_the_sum_of_its_words() -> None:
    np.testing.assert_array_equal(VECTORS.of("Key, boat, key!"), [1, 4])
    np.testing.assert_array_equal(VECTORS.of(""), [0, 0])
    np.testing.assert_allclose(VECTORS.direction("key"), [0, 1])


def test_a_word_never_seen_is_told_by_its_spelling() -> None:
    np.testing.assert_array_equal(VECTORS.of("lantern"), spelled("lantern", 2))
    np.testing.assert_array_equal(VECTORS.of("key lantern"), spelled("lantern", 2) + np.array([0, 2]))


def test_words_spelled_alike_are_alike() -> None:
    first, second, unlike = (unit(spelled(word, 2048)) for word in ("hunting", "hunt", "okra"))
    assert first @ second > 0.2
    assert abs(first @ unlike) < 0.1
    assert np.linalg.norm(spelled("hunting", 2048)) < 1.5


def test_spelling_gives_the_same_vector_everywhere() -> None:
    """Models depend on it: they begin with these vectors, and meet words they do not have."""
    np.testing.assert_allclose(spelled("okra", 4), OKRA, atol=1e-6)


def test_odd_words_have_vectors_too() -> None:
    for word in ("", "é", "\ud800", "x" * 100_000):
        assert np.isfinite(spelled(word, 16)).all()
    assert unit(np.zeros(3, np.float32)).tolist() == [0, 0, 0]
