"""What all benches do: take a seeded sample, give figures as rows, say what they were made from, save the items.

The manifest says what the figures were made from: version, data, seed, settings, machine.

Items are saved as `{"items": [{"judged": {"agent": ..., "condition": ...}, "names": [...], "ranks": [...]}]}` beside
the manifest: for each thing judged, the items' names and the place of the right answer in each ranking (1 is best);
`marks` may hold further marks of each item by metric, null where an item has none. The part of a name before its first
dot is the group (a dialogue) it belongs to. `compare_runs` compares two saved runs and says on which items they differ
most; `compared` compares the agents of one run two by two.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from understudy import __version__
from understudy.errors import InputError
from understudy.metrics.ranking import RANKING, per_item
from understudy.metrics.statistics import Interval, adjust_p_values, interval, paired_p, wilson
from understudy.progress import Progress
from understudy.sources.jsonstream import load_json
from understudy.sources.source import sha256_of

Document = dict[str, Any]
Row = dict[str, Any]
"""A figure with its interval, or the reason why there is none; its other keys say what was judged."""
Figure = tuple[Interval | float, int] | str
"""A value, with its interval where it has one, and of how many items it is; or the reason why it cannot be had."""
PaperFigure = Callable[[str], float | None]
"""The paper's figure for a metric, None where it has none."""
Item = TypeVar("Item")
LIBRARIES = ("numpy", "ir_measures", "onnxruntime")
Marks = NDArray[np.float64]
SHOWN = 10  # items that differ most
WHO = ("agent", "scorer")


def sampled(every: Sequence[Item], limit: int | None, seed: int) -> list[Item]:
    """A seeded sample in its own order, the same for every agent; everything without a limit."""
    if limit is None or limit >= len(every):
        return list(every)
    return [every[index] for index in np.sort(np.random.default_rng(seed).choice(len(every), limit, replace=False))]


def progress_on(progress: Progress, what: str) -> Progress:
    """Reports of something that is done for one condition, file or other part."""
    return lambda doing, done, total: progress(f"{doing}, {what}", done, total)


def no_paper(metric: str) -> None:
    """For what no paper has figures of."""


def figure_row(what: Mapping[str, Any], metric: str, figure: Figure, paper: float | None = None) -> Row:
    """`what` says what was judged: agent, condition and so on."""
    if isinstance(figure, str):
        return {
            **what, "metric": metric, "value": None, "low": None, "high": None, "n": 0, "paper": paper, "reason": figure
        }  # fmt: skip
    amount, n = figure
    estimate = amount if isinstance(amount, Interval) else Interval(amount, math.nan, math.nan)
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
        "data": {path.name: sha256_of(path) for path in sorted(set(files))},
        "seed": seed,
        "limit": limit,
        "settings": dict(settings),
        "machine": platform.platform(),
        "python": platform.python_version(),
        "libraries": {name: installed for name in LIBRARIES if (installed := _installed(name)) is not None},
    }


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


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
    document = load_json(path, ", so it is not a JSON document of a run: save one with --items FILE or -o FILE")
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


# How far apart two results are on the same items, and how sure that is.


def compare_runs(
    first: Path, second: Path, agents: tuple[str, str] | None = None, seed: int = 0, shown: int = SHOWN
) -> dict[str, Any]:
    """Differences (second minus first) with intervals and p values, and the items that moved most.

    What was judged in both under the same name is paired. Where each run has a single agent, or `agents` names one of
    each, these are paired whatever their names. Only items that both runs have count.
    """
    runs = load_items(first), load_items(second)
    pairs = _paired(*runs, agents)
    if not pairs:
        who = " and ".join(", ".join(dict.fromkeys("/".join(_who(items.judged)) for items in run)) for run in runs)
        raise InputError(f"the runs were not judged on the same thing ({who}): name one of each with --agents A,B")
    rows: list[Row] = []
    moved: list[Row] = []
    for ours, theirs in pairs:
        what = _what(ours, theirs)
        alone = len(set(ours.names) ^ set(theirs.names))
        ours, theirs = _common(ours, theirs)
        before, after = ours.values(), theirs.values()
        for metric in before:
            if metric in after and (known := _known(before[metric], after[metric])).any():
                was, now = before[metric][known], after[metric][known]
                of_groups = [group for group, both in zip(groups_of(ours.names), known) if both]
                difference = interval(now - was, of_groups, seed)._asdict()
                row = {**what, "metric": metric, **difference, "n": len(of_groups), "paper": None, "unpaired": alone}
                row |= {"first": float(was.mean()), "second": float(now.mean())}
                rows.append(row | {"p_value": paired_p(now, was, of_groups, seed)})
        moved += [{**what, **change} for change in _changes(ours, theirs)]
    for metric in dict.fromkeys(row["metric"] for row in rows):
        adjust_p_values([row for row in rows if row["metric"] == metric], "p_value")
    moved.sort(key=_distance, reverse=True)
    manifest = {"bench": "compare", "first": str(first), "second": str(second), "seed": seed}
    return {"rows": rows, "differ_most": moved[:shown], "differ": len(moved), "manifest": manifest}


def _changes(ours: Items, theirs: Items) -> Iterator[Row]:
    """The items that stand elsewhere in the second run or, where nothing is ranked, have another mark."""
    if ours.ranks:
        for name, first, second in zip(ours.names, ours.ranks, theirs.ranks):
            if first != second:
                yield {"item": name, "first_rank": first, "second_rank": second}
        return
    before, after = ours.values(), theirs.values()
    for metric in (metric for metric in before if metric in after):
        for name, was, now in zip(ours.names, before[metric], after[metric]):
            if was != now and not np.isnan(was - now):
                yield {"item": name, "metric": metric, "first": float(was), "second": float(now)}


def _known(ours: Marks, theirs: Marks) -> NDArray[np.bool_]:
    """Which items have a value in both."""
    known: NDArray[np.bool_] = ~np.isnan(ours) & ~np.isnan(theirs)
    return known


def _distance(item: Row) -> float:
    """How far an item has moved: by the reciprocal of its rank or, where nothing is ranked, by its mark."""
    if "first_rank" in item:
        return float(abs(1 / item["second_rank"] - 1 / item["first_rank"]))
    return float(abs(item["second"] - item["first"]))


def _paired(
    first: Sequence[Items], second: Sequence[Items], agents: tuple[str, str] | None
) -> list[tuple[Items, Items]]:
    if agents is not None:
        first = [items for items in first if agents[0] in _who(items.judged)]
        second = [items for items in second if agents[1] in _who(items.judged)]
    single = len({_who(items.judged) for items in first}) == len({_who(items.judged) for items in second}) == 1
    named = {_key(items, single): items for items in second}
    return [(items, named[_key(items, single)]) for items in first if _key(items, single) in named]


def _who(judged: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(judged[key] for key in WHO if key in judged)


def _key(items: Items, nameless: bool) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, value) for key, value in items.judged.items() if not (nameless and key in WHO)))


def _what(ours: Items, theirs: Items) -> Row:
    """What both were judged on; an agent's name stands as 'a -> b' where they differ."""
    return {
        key: value if value == theirs.judged.get(key) else f"{value} -> {theirs.judged.get(key)}"
        for key, value in ours.judged.items()
    }


def _common(ours: Items, theirs: Items) -> tuple[Items, Items]:
    shared = set(ours.names) & set(theirs.names)
    if not shared:
        raise InputError("the two runs have no item in common: they were made from different data or samples")
    order = [name for name in ours.names if name in shared]
    return _picked(ours, order), _picked(theirs, order)


def _picked(items: Items, order: Sequence[str]) -> Items:
    number_of = {name: number for number, name in enumerate(items.names)}
    at = np.array([number_of[name] for name in order])
    marks = {metric: [values[number] for number in at] for metric, values in items.marks.items()}
    ranks = [items.ranks[number] for number in at] if items.ranks else []
    return replace(items, names=order, ranks=ranks, marks=marks)


def compared(items: Sequence[Items], metrics: Sequence[str], on: str, seed: int = 0) -> list[Row]:
    """Differences of those judged `on` the same thing; p values are adjusted over all comparisons of a metric.

    Only items that both have a value of count; two that share none are not compared.
    """
    values = [item.values() for item in items]
    rows: list[Row] = []
    for metric in metrics:
        family: list[Row] = []
        having = [index for index in range(len(items)) if metric in values[index]]
        for a, b in combinations(having, 2):
            first, second = items[a], items[b]
            if first.judged[on] != second.judged[on]:
                continue
            at_second = {name: position for position, name in enumerate(second.names)}
            shared = [position for position, name in enumerate(first.names) if name in at_second]
            names = [first.names[position] for position in shared]
            ours = values[a][metric][shared]
            theirs = values[b][metric][[at_second[name] for name in names]]
            if not (known := _known(ours, theirs)).any():
                continue
            groups = [group for group, both in zip(groups_of(names), known) if both]
            ours, theirs = ours[known], theirs[known]
            value, low, high = interval(ours - theirs, groups, seed)
            agents = [first.judged["agent"], second.judged["agent"]]
            row = {on: first.judged[on], "metric": metric, "agents": agents, "difference": value, "low": low}
            family.append(row | {"high": high, "p_value": paired_p(ours, theirs, groups, seed), "n": len(groups)})
        adjust_p_values(family, "p_value")
        rows += family
    return rows
