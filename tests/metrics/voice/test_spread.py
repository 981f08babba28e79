from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.metrics.samples import Samples
from understudy.metrics.voice import voice
from understudy.metrics.voice.spread import VoiceSpread, voice_spread

SEA = [
    "Aye, the tide is out.",
    "Mind the mast, lad.",
    "Aye, we sail at noon.",
    "The wind is fair, lad.",
    "Haul the sail.",
]
TOWN = [
    "Pass the ledger, please.",
    "The account is overdue.",
    "Sign here, please.",
    "The bank opens at nine.",
    "Thank you.",
]


@pytest.fixture(scope="module")
def samples() -> Samples:
    return Samples(
        {
            "Gull": [f"{line} {n}" for n in range(8) for line in SEA],
            "Clerk": [f"{line} {n}" for n in range(8) for line in TOWN],
        }
    )


def test_a_line_in_ones_own_voice_is_among_the_own_lines_and_anothers_is_below_them(samples: Samples) -> None:
    spread = voice_spread(samples, "Gull")
    assert spread is not None and len(spread.values) == 40
    own, other = (
        score.value for score in voice(samples, "Gull")(["Aye, mind the sail, lad.", "Sign the ledger, please."])
    )
    assert own is not None and other is not None
    assert spread.percentile(own) > 0.2 > 0.02 > spread.percentile(other)
    assert other < spread.quantile(0.05) <= spread.mean


def test_own_lines_are_scored_as_if_they_had_not_been_heard(samples: Samples) -> None:
    spread = voice_spread(samples, "Clerk")
    assert spread is not None
    heard = voice(samples, "Clerk").values(samples.tokenize(samples.lines("Clerk")))
    assert spread.mean <= float(heard.mean())


def test_where_voice_has_no_value_there_is_no_spread() -> None:
    assert voice_spread(Samples({"Gull": SEA, "Clerk": TOWN}), "Gull") is None
    assert voice_spread(Samples({"Clerk": TOWN}), "Gull") is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.floats(0, 1), st.floats(0, 1))
def test_percentiles_rise_with_the_value_from_0_to_1(values: list[float], one: float, other: float) -> None:
    spread = VoiceSpread(np.sort(np.array(values)))
    low, high = sorted((one, other))
    assert 0.0 <= spread.percentile(low) <= spread.percentile(high) <= 1.0
    assert spread.percentile(-1.0) == 0.0 and spread.percentile(2.0) == 1.0
    assert min(values) <= spread.quantile(0.05) <= max(values)
