from __future__ import annotations

import math
import re
import subprocess
import sys
from functools import cache
from itertools import permutations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from measured import FLEISS, KRIPPENDORFF, Answers, answers, bounds, counted, table
from timing import growth
from understudy.errors import InputError
from understudy.metrics.agreement import (
    agreement_rows,
    cohen_kappa,
    fleiss_kappa,
    item_disagreement,
    kappa_interval,
    krippendorff_alpha,
    pairwise_agreement,
    person_agreement,
)
from understudy.metrics.ratings import Level, RatingTable, Scale
from understudy.metrics.statistics import Estimate

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
UNITS = list(zip(*KRIPPENDORFF))
PEOPLE = tuple(map(str, range(20)))


def alpha(rows: Answers, level: Level = "nominal", resamples: int = 1) -> float:
    value = krippendorff_alpha(table(rows, level), resamples=resamples).value
    return math.nan if value is None else value


@pytest.mark.parametrize(("level", "published"), list(zip(LEVELS, (0.743, 0.815, 0.849, 0.797))))
def test_alpha_of_krippendorffs_example(level: Level, published: float) -> None:
    estimate = krippendorff_alpha(table(UNITS, level))
    assert estimate.value == pytest.approx(published, abs=0.0005)
    assert estimate.n == 11, "the last item has one answer"
    value, low, high = bounds(estimate)
    assert low < value < high <= 1


def test_alpha_of_krippendorffs_examples_with_two_observers() -> None:
    yes_no = zip("0100000010", "1110010000")
    names = zip("aabbdcccedda", "babbbcccedd" + "d")
    assert alpha(list(yes_no)) == pytest.approx(0.095, abs=0.0005)
    assert alpha(list(names)) == pytest.approx(0.692, abs=0.0005)


def test_fleiss_kappa_of_published_tables() -> None:
    psychiatrists = fleiss_kappa(counted([[int(count) for count in row] for row in FLEISS.split()]))
    assert psychiatrists.value == pytest.approx(0.430, abs=0.0005) and psychiatrists.n == 30
    fourteen = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    assert fleiss_kappa(counted(fourteen)).value == pytest.approx(0.210, abs=0.0005)


def test_items_count_alike_in_fleiss_kappa_however_many_answered_them() -> None:
    """By hand: P = (1/3 + 1) / 2, shares of 'a' (2/3 + 0) / 2 and of 'b' 2/3, so chance is 1/9 + 4/9."""
    value = fleiss_kappa(table([["a", "a", "b"], ["b", "b", None], ["a", None, None]])).value
    assert value == pytest.approx((2 / 3 - 5 / 9) / (1 - 5 / 9))


def test_cohens_kappa_of_his_own_table() -> None:
    """Cohen 1968: two judges and 200 cases; 140 agree, and .41 of them would by chance."""
    counts = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    cases = [(row, column) for row in range(3) for column in range(3) for _ in range(counts[row][column])]
    estimate = cohen_kappa(table([*cases, (1, None)]), "p0", "p1")
    assert estimate.value == pytest.approx((0.70 - 0.41) / (1 - 0.41)) and estimate.n == 200
    _, low, high = bounds(estimate)
    # the standard error that he gives, sqrt(.70 * .30 / 200) / (1 - .41)
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.7 * 0.3 / 200) / 0.59, rel=0.1)


@given(answers)
def test_cohens_kappa_is_the_same_from_both_sides(rows: Answers) -> None:
    ahead, back = (cohen_kappa(table(rows), *pair, resamples=1).value for pair in (("p0", "p2"), ("p2", "p0")))
    assert back == (None if ahead is None else pytest.approx(ahead))


def test_kappa_is_of_people_who_answered() -> None:
    with pytest.raises(InputError, match="nobody called 'Zoe' answered 'q'"):
        cohen_kappa(table([[1, 2]]), "p0", "Zoe")


def by_pairs(rows: Answers, level: Level) -> float:
    """Alpha by its definition: the mean difference of two answers to an item, and of any two answers."""
    kept = [[float(value) for value in row if value is not None] for row in rows]
    kept = [row for row in kept if len(row) > 1]
    every = [value for row in kept for value in row]

    def difference(a: float, b: float) -> float:
        if level == "nominal":
            return a != b
        if level == "interval":
            return (a - b) ** 2
        if level == "ratio":
            return ((a - b) / (a + b)) ** 2
        low, high = sorted((a, b))
        between = sum(low <= value <= high for value in every)
        return (between - (every.count(a) + every.count(b)) / 2) ** 2 if a != b else 0

    within = sum(sum(difference(*pair) for pair in permutations(row, 2)) / (len(row) - 1) for row in kept)
    overall = sum(difference(*pair) for pair in permutations(every, 2))
    return 1 - (len(every) - 1) * within / overall if overall else math.nan


@given(answers, st.sampled_from(LEVELS))
def test_alpha_is_what_its_definition_says(rows: Answers, level: Level) -> None:
    assert alpha(rows, level) == pytest.approx(by_pairs(rows, level), nan_ok=True)


@given(answers, st.sampled_from(LEVELS), st.randoms())
def test_neither_who_nor_which_item_comes_first_matters(rows: Answers, level: Level, random: Random) -> None:
    value = alpha(rows, level)
    assert alpha(random.sample(rows, len(rows)), level) == pytest.approx(value, nan_ok=True)
    assert alpha([random.sample(row, len(row)) for row in rows], level) == pytest.approx(value, nan_ok=True)
    kappa = fleiss_kappa(table(rows), resamples=1).value
    shuffled = fleiss_kappa(table([random.sample(row, len(row)) for row in rows]), resamples=1).value
    assert shuffled == (None if kappa is None else pytest.approx(kappa))


@given(answers, st.sampled_from(LEVELS))
def test_alpha_is_1_where_all_agree_and_only_there(rows: Answers, level: Level) -> None:
    several = [[value for value in row if value is not None] for row in rows]
    several = [row for row in several if len(row) > 1]
    assume(len({value for row in several for value in row}) > 1)
    agreed = all(len(set(row)) == 1 for row in several)
    value = alpha(rows, level)
    assert (value == pytest.approx(1, abs=1e-9)) == agreed
    assert value <= 1 + 1e-9


@given(answers, st.permutations(range(1, 6)))
def test_names_can_be_exchanged_on_a_nominal_scale(rows: Answers, names: list[int]) -> None:
    renamed = [[None if value is None else names[int(value) - 1] for value in row] for row in rows]
    assert alpha(renamed) == pytest.approx(alpha(rows), nan_ok=True)
    kappas = [cohen_kappa(table(some), "p0", "p1", resamples=1).value for some in (rows, renamed)]
    assert kappas[0] == (None if kappas[1] is None else pytest.approx(kappas[1]))


@given(answers, st.floats(0.01, 1000), st.floats(-1000, 1000))
def test_what_a_scale_does_not_mean_does_not_matter(rows: Answers, unit: float, zero: float) -> None:
    def mapped(function: object) -> list[list[float | None]]:
        return [[None if value is None else function(value) for value in row] for row in rows]  # type: ignore[operator]

    assert alpha(mapped(lambda value: value**3 - 7), "ordinal") == pytest.approx(alpha(rows, "ordinal"), nan_ok=True)
    assert alpha(mapped(lambda value: -value), "ordinal") == pytest.approx(alpha(rows, "ordinal"), nan_ok=True)
    linear = alpha(mapped(lambda value: unit * value + zero), "interval")
    assert linear == pytest.approx(alpha(rows, "interval"), nan_ok=True, abs=1e-6)
    assert alpha(mapped(lambda value: unit * value), "ratio") == pytest.approx(alpha(rows, "ratio"), nan_ok=True)


@given(st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=2, max_size=12))
def test_with_equal_numbers_nominal_alpha_is_fleiss_kappa_for_small_samples(rows: Answers) -> None:
    kappa = fleiss_kappa(table(rows), resamples=1).value
    assume(kappa is not None)
    answered = 3 * len(rows)
    assert alpha(rows) == pytest.approx(1 - (1 - float(kappa or 0)) * (answered - 1) / answered)


def test_what_neither_agrees_nor_disagrees_has_a_reason() -> None:
    cases: dict[str, Answers] = {
        "nobody has answered": [[None, None]],
        "one person alone has answered: agreement takes two": [[1, None], [2, None]],
        "no item was answered by two people": [[1, None], [None, 2]],
        "everybody gave one and the same answer throughout, which chance explains as well": [[1, 1], [1, 1], [2, None]],
    }
    for reason, rows in cases.items():
        for level in LEVELS:
            estimate = krippendorff_alpha(table(rows, level))
            assert (estimate.value, estimate.low, estimate.reason) == (None, None, reason)
        assert fleiss_kappa(table(rows)).reason == reason
    assert cohen_kappa(table([[1, None], [None, 2]]), "p0", "p1").reason == "no item was answered by both p0 and p1"
    assert cohen_kappa(table([[1, 1]]), "p0", "p1").reason == "both gave one and the same answer throughout"


def test_one_item_has_a_value_and_no_interval() -> None:
    for estimate in (krippendorff_alpha(table([[1, 2], [3, None]])), fleiss_kappa(table([[1, 2]]))):
        assert estimate.value is not None and (estimate.low, estimate.high, estimate.n) == (None, None, 1)
    assert cohen_kappa(table([[1, 2]]), "p0", "p1") == Estimate("cohen_kappa", 0.0, None, None, 1)


def test_intervals_are_those_of_items_drawn_one_by_one() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 30)
    rows = [[int(np.clip(value + rng.integers(-1, 2), 1, 5)) for _ in range(3)] for value in truth]
    times = np.random.default_rng(0).multinomial(30, np.full(30, 1 / 30), 200)
    for level in LEVELS:
        drawn = [alpha([rows[index] for index in np.repeat(np.arange(30), row)], level) for row in times]
        estimate = krippendorff_alpha(table(rows, level), resamples=200)
        assert (estimate.low, estimate.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


def test_groups_of_items_are_drawn_together() -> None:
    rng = np.random.default_rng(1)
    once = rng.integers(1, 4, (40, 3)).tolist()
    tenfold = table([row for row in once for _ in range(10)])
    groups = {item: index // 10 for index, item in enumerate(tenfold.items)}
    wide, narrow = (bounds(krippendorff_alpha(tenfold, some)) for some in (groups, None))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def answered_by_twenty(items: int) -> RatingTable:
    """Half of the answers are the truth about their item, the others anything."""
    rng = np.random.default_rng(0)
    shape, truth = (items, 20), rng.integers(0, 7, (items, 1))
    codes = np.where(rng.random(shape) < 0.5, truth, rng.integers(0, 7, shape))
    return RatingTable("q", Scale("ordinal", tuple(range(7))), tuple(map(str, range(items))), PEOPLE, codes)


def test_two_answers_agree_by_more_than_chance_if_both_are_the_truth() -> None:
    assert krippendorff_alpha(answered_by_twenty(1000)).value == pytest.approx(0.25, abs=0.02)


def test_the_time_grows_with_the_items() -> None:
    tables = cache(answered_by_twenty)
    assert growth(lambda items: krippendorff_alpha(tables(items)), 250) < 30, "linear is 8, quadratic 64"


def test_rows_for_each_question() -> None:
    tables = {"who": table([["a", "a"], ["b", "a"], ["b", "b"]]), "points": table([[1, 2], [5, 5]], "ordinal")}
    rows = agreement_rows(tables)
    assert [(row["question"], row["level"], row["metric"]) for row in rows] == [
        ("who", "nominal", "alpha"),
        ("who", "nominal", "fleiss_kappa"),
        ("who", "nominal", "cohen_kappa"),
        ("points", "ordinal", "alpha"),
    ]
    assert all(row.keys() >= {"value", "low", "high", "n", "paper"} for row in rows)
    assert agreement_rows({"open": table([[None, None]])})[0]["reason"] == "nobody has answered"


def test_kappa_of_tables_drawn_together() -> None:
    figure = kappa_interval([[[9, 1], [1, 9]], [[8, 2], [0, 10]], [[10, 0], [3, 7]]])
    assert figure.value == pytest.approx((2 * 53 / 60 - 1), abs=0.01)
    assert figure.low <= figure.value <= figure.high


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
    page = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    section = page[page.index("## Agreement between people") :]
    shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", section, re.DOTALL)
    assert shown is not None
    done = subprocess.run([sys.executable, "-W", "error", "-c", shown[1]], capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", shown[2])
