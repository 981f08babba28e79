from __future__ import annotations

from dataclasses import replace

import pytest

from talkers import annotation
from understudy.errors import InputError
from understudy.guessing.analysis import annotation_agreement


def test_kappa_is_agreement_beyond_chance() -> None:
    ours = [annotation(number, 0, history="direct" if number < 10 else "none") for number in range(20)]
    theirs = [annotation(number, 0, history="direct" if 2 <= number < 12 else "none") for number in range(20)]
    rows = {row["annotation"]: row for row in annotation_agreement(ours, theirs)}
    # 16 of 20 agree, by chance half would: (0.8 - 0.5) / (1 - 0.5)
    assert rows["history"]["value"] == rows["direct history"]["value"] == pytest.approx(0.6)
    assert rows["history"]["low"] < 0.6 < rows["history"]["high"]
    assert rows["history"]["n"] == 20 and rows["history"]["paper"] == 0.7551
    assert rows["evidence"]["value"] is None and "same throughout" in rows["evidence"]["reason"]


def test_indirect_and_none_are_the_same_only_where_direct_history_is_asked_for() -> None:
    ours = [annotation(number, 0, history=("direct", "indirect", "none")[number % 3]) for number in range(30)]
    theirs = [replace(item, needs_history="none") if item.needs_history == "indirect" else item for item in ours]
    rows = {row["annotation"]: row["value"] for row in annotation_agreement(ours, theirs)}
    assert rows["direct history"] == 1
    assert 0 < rows["history"] < 1


def test_fine_kinds_may_differ_where_coarse_ones_agree_and_order_does_not_matter() -> None:
    kinds = [["fact (status)"], ["memory", "personality"]]
    ours = [annotation(number, 0, kinds[number % 2]) for number in range(10)]
    theirs = [
        annotation(number, 0, [["fact (relation)"], ["personality", "memory"]][number % 2]) for number in range(10)
    ]
    rows = {row["annotation"]: row["value"] for row in annotation_agreement(ours, theirs)}
    assert rows["coarse evidence"] == 1
    assert rows["evidence"] < 1


def test_only_shared_speakers_count_and_there_must_be_some() -> None:
    ours = [annotation(1, 0, history="direct"), annotation(2, 0), annotation(3, 0)]
    theirs = [annotation(1, 0, history="direct"), annotation(2, 0), annotation(4, 0, history="direct")]
    assert {row["n"] for row in annotation_agreement(ours, theirs)} == {2}
    with pytest.raises(InputError, match="no speaker of a scene in common"):
        annotation_agreement(ours[2:], theirs)
