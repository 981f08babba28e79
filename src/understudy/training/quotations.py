"""Trainer of the `quotations` model. Figures of the card: each novel by a model of the novels of other folds.

A training that was stopped goes on after the last forest that was finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.model_folder import ModelFolder
from understudy.metrics.statistics import calibration_error, interval
from understudy.novels.attribution import (
    MODEL,
    SECOND_POWER,
    Forest,
    NovelEvidence,
    QuotationModel,
    forest_tensors,
    matrix,
)
from understudy.novels.context import Floats, NovelContext
from understudy.novels.turns import event_factors, gap_kinds
from understudy.sources.source import sha256_of
from understudy.training.boosting import BoostingSettings, bin_edges, encode_bins, fit_forest
from understudy.training.loop import Progress
from understudy.training.pdnc import KINDS, QUOTATIONS, AnnotatedNovel, annotated_novels
from understudy.training.run import Checkpoint, TrainingRun, TrainingTask

FIGURE_FOLDS = 4
LEAST_NOVELS = 2


def train(task: TrainingTask[Path, QuotationSettings], progress: Progress) -> ModelFolder:
    run = TrainingRun(task, progress, uses_torch=False)
    novels = [LearnedNovel.of(novel) for novel in annotated_novels(task.data)]
    if len(novels) < LEAST_NOVELS:
        raise InputError(
            f"holds one novel only: the model needs {LEAST_NOVELS} at least, to learn what they share", task.data
        )
    data = {f"{each.novel.name}/{QUOTATIONS}": sha256_of(task.data / each.novel.name / QUOTATIONS) for each in novels}
    run.begin({"data": data})
    store = ForestStore(run.checkpoint, progress, forests_of(task.settings, len(novels)))
    model = fit_quotations(novels, task.settings, task.seed, store.fit)
    judged = list(cross_fitted(novels, task.settings, min(FIGURE_FOLDS, len(novels)), task.seed, store.fit))
    card = run.card(
        agent=MODEL,
        what="Who says a quotation of a novel, and to whom: trees over what the text shows of it, and turn-taking",
        language="en",
        licence="Apache-2.0",
        source="PDNC: the speakers and addressees annotated in its novels; no text of them is in the weights",
        columns=novels[0].columns(),
        settings={**asdict(task.settings), "second_power": SECOND_POWER},
        novels=len(novels),
        quotations=sum(len(each.speakers) for each in novels),
        figures=figures(judged),
    )
    return run.write(card, model.tensors())


class ForestStore:
    """Keeps each forest in the checkpoint as soon as it is fitted."""

    def __init__(self, checkpoint: Checkpoint, progress: Progress, total: int) -> None:
        loaded = checkpoint.load()
        self._checkpoint, self._progress, self._total = checkpoint, progress, total
        self._done = 0 if loaded is None else loaded[0]
        self._state: dict[str, NDArray[Any]] = {} if loaded is None else dict(loaded[1])
        self._made = 0

    def fit(self, name: str, fit: Callable[[], Forest]) -> Forest:
        if f"{name}.values" in self._state:
            forest = Forest(*(self._state[f"{name}.{part}"] for part in ("features", "thresholds", "values")))
        else:
            forest = fit()
            self._state.update(forest_tensors(name, forest))
            self._done += 1
            self._checkpoint.save(self._done, self._state)
        self._made += 1
        self._progress(min(self._made, self._total), self._total, 0.0)
        return forest


def forests_of(settings: QuotationSettings, novels: int) -> int:
    """Forests that a training with its figures fits."""
    folds = min(FIGURE_FOLDS, novels)
    return (min(settings.folds, novels) + 3) + folds * (min(settings.folds, novels - novels // folds) + 3)


def cross_fitted(
    novels: Sequence[LearnedNovel],
    settings: QuotationSettings,
    folds: int,
    seed: int,
    fit: Callable[[str, Callable[[], Forest]], Forest],
) -> Iterator[JudgedNovel]:
    """Every novel, judged by a model of the novels of other folds."""
    for fold in range(folds):
        others = [novel for index, novel in enumerate(novels) if index % folds != fold]

        def named(name: str, make: Callable[[], Forest], fold: int = fold) -> Forest:
            return fit(f"fold {fold}: {name}", make)

        model = fit_quotations(others, settings, seed, named)
        yield from (judge(model, novel) for index, novel in enumerate(novels) if index % folds == fold)


def figures(judged: Sequence[JudgedNovel]) -> dict[str, Any]:
    """Means over novels, with bootstraps over them; how well confidence agrees with accuracy."""
    result: dict[str, Any] = {}
    for kind in (*KINDS, "all"):
        shares = [float(np.mean(marks)) for novel in judged if len(marks := novel.marks(kind))]
        result[kind] = _interval(shares)
    result["addressee"] = _interval(
        [float(np.mean(novel.addressee_marks)) for novel in judged if len(novel.addressee_marks)]
    )
    confidence = np.concatenate([novel.confidence[novel.is_judged] for novel in judged])
    right = np.concatenate([novel.is_right[novel.is_judged] for novel in judged])
    result["calibration_error"] = round(calibration_error(confidence, right), 4)
    result["quotations"] = len(right)
    return result


def _interval(shares: Sequence[float]) -> dict[str, float] | None:
    if not shares:
        return None
    return {name: round(value, 4) for name, value in interval(shares)._asdict().items()}


# What a model makes of an annotated novel: which quotations it gives the right speaker, and how sure it was.
#
# Judged are quotations whose speaker somebody of the cast is. Those that PDNC gives to a group or to nobody who can
# be known are left out. An addressee is right if it is one of those annotated; lines of which nobody who is annotated
# can be named are left out.

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


# Fits the quotations model to novels: out-of-fold predictions, so that each forest learns from what the one before
# makes of novels it has not seen.
#
# Novels are divided into folds. The first forest is fitted once for each fold, to the novels outside it, and predicts
# those inside; factors of turn-taking and the second forest are fitted to these predictions, then the first forest once
# more to all novels. The third forest learns from the speakers that are annotated.

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
    factors = event_factors(
        [(each.gaps, each.evidence.pairs, scores, each.speakers) for each, scores in zip(novels, alone)]
    )
    everything = list(range(len(novels)))
    last_first = fit("first", lambda: _boost(novels, everything, bins, marks, settings.first, seed))
    second = [
        matrix(each.evidence.second(scores, each.evidence.decode(scores, factors)))
        for each, scores in zip(novels, alone)
    ]
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
