"""What a model makes of an annotated novel: which quotations it gives the right speaker, and how sure it was.

Judged are quotations whose speaker somebody of the cast is. Those that PDNC gives to a group or to nobody who can be
known are left out. An addressee is right if it is one of those annotated; lines of which nobody who is annotated can be
named are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy.quotations.model import QuotationModel
from understudy.training.quotations.fitting import LearnedNovel

__all__ = ["JudgedNovel", "judge"]

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class JudgedNovel:
    """An entry for each quotation: was the speaker right, how sure was it, is it judged, of which kind is it."""

    name: str
    is_right: Marks
    confidence: NDArray[np.float32]
    is_judged: Marks
    kinds: NDArray[np.str_]
    addressee_marks: Marks

    def marks(self, kind: str) -> Marks:
        """Of the judged quotations of a kind, or of 'all'."""
        return self.is_right[self.is_judged & (kind == "all" or self.kinds == kind)]


def judge(model: QuotationModel, learned: LearnedNovel) -> JudgedNovel:
    evidence = learned.evidence
    speakers = model.speakers(evidence)
    matrix = evidence.dense(speakers)
    chosen = matrix.argmax(1)
    addressed = evidence.dense(model.addressees(evidence, speakers))
    addressed[np.arange(len(chosen)), chosen] = 0
    likeliest = addressed.argmax(1).tolist()
    golds = [to - {int(speaker)} for to, speaker in zip(learned.novel.addressees, learned.speakers)]
    return JudgedNovel(
        learned.novel.name,
        chosen == learned.speakers,
        matrix.max(1),
        learned.speakers >= 0,
        np.array(learned.novel.kinds),
        np.array([who in gold for who, gold in zip(likeliest, golds) if gold], np.bool_),
    )
