from __future__ import annotations

import numpy as np
import pytest

from rated import table
from understudy.errors import InputError
from understudy.metrics.ratings import Rating, Scale, rating_tables

RATINGS = [
    Rating("a", "p1", "likely", "yes"),
    Rating("a", "p1", "points", 4),
    Rating("b", "p2", "points", 1.0),
    Rating("b", "p1", "points", None),
    Rating("c", "p2", "points", 5),
]


def test_each_question_has_its_table_of_items_by_people() -> None:
    tables = rating_tables(RATINGS)
    assert list(tables) == ["likely", "points"]
    points = tables["points"]
    assert (points.items, points.people) == (("a", "b", "c"), ("p1", "p2"))
    assert points.scale == Scale("ordinal", (1.0, 4, 5))
    assert points.codes.tolist() == [[1, -1], [-1, 0], [-1, 2]]
    assert points.counts.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert tables["likely"].scale == Scale("nominal", ("yes",))


def test_means_are_of_the_answers_there_are() -> None:
    assert table([[1, 2, None], [None, None, None], [5, 5, 4]], "interval").means() == {
        "i0": 1.5,
        "i2": pytest.approx(14 / 3),
    }
    words = table([["no", "yes"], ["maybe", "yes"]], "ordinal", ("no", "maybe", "yes"))
    assert words.numbers.tolist() == [[1, 3], [2, 3]]
    assert np.isnan(table([[1, None]], "ordinal").numbers[0, 1])
    with pytest.raises(InputError, match="no mean"):
        table([["yes", "no"]]).means()


def test_a_scale_names_its_answers_in_order() -> None:
    scale = Scale("ordinal", ("unlikely", "likely"))
    ratings = [Rating("a", "p1", "q", "likely"), Rating("a", "p2", "q", "unlikely")]
    assert rating_tables(ratings, {"q": scale})["q"].codes.tolist() == [[1, 0]]
    with pytest.raises(InputError, match="'perhaps' is no answer to 'q'"):
        rating_tables([*ratings, Rating("b", "p1", "q", "perhaps")], {"q": scale})
    with pytest.raises(InputError, match="name them in order"):
        rating_tables(ratings, {"q": Scale("ordinal")})


def test_what_cannot_be_a_table_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="'p1' answers 'points' twice for item 'a': keep one"):
        rating_tables([*RATINGS, Rating("a", "p1", "points", 2)])
    with pytest.raises(InputError, match="numbers and words"):
        rating_tables([*RATINGS, Rating("d", "p1", "points", "good")])
    with pytest.raises(InputError, match="not a finite number"):
        rating_tables([Rating("a", "p1", "q", float("nan"))])
    with pytest.raises(InputError, match="have no distances"):
        rating_tables(RATINGS, {"likely": Scale("interval")})
    with pytest.raises(InputError, match="begins at 0"):
        table([[-1, 2]], "ratio")
    with pytest.raises(InputError, match="names an answer twice"):
        Scale("nominal", ("a", "a"))
    with pytest.raises(InputError, match="no level of measurement"):
        Scale("metric")  # type: ignore[arg-type]
