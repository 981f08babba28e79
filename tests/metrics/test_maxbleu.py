from __future__ import annotations

import math
from collections import Counter
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.metrics import Samples, maxbleu

ORDER = 3
LINES = st.lists(st.lists(st.sampled_from(["key", "lamp", "boat", "tide"]), max_size=9), min_size=1, max_size=8)


def bleu(line: list[str], sample: list[str]) -> float:
    """As multi-bleu counts it, one reference."""
    logs = 0.0
    for n in range(1, ORDER + 1):
        ours = Counter(tuple(line[at : at + n]) for at in range(len(line) - n + 1))
        theirs = Counter(tuple(sample[at : at + n]) for at in range(len(sample) - n + 1))
        shared = (ours & theirs).total()
        if not shared:
            return 0.0
        logs += math.log(shared / ours.total())
    return math.exp(logs / ORDER) * (math.exp(1 - len(sample) / len(line)) if len(line) < len(sample) else 1.0)


@given(LINES, LINES)
def test_it_is_the_largest_of_all_pairs(lines: list[list[str]], said: list[list[str]]) -> None:
    samples = Samples({"other": ["lamp boat tide"], "Ines": [*(" ".join(words) for words in said), "rope"]})
    for line, score in zip(lines, maxbleu(samples, "Ines")([" ".join(line) for line in lines])):
        if line:
            best = max(bleu(line, sample) for sample in [*said, ["rope"]])
            assert score.value == pytest.approx(best, abs=1e-12)
        else:
            assert (score.value, score.reason) == (None, "the line has no words")


def test_pieces_do_not_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = Samples({"Ines": ["the tide is out at sea", "the key is out of the boat", "the tide is in"]})
    lines = ["the tide is out of the boat", "", "is out of", "a tide is in a boat", "no", "the key is out"] * 3
    metric = maxbleu(samples, "Ines")
    whole = [score.value for score in metric(lines)]
    for size in (1, 9, 40):
        monkeypatch.setattr(import_module("understudy.metrics.maxbleu"), "WORK", size)
        assert [score.value for score in metric(lines)] == whole


def test_the_reason_is_the_nearest_sample_line_the_first_of_equals() -> None:
    samples = Samples({"Ines": ["We are out.", "The tide is out.", "the tide is out!"], "Tobias": ["The tide is in."]})
    (near, far, short) = maxbleu(samples, "Ines")(["The tide is out.", "No tide today", "Out!"])
    assert (near.value, near.reason) == (1.0, "nearest: The tide is out.")
    assert (far.value, far.reason) == (0.0, "shares no 3 words in a row with a line of Ines")
    assert (short.value, short.reason) == (0.0, "has fewer than 3 words")


def test_other_speakers_lines_do_not_count() -> None:
    samples = Samples({"Ines": ["We are out of rope."], "Tobias": ["The tide is in."]})
    assert maxbleu(samples, "Ines")(["The tide is in."])[0].value == 0.0


def test_who_has_no_lines_has_no_value() -> None:
    samples = Samples({"Ines": ["a"]})
    assert maxbleu(samples, "Ines").name == "maxbleu"
    (score,) = maxbleu(samples, "Mara")(["a"])
    assert (score.value, score.reason) == (None, "no sample lines of Mara")
