"""Results item by item, saved so that two runs can be compared on the same items.

A document is `{"items": [{"judged": {"agent": ..., "condition": ...}, "names": [...], "ranks": [...]}], "manifest"}`:
for each thing judged, the items' names and the place of the right answer in each ranking (1 is best); `marks` may hold
further marks of each item by metric, null where an item has none. The part of a name before its first dot is the group
(a dialogue) it belongs to.

The manifest says what the figures were made from: version, data, seed, settings, machine.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy import __version__
from understudy.errors import InputError
from understudy.metrics.ranking import RANKING, per_item

__all__ = ["Items", "groups_of", "load_items", "manifest_of", "sha256", "write_items"]

Marks = NDArray[np.float64]

LIBRARIES = ("numpy", "ir_measures", "onnxruntime")


@dataclass(frozen=True, slots=True)
class Items:
    """One agent on one condition (or whatever was judged), item by item."""

    judged: Mapping[str, str]
    names: Sequence[str]
    ranks: Sequence[int]
    marks: Mapping[str, Sequence[float | None]] = field(default_factory=dict)

    def values(self) -> dict[str, Marks]:
        """Each metric's value for each item; NaN where there is none."""
        ranks = [(rank,) for rank in self.ranks]
        values_by_metric = {metric: per_item(ranks, metric) for metric in RANKING} if ranks else {}
        return values_by_metric | {metric: np.asarray(marks, dtype=np.float64) for metric, marks in self.marks.items()}

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"judged": dict(self.judged), "names": list(self.names), "ranks": list(self.ranks)}
        return document | ({"marks": {name: list(marks) for name, marks in self.marks.items()}} if self.marks else {})


def groups_of(names: Sequence[str]) -> list[str]:
    return [name.partition(".")[0] for name in names]


def write_items(path: Path, items: Sequence[Items], manifest: Mapping[str, Any]) -> None:
    document = {"items": [item.document() for item in items], "manifest": manifest}
    path.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")


def load_items(path: Path) -> list[Items]:
    """What a saved run holds item by item."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"is not a JSON document: {error}", path) from error
    records = document.get("items") if isinstance(document, dict) else None
    if not isinstance(records, list) or not records:
        raise InputError("holds no results item by item: save them with --items FILE or -o FILE", path)
    return [_read(record, number, path) for number, record in enumerate(records, 1)]


def _read(record: Any, number: int, path: Path) -> Items:
    match record:
        case {"judged": dict(judged), "names": list(names), "ranks": list(ranks)}:
            marks = record.get("marks", {})
        case _:
            raise InputError(f"run {number} lacks 'judged', 'names' or 'ranks'", path)
    whole = all(isinstance(rank, int) and not isinstance(rank, bool) and rank >= 1 for rank in ranks)
    named = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    if not whole or not named or (ranks and len(ranks) != len(names)):
        raise InputError(f"run {number} needs a name and a rank from 1 for each item, and no name twice", path)
    if not isinstance(marks, dict) or any(not _marks_of(names, values) for values in marks.values()):
        raise InputError(f"run {number} needs one mark, a number or null, for each item of each metric", path)
    return Items({str(key): str(value) for key, value in judged.items()}, names, ranks, marks)


def _marks_of(names: Sequence[str], values: Any) -> bool:
    return (
        isinstance(values, list)
        and len(values) == len(names)
        and all(mark is None or isinstance(mark, int | float) for mark in values)
    )


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
