"""Novels with annotated quotations (PDNC): who is in them, and who says what. `understudy bench novels`.

A row's `novel` is a novel's name, or `all` for the mean over novels (macro), with a bootstrap over novels; within a
novel blocks of 50 quotations are drawn. `kind` is how a quotation tells its speaker (explicit, anaphoric, implicit, or
all of them), `cast` whether quotations and cast were given as annotated or found in the text. Quotations of a group, or
of nobody who can be known, are left out.

A model learns from what a first forest makes of novels that it has not seen. These predictions are shared: novels are
divided into folds, and for each two folds (and each one) one forest is fitted to all novels outside them. Of a novel
that is left out in one fold, no forest that predicts those of another has seen anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.novel_text import FoundNovel, annotated_cast, read_found
from understudy.bench.run import Row, figure_row, manifest_of, sampled
from understudy.metrics.statistics import Interval, calibration_error, interval
from understudy.novels.attribution import QuotationModel, shipped_quotation_model, shipped_training_files
from understudy.novels.context import Floats
from understudy.progress import Progress, ignore_progress
from understudy.sources.source import sha256_of
from understudy.training.pdnc import KINDS, QUOTATIONS, AnnotatedNovel, annotated_novels
from understudy.training.quotations import (
    JudgedNovel,
    LearnedNovel,
    QuotationSettings,
    fit_quotations,
    judge,
    predict_unseen,
)

BLOCK = 50  # quotations that are drawn together within a novel
GIVEN, FOUND = "given", "found"
LEFT_OUT = QuotationSettings()
SHARED_FOLDS = 5
LEAST_SHARED = 10  # novels; of fewer, each model makes predictions of its own

_learned: list[LearnedNovel] = []
"""Of a worker process: evidence is read once, not once a novel."""


@dataclass(frozen=True, slots=True)
class NovelBench:
    """What to judge: the novels of `data`, each by a model of the others; or those of `judge_on`, by one of all of
    `data` or, where `shipped`, by the model that ships. `limit` novels at most, drawn with the seed."""

    data: Path
    judge_on: Path | None = None
    shipped: bool = False
    limit: int | None = None
    seed: int = 0
    workers: int = 1
    progress: Progress = ignore_progress


def bench_novels(inputs: NovelBench) -> dict[str, Any]:
    folder = inputs.judge_on or inputs.data
    novels = annotated_novels(folder)
    chosen = sampled(range(len(novels)), inputs.limit, inputs.seed)
    judged, found = list[JudgedNovel](), list[FoundNovel]()
    for index, model in _models(inputs, novels, chosen):
        judged.append(judge(model, LearnedNovel.of(novels[index])))
        found.append(read_found(novels[index], annotated_cast(folder / novels[index].name), model))
    rows = [*_given_rows(judged, inputs.seed), *_found_rows(judged, found, inputs.seed)]
    settings = {"judge": None if inputs.judge_on is None else str(inputs.judge_on), "shipped": inputs.shipped,
                "folds": LEFT_OUT.folds}  # fmt: skip
    manifest = manifest_of("novels", [], inputs.seed, inputs.limit, settings)
    data = _annotations(folder, [novels[index] for index in chosen])
    return {"rows": rows, "manifest": {**manifest, "data": data}}


def _models(
    inputs: NovelBench, novels: Sequence[AnnotatedNovel], chosen: Sequence[int]
) -> Iterator[tuple[int, QuotationModel]]:
    def progress(done: int, total: int) -> None:
        inputs.progress("Novels, each by a model of the others", done, total)

    if inputs.shipped:
        yield from ((index, shipped_quotation_model()) for index in chosen)
    elif inputs.judge_on is None:
        yield from left_out_models(novels, chosen, inputs.seed, inputs.workers, progress)
    else:
        names = {novels[index].name for index in chosen}
        others = [novel for novel in annotated_novels(inputs.data) if novel.name not in names]
        model = model_of(others, _annotations(inputs.data, others), inputs.seed)
        yield from ((index, model) for index in chosen)


def _annotations(folder: Path, novels: Sequence[AnnotatedNovel]) -> dict[str, str]:
    return {f"{novel.name}/{QUOTATIONS}": sha256_of(folder / novel.name / QUOTATIONS) for novel in novels}


def _given_rows(judged: Sequence[JudgedNovel], seed: int) -> Iterator[Row]:
    for kind in (*KINDS, "all"):
        marks = {novel.name: novel.marks(kind) for novel in judged}
        yield from _rows("accuracy", marks, seed, kind=kind, cast=GIVEN)
    to = {novel.name: novel.addressee_marks for novel in judged}
    yield from _rows("addressee_accuracy", to, seed, kind="all", cast=GIVEN)
    confidence = np.concatenate([novel.confidence[novel.is_judged] for novel in judged])
    right = np.concatenate([novel.is_right[novel.is_judged] for novel in judged])
    if len(right):
        error = Interval(calibration_error(confidence, right), float("nan"), float("nan"))
        yield _row("calibration_error", error, len(right), "all", kind="all", cast=GIVEN)


def _found_rows(judged: Sequence[JudgedNovel], found: Sequence[FoundNovel], seed: int) -> Iterator[Row]:
    for kind in (*KINDS, "all"):
        marks = {
            novel.name: each.is_right[novel.is_judged & (kind == "all" or novel.kinds == kind)]
            for novel, each in zip(judged, found)
        }
        yield from _rows("accuracy", marks, seed, kind=kind, cast=FOUND)
    for metric, kind, shares in (
        ("precision", "quotations", [each.quotations.precision for each in found]),
        ("recall", "quotations", [each.quotations.recall for each in found]),
        ("recall", "cast", [each.cast.found for each in found]),
    ):
        known = [(novel.name, share) for novel, share in zip(judged, shares) if share is not None]
        for name, share in known:
            yield _row(metric, share, 1, name, kind=kind, cast=FOUND)
        if known:
            figure = _over_novels([share for _, share in known], seed)
            yield _row(metric, figure, len(known), "all", kind=kind, cast=FOUND)


def _rows(metric: str, marks: dict[str, Any], seed: int, **judged: str) -> Iterator[Row]:
    """A row for each novel, then one for the mean over novels."""
    shares = []
    for novel, values in marks.items():
        if not len(values):
            yield figure_row({"novel": novel, **judged}, metric, "the novel has none")
            continue
        floats = np.asarray(values, np.float64).tolist()
        blocks = [number // BLOCK for number in range(len(floats))]
        figure = interval(floats, blocks if blocks[-1] else None, seed)
        shares.append(figure.value)
        yield _row(metric, figure, len(floats), novel, **judged)
    if shares:
        yield _row(metric, _over_novels(shares, seed), sum(map(len, marks.values())), "all", **judged)


def _over_novels(shares: Sequence[float], seed: int) -> Interval:
    """The mean over novels; of one alone nothing tells how far others would be from it."""
    return interval(shares, None, seed) if len(shares) > 1 else Interval(shares[0], float("nan"), float("nan"))


def _row(metric: str, figure: Interval | float, n: int, novel: str, **judged: str) -> Row:
    return figure_row({"novel": novel, **judged}, metric, (figure, n))


# Models for judging novels: each novel by one that has not seen it.


def model_of(novels: Sequence[AnnotatedNovel], files: Mapping[str, str], seed: int) -> QuotationModel:
    """A model of these novels, whose annotations are `files` by sha256; the one that ships, if it is of the same."""
    if files == shipped_training_files():
        return shipped_quotation_model()
    return fit_quotations([LearnedNovel.of(novel) for novel in novels], LEFT_OUT, seed)


def left_out_models(
    novels: Sequence[AnnotatedNovel],
    judged: Sequence[int],
    seed: int,
    workers: int,
    progress: Callable[[int, int], None],
) -> Iterator[tuple[int, QuotationModel]]:
    """For each of the judged novels, a model of all the others."""
    with _pool(novels, workers) as pool:
        mapped = map if pool is None else pool.map
        pairs = _fold_pairs(len(novels), judged)
        total = len(pairs) + len(judged)
        predicted: dict[tuple[int, int], dict[int, Floats]] = {}
        for pair, predictions in zip(pairs, mapped(_predict_without, pairs, [seed] * len(pairs))):
            predicted[pair] = predictions
            progress(len(predicted), total)
        alone = [_shared(index, len(novels), predicted) for index in judged]
        models = mapped(_fit_without, judged, alone, [seed] * len(judged))
        for done, (index, model) in enumerate(zip(judged, models), len(pairs) + 1):
            progress(done, total)
            yield index, model


def _fold_pairs(count: int, judged: Sequence[int]) -> list[tuple[int, int]]:
    """Folds that a forest is to leave out: the fold of a judged novel, with each other and alone."""
    if count < LEAST_SHARED:
        return []
    folds = {index % SHARED_FOLDS for index in judged}
    return sorted({_pair(fold, other) for fold in folds for other in range(SHARED_FOLDS)})


def _pair(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _shared(
    left_out: int, count: int, predicted: Mapping[tuple[int, int], Mapping[int, Floats]]
) -> list[Floats] | None:
    """Predictions of all novels but the one left out, by forests that have not seen it either."""
    if not predicted:
        return None
    others = [index for index in range(count) if index != left_out]
    return [predicted[_pair(left_out % SHARED_FOLDS, index % SHARED_FOLDS)][index] for index in others]


def _pool(novels: Sequence[AnnotatedNovel], workers: int) -> nullcontext[None] | Executor:
    if workers > 1:
        return ProcessPoolExecutor(workers, get_context("spawn"), _learn, (list(novels),))
    _learn(list(novels))
    return nullcontext(None)


def _learn(novels: list[AnnotatedNovel]) -> None:
    _learned[:] = [LearnedNovel.of(novel) for novel in novels]


def _predict_without(folds: tuple[int, int], seed: int) -> dict[int, Floats]:
    unseen = [index for index in range(len(_learned)) if index % SHARED_FOLDS in folds]
    return predict_unseen(_learned, unseen, LEFT_OUT, seed)


def _fit_without(index: int, alone: list[Floats] | None, seed: int) -> QuotationModel:
    others = [novel for other, novel in enumerate(_learned) if other != index]
    return fit_quotations(others, LEFT_OUT, seed, alone=alone)
