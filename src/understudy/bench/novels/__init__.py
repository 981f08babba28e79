"""Novels with annotated quotations (PDNC): who is in them, and who says what. `understudy bench novels`.

A row's `novel` is a novel's name, or `all` for the mean over novels (macro), with a bootstrap over novels; within a
novel blocks of 50 quotations are drawn. `kind` is how a quotation tells its speaker (explicit, anaphoric, implicit, or
all of them), `cast` whether quotations and cast were given as annotated or found in the text. Quotations of a group, or
of nobody who can be known, are left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.bench.novels.cast import AnnotatedCharacter, CastFigures, annotated_cast, cast_figures
from understudy.bench.novels.speakers import LEFT_OUT, left_out_models, model_of
from understudy.bench.run import Row, figure_row, manifest_of, sampled, sha256
from understudy.metrics.statistics import Interval, calibration_error, interval
from understudy.novels.attribution import QuotationModel, attribute, shipped_quotation_model
from understudy.novels.cast import find_cast
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import Prose, Quotation, Span
from understudy.progress import Progress, ignore_progress
from understudy.training.pdnc import KINDS, QUOTATIONS, AnnotatedNovel, annotated_novels
from understudy.training.quotations.trainer import JudgedNovel, LearnedNovel, judge

__all__ = ["NovelBench", "bench_novels", "quotation_figures"]

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


# How well the quotations found in a text agree with annotated ones.
#
# Compared are stretches: what stands between one pair of marks. An annotation that leaves out a quotation within a
# quotation, or the narrator's brackets in it, has several parts there; they are one stretch. Marks, blanks and
# punctuation at the ends do not count.
#
#   overlap(a, b) = |a and b| / |a or b|                          in characters
#   recall        = share of the annotated stretches for which one of ours has an overlap of 1/2 or more
#   precision     = share of ours for which an annotated one has
#   exact_recall, exact_precision                                 the same, with an overlap of 1
#   joined        = share of neighbouring stretches, found exactly, that are one quotation in both or in neither

MARKS = frozenset('"“”«»„「」『』')
ENOUGH = 0.5


@dataclass(frozen=True, slots=True)
class QuotationFigures:
    """Shares 0..1, None where there is nothing to count; `found` and `annotated` are numbers of stretches."""

    precision: float | None
    recall: float | None
    exact_precision: float | None
    exact_recall: float | None
    joined: float | None
    found: int
    annotated: int


def quotation_figures(found: Prose, annotated: Prose) -> QuotationFigures:
    """Compare two analyses of the same text."""
    ours = _stretches(found)
    theirs = _stretches(annotated)
    common = sorted(ours.keys() & theirs.keys())
    agreeing = sum((ours[a] == ours[b]) == (theirs[a] == theirs[b]) for a, b in pairwise(common))
    return QuotationFigures(
        _share(_matched(sorted(ours), sorted(theirs)), len(ours)),
        _share(_matched(sorted(theirs), sorted(ours)), len(theirs)),
        _share(len(common), len(ours)),
        _share(len(common), len(theirs)),
        _share(agreeing, len(common) - 1),
        len(ours),
        len(theirs),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole > 0 else None


def _stretches(prose: Prose) -> dict[Span, int]:
    """Each stretch -> the index of its quotation."""
    return {
        stretch: index
        for index, quotation in enumerate(prose.quotations)
        for span in _united(prose.text, quotation)
        if (stretch := _trimmed(prose.text, span)).start < stretch.end
    }


def _united(text: str, quotation: Quotation) -> list[Span]:
    spans: list[Span] = []
    for part in sorted(quotation.parts):
        if (
            spans
            and MARKS.isdisjoint(text[spans[-1].end : part.start])
            and "\n\n" not in text[spans[-1].end : part.start]
        ):
            spans[-1] = Span(spans[-1].start, part.end)
        else:
            spans.append(part)
    return spans


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return Span(start, end)


def _matched(spans: Sequence[Span], others: Sequence[Span]) -> int:
    """How many of `spans` have one of `others` that overlaps enough; both are in order."""
    starts = [other.start for other in others]
    matched = 0
    for span in spans:
        index = max(bisect_right(starts, span.start) - 1, 0)
        while index < len(others) and others[index].start < span.end:
            if _overlap(span, others[index]) >= ENOUGH:
                matched += 1
                break
            index += 1
    return matched


def _overlap(a: Span, b: Span) -> float:
    shared = min(a.end, b.end) - max(a.start, b.start)
    return max(shared, 0) / (max(a.end, b.end) - min(a.start, b.start))


# A novel read from its text alone, against its annotation.
#
# An annotated quotation is right if the found quotation that shares most of its text has a speaker who has a name of
# the annotated one. Figures of the quotations and of the cast are those of `quotations` and `cast`.


@dataclass(frozen=True)
class FoundNovel:
    """`is_right` has an entry for each annotated quotation: is its speaker the one who was found?"""

    quotations: QuotationFigures
    cast: CastFigures
    is_right: NDArray[np.bool_]


def read_found(novel: AnnotatedNovel, people: list[AnnotatedCharacter], model: QuotationModel) -> FoundNovel:
    prose = parse_prose(novel.prose.text, "en")
    cast = find_cast(prose)
    speakers = [each.speaker for each in attribute(prose, cast, model)]
    names = {who.name: _plain((who.name, *who.aliases)) for who in cast}
    gold = [_plain((who.name, *who.aliases)) for who in novel.cast]
    right = []
    for speaker, index in zip(novel.speakers, _overlapping(novel.prose, prose)):
        who = None if index is None else speakers[index]
        right.append(speaker >= 0 and who is not None and bool(names[who] & gold[speaker]))
    return FoundNovel(quotation_figures(prose, novel.prose), cast_figures(cast, people), np.array(right, np.bool_))


def _plain(names: Iterable[str]) -> set[str]:
    return {" ".join(name.replace(".", " ").lower().removeprefix("the ").split()) for name in names}


def _overlapping(annotated: Prose, found: Prose) -> list[int | None]:
    """For each annotated quotation the found one that shares most of its characters."""
    owner = np.full(len(annotated.text) + 1, -1, np.int64)
    for index, quotation in enumerate(found.quotations):
        for part in quotation.parts:
            owner[part.start : part.end] = index
    result: list[int | None] = []
    for quotation in annotated.quotations:
        inside = np.concatenate([owner[part.start : part.end] for part in quotation.parts])
        inside = inside[inside >= 0]
        result.append(int(np.bincount(inside).argmax()) if len(inside) else None)
    return result
