"""Trainer of the `quotations` model. Figures of the card: each novel by a model of the novels of other folds.

A training that was stopped goes on after the last forest that was finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.model_folder import ModelFolder
from understudy.metrics.statistics import calibration_error, interval
from understudy.novels.attribution import MODEL, SECOND_POWER, Forest, QuotationModel, forest_tensors
from understudy.training.dialogues import sha256_of
from understudy.training.loop import Progress
from understudy.training.pdnc import KINDS, QUOTATIONS, annotated_novels
from understudy.training.quotations.fitting import LearnedNovel, QuotationSettings, fit_quotations
from understudy.training.run import Checkpoint, Run, TrainingTask

__all__ = ["JudgedNovel", "cross_fitted", "judge", "train"]

FIGURE_FOLDS = 4
LEAST_NOVELS = 2


def train(task: TrainingTask[Path, QuotationSettings], progress: Progress) -> ModelFolder:
    run = Run(task, progress, uses_torch=False)
    novels = [LearnedNovel.of(novel) for novel in annotated_novels(task.data)]
    if len(novels) < LEAST_NOVELS:
        raise InputError(
            f"holds one novel only: the model needs {LEAST_NOVELS} at least, to learn what they share", task.data
        )
    data = {f"{each.novel.name}/{QUOTATIONS}": sha256_of(task.data / each.novel.name / QUOTATIONS) for each in novels}
    plan = {"settings": asdict(task.settings), "seed": task.seed, "data": data}
    run.begin(plan)
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
