"""Trainer of the `addressee` model, from novels whose quotations have their addressees (PDNC).

`understudy.training.addressee` has the formula; the figures are of each novel with the weights of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))  # the checkout, so that it runs from anywhere

from recipes.command import recipe
from understudy.language.model_folder import ModelFolder
from understudy.metrics.statistics import interval
from understudy.people.addressees import FEATURES, MODEL
from understudy.sources.source import sha256_of
from understudy.training.addressee import STRENGTH, AddressedLine, fit_addressees, held_out, novel_lines
from understudy.training.loop import Progress
from understudy.training.pdnc import QUOTATIONS, novels_in
from understudy.training.run import TrainingRun, TrainingTask

__all__ = ["AddresseeSettings", "train"]


@dataclass(frozen=True, slots=True)
class AddresseeSettings:
    """`strength` is C of the regression."""

    strength: float = STRENGTH


def train(task: TrainingTask[Path, AddresseeSettings], progress: Progress) -> ModelFolder:
    run = TrainingRun(task, progress, uses_torch=False)
    folders = novels_in(task.data)
    novels = {folder.name: novel_lines(folder, with_silent=True) for folder in folders}
    lines = [line for novel in novels.values() for line in novel]
    run.begin(
        {
            "agent": MODEL,
            "what": "Whom a line is said to: the weights of what a script shows of it",
            "language": "en",
            "licence": "Apache-2.0",
            "source": "PDNC: the speakers and addressees annotated in its novels, and their quotations as evidence; "
            "no text of them is in the weights",
            "features": list(FEATURES),
            "data": {f"{folder.name}/{QUOTATIONS}": sha256_of(folder / QUOTATIONS) for folder in folders},
            "novels": len(folders),
            "lines": len(lines),
        }
    )
    model = fit_addressees(lines, task.settings.strength)
    return run.write(run.card(figures=_figures(novels, task.settings.strength, progress)), model.tensors())


def _figures(novels: Mapping[str, Sequence[AddressedLine]], strength: float, progress: Progress) -> dict[str, Any]:
    """Of lines in which somebody present is addressed, each novel with the weights of the others; 95% intervals."""
    if len(novels) < 2:
        return {}
    right, of_novel = [], []
    for line, probabilities in held_out(novels, novels, strength, progress):
        if line.is_gold.any():
            right.append(float(line.is_gold[probabilities.argmax()]))
            of_novel.append(line.novel)
    figure = interval(right, of_novel)
    return {"accuracy": {name: round(value, 4) for name, value in figure._asdict().items()}, "lines": len(right)}


main = recipe("addressee", train, AddresseeSettings)

if __name__ == "__main__":
    main()
