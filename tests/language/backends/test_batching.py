from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from understudy.language.backends.batching import length_batches


def fits(rows: int, longest: int) -> bool:
    return rows * longest <= 10


def test_rows_of_one_length_go_together_and_none_is_left_out() -> None:
    assert list(length_batches([5, 1, 5, 2], fits)) == [[1, 3], [0, 2]]
    assert list(length_batches([30, 1], fits)) == [[1], [0]]


@given(st.lists(st.integers(0, 30)))
def test_every_row_is_in_one_batch_that_fits_or_is_alone(lengths: list[int]) -> None:
    batches = list(length_batches(lengths, fits))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) == 1 or fits(len(batch), max(lengths[row] for row in batch)) for batch in batches)
