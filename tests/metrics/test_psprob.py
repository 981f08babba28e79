from __future__ import annotations

import numpy as np
import pytest

from understudy.metrics import Samples, Speakers, psprob
from understudy.metrics.psprob import balanced

SAID = {
    "Ines": ["The key was on its hook.", "My key, my hook.", "Keys of the harbour.", "Who has the key?"] * 3,
    "Tobias": ["The tide is out.", "Boats go with the tide.", "No boat today.", "I row the boat."] * 3,
    "Mara": ["Light the lamp.", "The lamp is lit."],
}


def test_the_one_who_talks_like_this_is_the_most_probable() -> None:
    samples = Samples(SAID)
    speakers = Speakers(samples)
    found = {name: psprob(samples, name, speakers)(["Is the key on the hook?"])[0].value for name in speakers.names}
    assert set(found) == {"Ines", "Tobias"}, "two lines of Mara would leave two lines of everybody"
    assert found["Ines"] is not None and found["Tobias"] is not None
    assert found["Ines"] > 0.55
    assert found["Ines"] + found["Tobias"] == pytest.approx(1.0)


def test_a_persona_with_two_lines_is_told_apart_by_two_of_everybody() -> None:
    samples = Samples(SAID)
    metric = psprob(samples, "Mara")
    lamp, boat = metric(["Light the lamp!", "Row the boat!"])
    assert lamp.value is not None and boat.value is not None
    assert lamp.value > 1 / 3 > boat.value
    assert lamp.reason.startswith("for: ")
    assert "lamp" in lamp.reason
    assert Speakers(samples, always="Mara").lines_each == 2


@pytest.mark.parametrize(
    ("counts", "always", "expected"),
    [
        ({"a": 100, "b": 90, "c": 5}, None, (("a", "b"), 90)),
        ({"a": 100, "b": 50, "c": 40}, None, (("a", "b", "c"), 40)),
        ({"a": 100, "b": 90, "c": 5}, "c", (("a", "b", "c"), 5)),
        ({"a": 100, "b": 9}, "a", (("a", "b"), 9)),
        ({"a": 3, "b": 0}, "a", ((), 0)),
        ({}, None, ((), 0)),
    ],
)
def test_as_many_lines_as_use_the_most_in_all(
    counts: dict[str, int], always: str | None, expected: tuple[tuple[str, ...], int]
) -> None:
    assert balanced(counts, always) == expected


def test_the_seed_chooses_the_lines() -> None:
    samples = Samples({"a": [f"word{n} and" for n in range(30)], "b": ["and so"] * 8})
    first, same, other = (Speakers(samples, seed=seed).probabilities(samples.cut(["word3 and"])) for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    known = [Speakers(samples, seed=seed) for seed in range(3)]
    words = [{n for n in range(30) if one.telling("a", samples.cut([f"word{n}"]), 0)} for one in known]
    assert all(len(one) == 8 for one in words)
    assert words[0] != words[1]
    assert other.shape == (1, 2)


@pytest.mark.parametrize(
    ("said", "name", "line", "reason"),
    [
        (SAID, "Nobody", "The key.", "no sample lines of Nobody"),
        ({"Ines": ["The key."]}, "Ines", "The key.", "nobody but Ines has sample lines"),
        (SAID, "Ines", "?!", "the line has no words"),
        (SAID, "Ines", "", "the line has no words"),
    ],
)
def test_without_evidence_there_is_no_value(said: dict[str, list[str]], name: str, line: str, reason: str) -> None:
    (score,) = psprob(Samples(said), name)([line])
    assert score.value is None
    assert reason in score.reason


def test_unheard_words_are_said_to_be() -> None:
    (score,) = psprob(Samples(SAID), "Ines")(["Supercalifragilistic"])
    assert score.value == pytest.approx(0.5, abs=0.2)
    assert "none of its words" in score.reason


def test_lines_cut_once_serve_every_metric() -> None:
    samples = Samples(SAID)
    lines = samples.cut(["The key.", "The boat."])
    metric = psprob(samples, "Ines")
    assert [score.value for score in metric(lines)] == metric.values(lines).tolist()
    assert metric([]) == []
