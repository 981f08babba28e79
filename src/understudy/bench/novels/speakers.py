"""Models for judging novels: each novel by one that has not seen it.

Without data to judge apart, every novel of the data is left out in turn and a model is fitted to the others; with it,
one model is fitted to all of the data (or the shipped one is taken) and judges the other folder's novels.

A model learns from what a first forest makes of novels that it has not seen. These predictions are shared: novels are
divided into folds, and for each two folds (and each one) one forest is fitted to all novels outside them. Of a novel
that is left out in one fold, no forest that predicts those of another has seen anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

from understudy.novels.attribution import QuotationModel, shipped_quotation_model, shipped_training_files
from understudy.novels.context import Floats
from understudy.training.pdnc import AnnotatedNovel
from understudy.training.quotations.trainer import LearnedNovel, QuotationSettings, fit_quotations, predict_unseen

__all__ = ["LEFT_OUT", "left_out_models", "model_of"]

LEFT_OUT = QuotationSettings()
SHARED_FOLDS = 5
LEAST_SHARED = 10  # novels; of fewer, each model makes predictions of its own

_learned: list[LearnedNovel] = []
"""Of a worker process: evidence is read once, not once a novel."""


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
