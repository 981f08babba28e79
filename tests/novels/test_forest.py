from __future__ import annotations

import numpy as np

from understudy.novels.model import Forest, softmax_of_groups


def test_scores_follow_the_questions_of_each_tree() -> None:
    forest = Forest(
        np.array([[0, 1, 1], [1, 0, 0]], np.int32),
        np.array([[0.5, 2.0, -1.0], [np.inf, np.inf, np.inf]], np.float32),
        np.array([[1, 2, 3, 4], [10, 20, 30, 40]], np.float32),
    )
    rows = np.array([[0.5, 2.0], [0.5, 2.5], [0.6, -1.0], [9.0, 0.0]], np.float32)
    assert forest.depth == 2
    assert forest.scores(rows).tolist() == [11, 12, 13, 14]


def test_probabilities_of_a_group_add_up_to_one() -> None:
    scores = np.array([0.0, 0.0, 5.0, 1.0, 1.0, 1.0], np.float32)
    shares = softmax_of_groups(scores, np.array([0, 2]), np.array([0, 0, 1, 1, 1, 1]))
    np.testing.assert_allclose(shares[:2], [0.5, 0.5])
    np.testing.assert_allclose(shares[2:].sum(), 1, rtol=1e-6)
