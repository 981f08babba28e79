"""Tables of ratings for tests, from rows of answers, and the published examples that figures are checked against."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from understudy.metrics.ratings import Answered, Level, Rating, RatingTable, Scale, rating_tables
from understudy.metrics.statistics import Estimate, Interval

Answers = Sequence[Sequence[Answered | None]]

# Krippendorff 2011, example D: four observers in rows, twelve units
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]

# Fleiss 1971: how many of six psychiatrists gave each of 30 patients one of five diagnoses
FLEISS = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)

answers = st.lists(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=3, max_size=3), min_size=1, max_size=12)
"""Items by three people, from 1 to 5 where there is an answer."""


def table(rows: Answers, level: Level = "nominal", values: tuple[Answered, ...] = ()) -> RatingTable:
    """From a row of answers for each item, a column for each person."""
    ratings = [
        Rating(f"i{item}", f"p{person}", "q", value)
        for item, row in enumerate(rows)
        for person, value in enumerate(row)
    ]
    return rating_tables(ratings, {"q": Scale(level, values)})["q"]


def counted(counts: Sequence[Sequence[int]]) -> RatingTable:
    """From how many people gave each answer to each item."""
    return table([[answer for answer, count in enumerate(row) for _ in range(count)] for row in counts])


def bounds(estimate: Estimate) -> Interval:
    """Of an estimate that has a value and an interval."""
    assert estimate.value is not None and estimate.low is not None and estimate.high is not None, estimate.reason
    return Interval(estimate.value, estimate.low, estimate.high)
