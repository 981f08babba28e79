"""The rows of `bench novels`.

A row's `novel` is a novel's name, or `all` for the mean over novels (macro), with a bootstrap over novels; within a
novel blocks of 50 quotations are drawn. `kind` is how a quotation tells its speaker (explicit, anaphoric, implicit, or
all of them), `cast` whether quotations and cast were given as annotated or found in the text. Quotations of a group, or
of nobody who can be known, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.bench.items import manifest_of, sha256
from understudy.bench.novels.cast import annotated_cast
from understudy.bench.novels.reading import FoundNovel, read_found
from understudy.bench.novels.speakers import LEFT_OUT, left_out_models, model_of
from understudy.metrics.statistics import Interval, calibration_error, interval
from understudy.progress import Progress, ignore_progress
from understudy.quotations.model import QuotationModel, shipped_quotation_model
from understudy.training.quotations.corpus import KINDS, QUOTATIONS, AnnotatedNovel, annotated_novels
from understudy.training.quotations.fitting import LearnedNovel
from understudy.training.quotations.judging import JudgedNovel, judge

__all__ = ["NovelBench", "bench_novels"]

Row = dict[str, Any]
BLOCK = 50  # quotations that are drawn together within a novel
GIVEN, FOUND = "given", "found"


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
    chosen = list(range(len(novels)))
    if inputs.limit is not None and inputs.limit < len(novels):
        drawn = np.random.default_rng(inputs.seed).choice(len(novels), inputs.limit, replace=False)
        chosen = sorted(drawn.tolist())
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
    return {f"{novel.name}/{QUOTATIONS}": sha256(folder / novel.name / QUOTATIONS) for novel in novels}


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
            yield _row(metric, Interval(share, float("nan"), float("nan")), 1, name, kind=kind, cast=FOUND)
        if known:
            figure = _over_novels([share for _, share in known], seed)
            yield _row(metric, figure, len(known), "all", kind=kind, cast=FOUND)


def _rows(metric: str, marks: dict[str, Any], seed: int, **judged: str) -> Iterator[Row]:
    """A row for each novel, then one for the mean over novels."""
    shares = []
    for novel, values in marks.items():
        if not len(values):
            yield {"novel": novel, **judged, "metric": metric, "value": None, "low": None, "high": None, "n": 0,
                   "paper": None, "reason": "the novel has none"}  # fmt: skip
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


def _row(metric: str, figure: Interval, n: int, novel: str, **judged: str) -> Row:
    low, high = (None if np.isnan(bound) else bound for bound in (figure.low, figure.high))
    return {"novel": novel, **judged, "metric": metric, "value": figure.value, "low": low, "high": high, "n": n,
            "paper": None}  # fmt: skip
