from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.language.lexical.rows import Reals, SparseRows, index_ranges, segment_sums, sorted_unique

MATRICES = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.lists(st.integers(0, 3), min_size=width, max_size=width), min_size=1, max_size=6)
)


def sparse(full: Reals) -> SparseRows:
    rows, columns = np.nonzero(full)
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(full)))))
    return SparseRows(starts, columns, full[rows, columns], full.shape[1])


def dense(rows: SparseRows) -> Reals:
    full = np.zeros((len(rows), rows.width))
    full[rows.owners, rows.columns] = rows.values
    return full


@given(MATRICES, st.integers(1, 4))
def test_rows_are_the_matrix_they_stand_for(numbers: list[list[int]], results: int) -> None:
    full = np.array(numbers, dtype=np.float64)
    rows = sparse(full)
    matrix = np.arange(results * full.shape[1], dtype=np.float64).reshape(results, -1)
    assert np.allclose(rows.product(matrix), full @ matrix.T)
    assert np.array_equal(dense(rows.transpose()), full.T)
    assert np.array_equal(dense(rows.take(np.array([0, 0]))), full[[0, 0]])
    assert np.array_equal(dense(rows.filter_values(rows.values > 1)), np.where(full > 1, full, 0))
    lengths = np.linalg.norm(dense(rows.normalized()), axis=1)
    assert np.allclose(lengths, full.any(axis=1))


@given(st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=6))
def test_sums_of_segments_some_of_them_empty(segments: list[list[int]]) -> None:
    values = np.array([value for segment in segments for value in segment], dtype=np.float64)
    starts = np.concatenate(([0], np.cumsum([len(segment) for segment in segments], dtype=np.int64)))
    assert segment_sums(values, starts).tolist() == [sum(segment) for segment in segments]
    indices = index_ranges(starts[:-1], np.diff(starts))
    assert indices.tolist() == list(range(len(values)))


@given(st.lists(st.integers(-5, 5)))
def test_unique_values_ascend(values: list[int]) -> None:
    assert sorted_unique(np.array(values, dtype=np.int64)).tolist() == sorted(set(values))
