"""How much each clue counts."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.guessing.assignment import best_assignment
from understudy.guessing.weighing import Clues, weigh


def drawn(rng: np.random.Generator, masks: int, weights: np.ndarray) -> Clues:
    """A scene whose right assignment is drawn by how the clues are weighed."""
    table = rng.normal(size=(masks, masks, len(weights)))
    noise = rng.gumbel(size=(masks, masks)) * 0.3
    return Clues(table, best_assignment(table @ weights + noise))


def test_clues_that_tell_weigh_and_those_that_mislead_weigh_against() -> None:
    rng = np.random.default_rng(0)
    true = np.array([2.0, 0.0, -1.0])
    scenes = [drawn(rng, masks, true) for masks in (2, 3, 4) for _ in range(200)]
    found = weigh(scenes, np.zeros(3), hold=0.1)
    assert found[0] > 1.5
    assert found[0] / found[2] == pytest.approx(-2, rel=0.2)
    assert abs(found[1]) < 0.25
    fresh = [drawn(rng, 3, true) for _ in range(200)]
    right = [np.mean(best_assignment(scene.table @ found) == scene.answers) for scene in fresh]
    assert np.mean(right) > 0.85


def test_without_scenes_a_clue_counts_as_it_usually_does() -> None:
    begin = np.array([0.5, -2.0])
    assert weigh([], begin) == pytest.approx(begin)
    one = [drawn(np.random.default_rng(1), 2, begin)]
    assert weigh(one, begin, hold=1000.0) == pytest.approx(begin, abs=0.01)


def test_the_order_of_candidates_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    scenes = [drawn(rng, 3, np.array([1.0, 1.0])) for _ in range(30)]
    turned = [Clues(scene.table[:, [2, 0, 1]], np.array([1, 2, 0])[scene.answers]) for scene in scenes]
    assert weigh(turned, np.zeros(2)) == pytest.approx(weigh(scenes, np.zeros(2)), abs=1e-6)
