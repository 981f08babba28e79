"""Batches of sequences of similar length, so that little is computed for padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

__all__ = ["length_batches"]


def length_batches(lengths: Sequence[int], fits: Callable[[int, int], bool]) -> Iterator[list[int]]:
    """Indices of sequences, shortest first, as many in a batch as fit; a sequence that does not fit is one alone.

    `fits` is asked with the number of rows and the length of the longest.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batch and not fits(len(batch) + 1, lengths[index]):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
