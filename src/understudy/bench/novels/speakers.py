"""Models for judging novels: each novel by one that has not seen it.

Without data to judge apart, every novel of the data is left out in turn and a model is fitted to the others; with it,
one model is fitted to all of the data (or the shipped one is taken) and judges the other folder's novels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context

from understudy.quotations.model import QuotationModel, shipped_quotation_model, shipped_training_files
from understudy.training.quotations.corpus import AnnotatedNovel
from understudy.training.quotations.fitting import LearnedNovel, QuotationSettings, fit_quotations

__all__ = ["LEFT_OUT", "left_out_models", "model_of"]

LEFT_OUT = QuotationSettings()

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
        models = mapped(_fit_without, judged, [seed] * len(judged))
        for done, (index, model) in enumerate(zip(judged, models), 1):
            progress(done, len(judged))
            yield index, model


def _pool(novels: Sequence[AnnotatedNovel], workers: int) -> nullcontext[None] | Executor:
    if workers > 1:
        return ProcessPoolExecutor(workers, get_context("spawn"), _learn, (list(novels),))
    _learn(list(novels))
    return nullcontext(None)


def _learn(novels: list[AnnotatedNovel]) -> None:
    _learned[:] = [LearnedNovel.of(novel) for novel in novels]


def _fit_without(index: int, seed: int) -> QuotationModel:
    others = [novel for other, novel in enumerate(_learned) if other != index]
    return fit_quotations(others, LEFT_OUT, seed)
