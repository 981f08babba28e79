"""How many lines of a set does a classifier give to the persona? These judge whole sets, never a single line.

    accuracy(U) = |{u in U : the class of u that is most probable is the wanted one}| / |U|

    personality classification accuracy    the classes are speakers, learnt from their sample lines
    persona accuracy                       the classes are 'expresses the description' and 'does not', learnt from
                                           lines that people have judged

The classifier is PSProb's (see `understudy.metrics.psprob`). Lines without words are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from understudy.dialogue import Score
from understudy.lexical import Lines
from understudy.metrics.psprob import Speakers
from understudy.metrics.samples import Samples

__all__ = ["SetMetric", "persona_accuracy", "personality_classification_accuracy"]

SetMetric = Callable[[Sequence[str] | Lines], Score]
"""Scores a set of lines."""


def personality_classification_accuracy(samples: Samples, name: str, speakers: Speakers | None = None) -> SetMetric:
    """The share of a set that is taken for a persona's, among all personas that have enough sample lines."""
    told = speakers or Speakers(samples, always=name)
    return _share_of("personality_classification_accuracy", told, name)


def persona_accuracy(expressing: Iterable[str], others: Iterable[str], language: str = "en") -> SetMetric:
    """The share of a set that expresses a description, learnt from lines that do and lines that do not."""
    judged = Samples({"expressed": expressing, "not expressed": others}, language)
    return _share_of("persona_accuracy", Speakers(judged), "expressed")


def _share_of(metric: str, speakers: Speakers, name: str) -> SetMetric:
    def score(lines: Sequence[str] | Lines) -> Score:
        cut = lines if isinstance(lines, Lines) else speakers.samples.tokenize(lines)
        if name not in speakers:
            return Score(metric, None, f"no sample lines to tell '{name}' from others by")
        spoken = cut.plain.lengths > 0
        if not spoken.any():
            return Score(metric, None, "no line has words")
        won = speakers.probabilities(cut)[spoken].argmax(axis=1) == speakers.names.index(name)
        chance = 1 / len(speakers.names)
        reason = f"{int(won.sum()):,} of {len(won):,} lines; by chance {chance:.2f}"
        return Score(metric, float(np.mean(won)), reason)

    return score
