from __future__ import annotations

import math
from pathlib import Path

import pytest

from understudy.training.run import Checkpoint, EarlyStopping

torch = pytest.importorskip("torch", reason="training needs the extra 'train'")


def test_the_weights_of_the_lowest_loss_are_kept_over_a_stop(tmp_path: Path) -> None:
    losses = {0: 5.0, 1: 3.0, 2: 2.0, 3: 2.5, 4: math.nan}
    checkpoint = Checkpoint(tmp_path / "best", {})

    def stopping() -> EarlyStopping:
        return EarlyStopping(lambda parameters: losses[int(parameters["epoch"])], checkpoint, patience=2)

    best = stopping()
    for epoch in range(4):
        if epoch == 2:
            best = stopping()  # as a resumed training creates it
        assert not best({"epoch": torch.tensor([float(epoch)])}, epoch)
    assert best({"epoch": torch.tensor([4.0])}, 4)
    assert (best.best_epoch, best.is_over) == (2, True)
    assert best.parameters["epoch"].tolist() == [2.0]
    assert best.losses == [5.0, 3.0, 2.0, 2.5, math.inf]
    again = stopping()
    assert not again({"epoch": torch.tensor([2.0])}, 2), "an epoch may be evaluated a second time"
    assert again.losses == [5.0, 3.0, 2.0]
