"""Where the true profile, or one of its sentences, stands among others, and the error rates that follow.

    error_rate      share of items in which the true one does not come first; an equal score counts as an error
    pairwise_error  mean over items of the share of others that score higher, an equal score counting half

By chance the first is N / (N + 1) among N others, the second 1/2. The paper says of its figures for whole dialogues
that they are 'averaged over all dialogues and candidates', and calls .512 'chance level' among 100 others: they are
pairwise errors. Its figures by length begin at .76, too high for pairs. They stand beside both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.metrics.statistics import interval

__all__ = ["ERRORS", "ProfilePlace", "Row", "error_rows", "place_of"]

Row = dict[str, Any]
ERRORS = ("error_rate", "pairwise_error")


class ProfilePlace(NamedTuple):
    """One item: its name (dialogue, side and, of a sentence, its number), rank, and the share of others above it."""

    item: str
    rank: int
    above: float

    @property
    def dialogue(self) -> str:
        return self.item.split(".")[0]

    @property
    def chair(self) -> str:
        """The dialogue and the side."""
        return ".".join(self.item.split(".")[:2])


def place_of(item: str, true: float, others: NDArray[np.float32]) -> ProfilePlace:
    above, equal = np.count_nonzero(others > true), np.count_nonzero(others == true)
    return ProfilePlace(item, 1 + int(above + equal), float((above + equal / 2) / len(others)) if len(others) else 0.0)


def error_rows(
    what: Mapping[str, Any], placements: Sequence[ProfilePlace], paper: float | None, seed: int
) -> Iterator[Row]:
    """Both error rates with intervals over dialogues."""
    groups = [place.dialogue for place in placements]
    values_by_metric = {"error_rate": [float(place.rank > 1) for place in placements]}
    values_by_metric["pairwise_error"] = [place.above for place in placements]
    for metric, values in values_by_metric.items():
        figure = interval(values, groups, seed)
        low_high = {"value": figure.value, "low": figure.low, "high": figure.high}
        yield {**what, "metric": metric, **low_high, "n": len(placements), "paper": paper}
