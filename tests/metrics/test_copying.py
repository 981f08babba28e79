from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.metrics import Samples, copying

PROFILE = ["I keep the keys of the harbour.", "Cold tea.", "Yes!"]
WORDS = st.lists(st.sampled_from(["key", "lamp", "boat", "tide"]), max_size=8)


@pytest.mark.parametrize(
    ("line", "share", "reason"),
    [
        ("I keep the keys of the harbour", 1.0, "repeats: i keep the keys of the harbour"),
        ("Well, I keep the boat", 3 / 5, "repeats: i keep the"),
        ("I keep, the keys: cold tea", 1.0, "repeats: i keep the keys cold tea"),
        ("the keys the harbour", 0.0, "repeats no run of the profile"),
        ("Yes, harbour tea", 0.0, "repeats no run of the profile"),
        ("Do I keep the cat, or keys of the cat?", 6 / 10, "repeats: i keep the, keys of the"),
    ],
)
def test_the_share_that_is_word_for_word(line: str, share: float, reason: str) -> None:
    (score,) = copying(Samples({}), PROFILE)([line])
    assert score.value == pytest.approx(share)
    assert score.reason == reason


@settings(deadline=None)
@given(st.lists(WORDS, max_size=4), st.lists(WORDS, min_size=1, max_size=4))
def test_it_is_the_obvious_count(profile: list[list[str]], lines: list[list[str]]) -> None:
    runs = {
        tuple(sentence[at : at + min(3, len(sentence))])
        for sentence in profile
        if len(sentence) > 1
        for at in range(len(sentence) - min(3, len(sentence)) + 1)
    }
    scores = copying(Samples({"a": ["key"]}), [" ".join(one) for one in profile])([" ".join(one) for one in lines])
    for line, score in zip(lines, scores):
        copied = {
            at + step
            for run in runs
            for at in range(len(line) - len(run) + 1)
            if tuple(line[at : at + len(run)]) == run
            for step in range(len(run))
        }
        assert score.value == (pytest.approx(len(copied) / len(line)) if line and runs else None)


def test_without_a_profile_there_is_no_value() -> None:
    (score,) = copying(Samples({}), ["Yes!"])(["yes"])
    assert (score.value, score.reason) == (None, "no profile of the persona")
