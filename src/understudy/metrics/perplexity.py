"""Perplexity of a set of replies under a language model, and how far it tells right replies from wrong ones.

    PPL(S)  = exp(- sum over replies of S of ln P(reply) / sum over replies of S of units(reply))
    units   = words + 1 for the end of the reply   (per word: models that cut words into tokens differently compare)
            = tokens, the end among them           (per token)
    deltaP  = (PPL(negatives) - PPL(positives)) / (PPL(negatives) + PPL(positives))

ln P(reply) is the sum of what `LanguageModel.log_probs` gives. A word is what stands between blanks; of Japanese and
Chinese, a character. The paper of HPD takes deltaP session by session, from all negatives of a session together, and
reports the mean: that is the mean of `delta_p_by_item`. `delta_p_of_sets` has the perplexities of all positives and of
all negatives instead; one session with a very improbable reply weighs more in it. deltaP lies between -1 and 1 (the
paper's 0 to 1 holds where every negative is the less probable), and with it

    deltaP  = tanh((ln PPL(negatives) - ln PPL(positives)) / 2)

so that it does not overflow where a perplexity would. Groups (dialogues) are resampled for intervals, and the ratio of
sums is taken anew each time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.metrics.statistics import Interval, totals_interval

__all__ = ["LARGEST", "SetLikelihood", "delta_p_by_item", "delta_p_of_sets", "perplexity", "word_units"]

Reals = NDArray[np.float64]
LARGEST = 700.0  # exp of more overflows
UNSPACED = ("ja", "zh")


class SetLikelihood(NamedTuple):
    """For each item the summed log-probability of its replies, and of how many units (words or tokens) it is."""

    log_probs: Sequence[float] | Reals
    units: Sequence[int] | Reals


def word_units(text: str, language: str = "en") -> int:
    """The words of a reply, and one for its end."""
    words = text.split()
    return 1 + (sum(map(len, words)) if language in UNSPACED else len(words))


def perplexity(replies: SetLikelihood, groups: Sequence[Hashable] | None = None, seed: int = 0) -> Interval:
    """PPL of all replies together, with its 95% interval."""
    return totals_interval(_columns(replies), lambda totals: np.exp(_surprise(totals)), groups, seed)


def delta_p_by_item(positive: SetLikelihood, negative: SetLikelihood) -> Reals:
    """deltaP of each item; its mean is the paper's figure."""
    return _delta(np.concatenate([_columns(positive), _columns(negative)], axis=-1))


def delta_p_of_sets(
    positive: SetLikelihood, negative: SetLikelihood, groups: Sequence[Hashable] | None = None, seed: int = 0
) -> Interval:
    """deltaP of the perplexities of all positives and all negatives, with its 95% interval."""
    columns = np.concatenate([_columns(positive), _columns(negative)], axis=-1)
    return totals_interval(columns, _delta, groups, seed)


def _columns(replies: SetLikelihood) -> Reals:
    columns = np.stack([np.asarray(values, dtype=np.float64) for values in replies], axis=-1)
    if not (columns[:, 1] > 0).all():
        raise ValueError("an item without words or tokens has no perplexity")
    return columns


def _surprise(totals: Reals) -> Reals:
    """ln PPL from the sum of log-probabilities and the number of units."""
    return np.minimum(-totals[..., 0] / totals[..., 1], LARGEST)


def _delta(totals: Reals) -> Reals:
    difference: Reals = np.tanh((_surprise(totals[..., 2:]) - _surprise(totals[..., :2])) / 2)
    return difference
