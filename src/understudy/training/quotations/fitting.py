"""Fits the quotations model to novels: out-of-fold predictions, so that each forest learns from what the one before
makes of novels it has not seen.

Novels are divided into folds. The first forest is fitted once for each fold, to the novels outside it, and predicts
those inside; factors of turn-taking and the second forest are fitted to these predictions, then the first forest once
more to all novels. The third forest learns from the speakers that are annotated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from understudy.novels.attribution import Forest, NovelEvidence, QuotationModel, matrix
from understudy.novels.context import Floats, NovelContext
from understudy.novels.turns import event_factors, gap_kinds
from understudy.training.pdnc import AnnotatedNovel
from understudy.training.quotations.boosting import BoostingSettings, bin_edges, encode_bins, fit_forest

__all__ = ["LearnedNovel", "QuotationSettings", "fit_quotations", "predict_unseen"]

Ints = NDArray[np.int64]
Fit = Callable[[str, Callable[[], Forest]], Forest]
"""Called with a name and what fits a forest of that name: a checkpoint may have it already."""


@dataclass(frozen=True, slots=True)
class QuotationSettings:
    """`folds` of novels; the boosting of the forests."""

    folds: int = 3
    first: BoostingSettings = field(default_factory=BoostingSettings)
    second: BoostingSettings = field(default_factory=BoostingSettings)
    third: BoostingSettings = field(default_factory=lambda: BoostingSettings(trees=60, depth=4, rate=0.15))


@dataclass(frozen=True)
class LearnedNovel:
    """A novel with its evidence and what is to be learned: marks of its pairs."""

    novel: AnnotatedNovel
    evidence: NovelEvidence
    speakers: Ints
    is_speaker: Floats
    is_addressed: Floats
    gaps: Ints

    @classmethod
    def of(cls, novel: AnnotatedNovel) -> LearnedNovel:
        evidence = NovelEvidence.of(NovelContext.of(novel.prose, novel.cast))
        speakers = np.array(novel.speakers, np.int64)
        pairs = evidence.pairs
        addressed = [who in novel.addressees[index] and who != speakers[index]
                     for index, who in zip(pairs.quotations.tolist(), pairs.candidates.tolist())]  # fmt: skip
        marks = np.array(addressed, np.float32)
        totals = np.add.reduceat(marks, pairs.starts)[pairs.quotations]
        return cls(
            novel,
            evidence,
            speakers,
            (pairs.candidates == speakers[pairs.quotations]).astype(np.float32),
            (marks / np.maximum(totals, 1)).astype(np.float32),
            gap_kinds(evidence.context),
        )

    def columns(self) -> dict[str, list[str]]:
        """The names of what each forest sees, in order."""
        evidence, speakers = self.evidence, self.is_speaker
        return {
            "first": list(evidence.first()),
            "second": list(evidence.second(speakers, speakers)),
            "third": list(evidence.third(speakers)),
        }


def _fit_once(_name: str, fit: Callable[[], Forest]) -> Forest:
    return fit()


def fit_quotations(
    novels: Sequence[LearnedNovel],
    settings: QuotationSettings,
    seed: int = 0,
    fit: Fit = _fit_once,
    alone: Sequence[Floats] | None = None,
) -> QuotationModel:
    """`alone`: what a first forest makes of each novel that has not seen it, if that is known already."""
    first = [matrix(each.evidence.first()) for each in novels]
    marks = [each.is_speaker for each in novels]
    bins = _bins(first, settings.first)
    if alone is None:
        predicted: dict[int, Floats] = {}
        count = min(settings.folds, len(novels))
        for fold in range(count):
            inside = list(range(fold, len(novels), count))
            others = [index for index in range(len(novels)) if index not in inside] or inside
            forest = fit(f"first {fold}", lambda: _boost(novels, others, bins, marks, settings.first, seed))  # noqa: B023
            predicted |= {index: novels[index].evidence.softmax(forest.scores(first[index])) for index in inside}
        alone = [predicted[index] for index in range(len(novels))]
    factors = event_factors([(each.gaps, each.evidence.pairs, one, each.speakers) for each, one in zip(novels, alone)])
    everything = list(range(len(novels)))
    last_first = fit("first", lambda: _boost(novels, everything, bins, marks, settings.first, seed))
    second = [matrix(each.evidence.second(one, each.evidence.decode(one, factors))) for each, one in zip(novels, alone)]
    bins = _bins(second, settings.second)
    last_second = fit("second", lambda: _boost(novels, everything, bins, marks, settings.second, seed))
    del second
    third = [matrix(each.evidence.third(each.is_speaker)) for each in novels]
    bins = _bins(third, settings.third)
    addressed = [each.is_addressed for each in novels]
    last_third = fit("third", lambda: _boost(novels, everything, bins, addressed, settings.third, seed))
    return QuotationModel(last_first, last_second, last_third, factors, novels[0].columns())


def predict_unseen(
    novels: Sequence[LearnedNovel], unseen: Sequence[int], settings: QuotationSettings, seed: int = 0
) -> dict[int, Floats]:
    """By index of the unseen novels, what a first forest of all others makes of them."""
    seen = [novel for index, novel in enumerate(novels) if index not in unseen]
    bins = _bins([matrix(each.evidence.first()) for each in seen], settings.first)
    marks = [each.is_speaker for each in seen]
    forest = _boost(seen, range(len(seen)), bins, marks, settings.first, seed)
    chosen = {index: novels[index].evidence for index in unseen}
    return {index: each.softmax(forest.scores(matrix(each.first()))) for index, each in chosen.items()}


@dataclass(frozen=True, slots=True)
class _NovelBins:
    edges: list[Floats]
    codes: list[NDArray[np.uint8]]


def _bins(matrices: Sequence[Floats], settings: BoostingSettings) -> _NovelBins:
    rng = np.random.default_rng(0)
    sample = [rows[rng.choice(len(rows), min(len(rows), 3_000), replace=False)] for rows in matrices if len(rows)]
    edges = bin_edges(np.concatenate(sample), settings.bins)
    return _NovelBins(edges, [encode_bins(edges, rows) for rows in matrices])


def _boost(
    novels: Sequence[LearnedNovel],
    chosen: Sequence[int],
    bins: _NovelBins,
    marks: Sequence[Floats],
    settings: BoostingSettings,
    seed: int,
) -> Forest:
    starts, groups = [], []
    rows = quotations = 0
    for index in chosen:
        pairs = novels[index].evidence.pairs
        starts.append(pairs.starts + rows)
        groups.append(pairs.quotations + quotations)
        rows, quotations = rows + len(pairs), quotations + len(pairs.starts)
    return fit_forest(
        np.concatenate([bins.codes[index] for index in chosen]),
        bins.edges,
        np.concatenate([marks[index] for index in chosen]),
        np.concatenate(starts),
        np.concatenate(groups),
        settings,
        seed,
    )
