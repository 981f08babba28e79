from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import InputError
from understudy.people.own_words import statement
from understudy.people.plausibility import (
    NAME,
    Circumstances,
    StatementModel,
    content_words,
    feature_names,
    features,
    shipped_model,
)

ALONE = Circumstances(0.0, 0.0, 0.4, 0.0, 0, False)


def test_every_feature_has_a_name() -> None:
    assert len(features(statement("I am a nurse", "said"), ALONE)) == len(feature_names())


def test_words_are_compared_by_their_stems_without_common_ones() -> None:
    assert content_words("I really love my horses") == {"horse"[:5]}


def test_what_the_other_brought_up_is_less_likely_a_trait_of_ones_own() -> None:
    model = shipped_model()
    echoed = Circumstances(1.0, 1.0, 0.9, 0.0, 0, True)
    said = statement("I have two dogs", "said")
    rows = [features(said, how) for how in (ALONE, echoed)]
    alone, prompted = model.probabilities(rows, np.zeros((2, len(model.vector)), np.float32))
    assert alone > prompted


def test_a_card_without_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({"agent": NAME, "format": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="train the model again"):
        StatementModel.load(tmp_path)
