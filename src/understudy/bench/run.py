"""What all benches do: take a seeded sample, give figures as rows, say what they were made from, save the items.

The manifest says what the figures were made from: version, data, seed, settings, machine.
"""

from __future__ import annotations

import hashlib
import math
import platform
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from understudy import __version__
from understudy.bench.items import Items, write_items
from understudy.metrics.statistics import Interval, wilson

__all__ = [
    "Document",
    "Figure",
    "PaperFigure",
    "Row",
    "document_of",
    "figure_row",
    "manifest_of",
    "no_paper",
    "sampled",
    "sha256",
    "share_figure",
]

Document = dict[str, Any]
Row = dict[str, Any]
"""A figure with its interval, or the reason why there is none; its other keys say what was judged."""
Figure = tuple[Interval | float, int] | str
"""A value, with its interval where it has one, and of how many items it is; or the reason why it cannot be had."""
PaperFigure = Callable[[str], float | None]
"""The paper's figure for a metric, None where it has none."""
Item = TypeVar("Item")
LIBRARIES = ("numpy", "ir_measures", "onnxruntime")


def sampled(every: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """A seeded sample in its own order, the same for every agent; everything without a limit."""
    if limit is None or limit >= len(every):
        return list(every)
    return [every[index] for index in np.sort(np.random.default_rng(seed).choice(len(every), limit, replace=False))]


def no_paper(metric: str) -> None:
    """For what no paper has figures of."""


def figure_row(what: Mapping[str, Any], metric: str, figure: Figure, paper: float | None = None) -> Row:
    """`what` says what was judged: agent, condition and so on."""
    if isinstance(figure, str):
        return {
            **what, "metric": metric, "value": None, "low": None, "high": None, "n": 0, "paper": paper, "reason": figure
        }  # fmt: skip
    given, n = figure
    estimate = given if isinstance(given, Interval) else Interval(given, math.nan, math.nan)
    value, low, high = (None if math.isnan(number) else number for number in estimate)
    return {**what, "metric": metric, "value": value, "low": low, "high": high, "n": n, "paper": paper}


def share_figure(marks: Collection[bool]) -> Figure:
    """The share of marks that are true, with Wilson's interval."""
    return wilson(sum(marks) / len(marks), len(marks)), len(marks)


def document_of(
    rows: Iterable[Row],
    items: Sequence[Items],
    manifest: Mapping[str, Any],
    save_items: Path | None = None,
    **parts: Sequence[Row],
) -> Document:
    """The document of a bench, with further `parts`; the items are written to a file of their own too, if asked for."""
    if save_items is not None:
        write_items(save_items, items, manifest)
    return {"rows": list(rows), **parts, "manifest": manifest, "items": [item.document() for item in items]}


def manifest_of(
    bench: str, files: Iterable[Path], seed: int, limit: int | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "bench": bench,
        "version": __version__,
        "data": {path.name: sha256(path) for path in sorted(set(files))},
        "seed": seed,
        "limit": limit,
        "settings": dict(settings),
        "machine": platform.platform(),
        "python": platform.python_version(),
        "libraries": {name: installed for name in LIBRARIES if (installed := _installed(name)) is not None},
    }


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
