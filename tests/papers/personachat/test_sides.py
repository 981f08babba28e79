from __future__ import annotations

import numpy as np
import pytest

from understudy.papers.personachat.sides import error_rows, rank_of


def test_a_place_by_hand() -> None:
    ranked = rank_of("3.B.2", 0.5, np.array([0.9, 0.5, 0.5, 0.1], np.float32))
    assert (ranked.rank, ranked.above) == (4, 0.5), "equal ones come before it in rank, and count half in pairs"
    assert (ranked.dialogue, ranked.side) == ("3", "3.B")
    assert rank_of("1.A", 1.0, np.zeros(0, np.float32)).rank == 1


def test_chance_is_a_half_in_pairs_and_nearly_one_in_rank() -> None:
    rng = np.random.default_rng(0)
    places = [rank_of(f"{n}.A", float(rng.random()), rng.random(100).astype(np.float32)) for n in range(2000)]
    errors = {row["metric"]: row for row in error_rows({"told": "x"}, places, 0.512, 0)}
    assert errors["pairwise_error"]["value"] == pytest.approx(0.5, abs=0.02)
    assert errors["error_rate"]["value"] == pytest.approx(100 / 101, abs=0.01)
    assert errors["error_rate"]["paper"] == 0.512 and errors["error_rate"]["n"] == 2000
