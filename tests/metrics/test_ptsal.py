from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.metrics import Samples, ptsal

WORDS = st.sampled_from(["key", "lamp", "boat", "...", "!"])
LINES = st.lists(st.lists(WORDS, min_size=1, max_size=5).map(lambda words: " ".join(["key", *words])), min_size=1)


def terms(line: str) -> list[tuple[str, str]]:
    return list(pairwise(["", *line.split(), ""]))


def obvious(said: dict[str, list[str]], name: str, line: str) -> float:
    counted = [own for own in said.values() if len(own) >= 5]
    counted = list(said.values()) if len(counted) < 2 else counted

    def salience(term: tuple[str, str]) -> float:
        containing = sum(term in terms(line) for line in said[name])
        users = sum(any(term in terms(line) for line in own) for own in counted)
        return containing / len(said[name]) * math.log(len(counted) / max(users, 1))

    saliences = [salience(term) for term in terms(line)]
    return sum(saliences) / len(saliences)


@given(LINES, LINES, LINES, LINES)
def test_it_is_the_formula(ours: list[str], theirs: list[str], others: list[str], lines: list[str]) -> None:
    said = {"a": ours, "b": theirs, "c": others}
    scores = ptsal(Samples(said), "a")([*lines, "lamp unheard key"])
    for line, score in zip([*lines, "lamp unheard key"], scores):
        assert score.value == pytest.approx(obvious(said, "a", line), abs=1e-12)


def test_reasons_name_the_terms_that_are_the_personas_own() -> None:
    samples = Samples({"Ines": ["My key is gone", "my key, my word"], "Tobias": ["The tide is gone"]})
    own, none, single, ends = ptsal(samples, "Ines")(["Where is my key?", "The tide is gone", "Key!", "My own word"])
    assert own.reason == "Ines's own: my key"
    assert (none.value, none.reason) == (0.0, "no pair of its words is Ines's own")
    assert single.value == 0.0
    assert ends.reason == "Ines's own: my at the beginning, word at the end"


def test_marks_are_written_as_they_are() -> None:
    samples = Samples({"Ines": ["My key... gone"], "Tobias": ["The tide"]})
    (score,) = ptsal(samples, "Ines")(["The key..."])
    assert score.reason == "Ines's own: key..."


def test_japanese_terms_are_written_without_spaces() -> None:
    samples = Samples({"リーファ": ["お兄ちゃん、行こう"], "キリト": ["俺は行く"]}, "ja")
    (score,) = ptsal(samples, "リーファ")(["お兄ちゃんと一緒"])
    assert score.value is not None and score.value > 0
    assert "お兄" in score.reason


@pytest.mark.parametrize(
    ("said", "reason"), [({}, "no sample lines of Ines"), ({"Ines": ["The key."]}, "nobody but Ines")]
)
def test_without_evidence_there_is_no_value(said: dict[str, list[str]], reason: str) -> None:
    (score,) = ptsal(Samples(said), "Ines")(["The key."])
    assert score.value is None
    assert reason in score.reason
