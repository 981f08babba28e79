from __future__ import annotations

import numpy as np
import pytest

from understudy.metrics import Samples
from understudy.metrics.agreement import calibration_error
from understudy.metrics.voice.contrast import Contrast


def _lines(words: str, own: str, count: int, seed: int) -> list[str]:
    """Lines of common words in which one of the speaker's own comes up now and then."""
    rng = np.random.default_rng(seed)
    common, special = words.split(), own.split()
    return [
        " ".join([*rng.choice(common, 5), *(rng.choice(special, 1) if rng.random() < 0.5 else [])])
        for _ in range(count)
    ]


COMMON = "the boat is out and we go home with you today"
MANNERS = {"Ines": "aye lad harbour", "Tobias": "perhaps rather quite", "Mara": "oh dear goodness"}


def test_later_lines_are_told_apart_and_the_probability_can_be_believed() -> None:
    samples = Samples({name: _lines(COMMON, own, 300, seed) for seed, (name, own) in enumerate(MANNERS.items())})
    values, own = [], []
    for name in MANNERS:
        contrast = Contrast(samples, name)
        for seed, (other, manner) in enumerate(MANNERS.items(), 10):
            values.append(contrast.values(samples.tokenize(_lines(COMMON, manner, 300, seed))))
            own.append(np.full(300, other == name))
    scores, is_own = np.concatenate(values), np.concatenate(own)
    assert scores[is_own].mean() > scores[~is_own].mean() + 0.15
    weights = np.where(is_own, 1.0, 0.5)
    assert np.average(scores, weights=weights) == pytest.approx(0.5, abs=0.05), "own and others count alike"
    assert calibration_error(scores, is_own, weights) < 0.12
    assert calibration_error(scores > 0.5, is_own, weights) > 0.2, "a bare yes or no is believed too much"


def test_words_that_nobody_has_said_count_nothing() -> None:
    samples = Samples({name: _lines(COMMON, own, 60, seed) for seed, (name, own) in enumerate(MANNERS.items())})
    contrast = Contrast(samples, "Ines")
    lines = samples.tokenize(["aye boat", "aye boat zyzzyva", "zyzzyva", "perhaps boat"])
    aye, with_unknown, unknown, perhaps = contrast.values(lines).tolist()
    assert aye == with_unknown > unknown > perhaps
    assert contrast.telling(lines, 1)[0][0] == "aye"
    assert "zyzzyva" not in dict(contrast.telling(lines, 1))
