from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rated import Answers, answers, bounds, table
from understudy.metrics.agreement import item_disagreement, krippendorff_alpha, pairwise_agreement, person_agreement
from understudy.metrics.ratings import Level

CONTRARY: Answers = [["a", "a", "b"], ["b", "b", "a"], ["a", "a", "b"], ["b", "b", "b"], [None, "a", None]]


def test_items_on_which_people_differ_come_first() -> None:
    scores = item_disagreement(table(CONTRARY))
    assert [score.name for score in scores] == ["i0", "i1", "i2", "i3", "i4"]
    # two of the three pairs differ; of the 12 * 11 pairs of any answers (5 'a' and 7 'b') 70 do
    assert scores[0].value == pytest.approx((2 / 3) / (70 / 132)) and scores[0].reason == "a: 2, b: 1"
    assert scores[3].value == 0 and scores[3].reason == "b: 3"
    assert (scores[4].value, scores[4].reason) == (None, "fewer than two people have answered")


def test_who_disagrees_with_whom() -> None:
    pairwise = pairwise_agreement(table(CONTRARY))
    # p0 and p2 differ on three of four items
    assert pairwise.agreement[0, 2] == pytest.approx(1 - 0.75 / (70 / 132))
    assert pairwise.agreement[0, 1] == 1 and np.isnan(pairwise.agreement[1, 1])
    assert pairwise.shared.tolist() == [[0, 4, 4], [4, 0, 4], [4, 4, 0]]
    assert [pair[:2] for pair in pairwise.pairs()] == [("p0", "p2"), ("p1", "p2"), ("p0", "p1")]
    people = person_agreement(table(CONTRARY))
    assert min(people, key=lambda person: people[person].value or 0) == "p2"
    assert people["p2"].value == pytest.approx(1 - 0.75 / (70 / 132))
    value, low, high = bounds(people["p2"])
    assert low < value < high


@given(answers, st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_items_people_and_pairs_are_alpha_taken_apart(rows: Answers, level: Level) -> None:
    own = table(rows, level)
    alpha = krippendorff_alpha(own, resamples=1).value
    assume(alpha is not None)
    sizes = dict(zip(own.items, own.counts.sum(axis=1)))
    by_item = [(score.value, sizes[score.name]) for score in item_disagreement(own) if score.value is not None]
    assert 1 - np.average([value for value, _ in by_item], weights=[size for _, size in by_item]) == pytest.approx(
        alpha, abs=1e-9
    )
    people = [(each.value, each.n) for each in person_agreement(own, resamples=1).values() if each.value is not None]
    assert np.average([value for value, _ in people], weights=[n for _, n in people]) == pytest.approx(alpha, abs=1e-9)
    pairwise = pairwise_agreement(own)
    assert np.allclose(pairwise.agreement, pairwise.agreement.T, equal_nan=True)
    assert np.nanmax(pairwise.agreement) <= 1


@given(answers)
def test_people_with_other_names_agree_as_before(rows: Answers) -> None:
    ahead, back = table(rows, "ordinal"), table([row[::-1] for row in rows], "ordinal")
    assert np.allclose(
        pairwise_agreement(ahead).agreement, pairwise_agreement(back).agreement[::-1, ::-1], equal_nan=True
    )


def test_without_agreement_there_is_a_reason_for_each() -> None:
    same = table([["a", "a"], ["a", "a"]])
    assert all(score.value is None and "one and the same" in score.reason for score in item_disagreement(same))
    assert all(each.value is None and each.reason for each in person_agreement(same).values())
    assert pairwise_agreement(same).pairs() == [] and "one and the same" in pairwise_agreement(same).reason
    assert pairwise_agreement(same).shared.tolist() == [[0, 2], [2, 0]]
    assert item_disagreement(table([[None, None]]))[0].reason == "nobody has answered"
    alone = person_agreement(table([[1, 2, None], [None, None, 3]], "ordinal"))
    assert (alone["p2"].value, alone["p2"].reason) == (None, "shares no item with anybody")


def test_the_example_of_the_docs_prints_what_it_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    section = page[page.index("## Agreement between people") :]
    shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", section, re.DOTALL)
    assert shown is not None
    done = subprocess.run([sys.executable, "-W", "error", "-c", shown[1]], capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", shown[2])
