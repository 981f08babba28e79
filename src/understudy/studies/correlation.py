"""Which automatic measures go with what people answered: of any measure with any rating, item by item.

People's answers are the lines that `study results -o FILE.jsonl` writes. A rating on a scale is the mean over people; a
choice is, for each option, the share of people who chose it (of two options, the first in order of their names). Checks
are left out. Measures are a JSON document in one of four forms, joined to the answers by the items' names:

    {"items": [{"judged": {...}, "names": [...], "ranks": [...], "marks": {...}}]}    what benches write with --items
    {"lines": [{"line": 1, "scores": {"psprob": 0.3, ...}}]}       what `score --json` says of 'line 1' and the others
    {"psprob": {"line 1": 0.3, ...}, ...}                                            several measures by name
    {"line 1": 0.3, ...}                                                             a single one

Rows hold r_s (`metrics.ratings`) of each measure with each question; intervals draw groups of items (what stands
before the first dot of a name), p values are adjusted after Holm over all rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import InputError
from understudy.metrics.ratings import Correlation, correlations
from understudy.metrics.statistics import holm
from understudy.sources.jsonstream import json_lines
from understudy.sources.source import SourceFile

Values = dict[str, float]
"""By the names of items."""
ALONE = "measure"
RANK = "rank"
SHUFFLES = 100_000  # after Holm p can still be below .001 for 99 rows


def correlate(
    results: Path, measures: Path, measure: str | None = None, question: str | None = None, seed: int = 0
) -> dict[str, Any]:
    """Rows for each question and measure, or for those that are named; and how many items each file has alone."""
    people = _named(read_people_scores(results), question, "question", results)
    values = _named(read_measures(measures), measure, "measure", measures)
    judged = {item for scores in people.values() for item in scores}
    measured = {item for of_items in values.values() for item in of_items}
    if not judged & measured:
        raise InputError(
            f"shares no item with {results.name}: names are like '{min(judged)}' there, like '{min(measured)}' here",
            measures,
        )
    by_pair: dict[tuple[str, str], Correlation] = {}
    for asked, scores in people.items():
        items = [item for item in scores if item in measured]
        if not items:
            continue
        columns = {
            name: np.array([of_items.get(item, np.nan) for item in items], dtype=np.float64)
            for name, of_items in values.items()
        }
        groups = [item.partition(".")[0] for item in items]
        own = correlations(columns, np.array([scores[item] for item in items]), groups, seed, SHUFFLES)
        by_pair |= {(asked, name): correlation for name, correlation in own.items()}
    rows = [{"question": asked, "measure": name, **each.row()} for (asked, name), each in by_pair.items()]
    tested = [row for row in rows if "p" in row]
    for row, adjusted in zip(tested, holm([row["p"] for row in tested])):
        row["p_adjusted"] = adjusted
    return {"rows": rows, "only_answered": len(judged - measured), "only_measured": len(measured - judged)}


def _named(columns: Mapping[str, Values], name: str | None, what: str, path: Path) -> Mapping[str, Values]:
    """All, or those that are called so: in full, or by one of the words between commas."""
    chosen = {key: values for key, values in columns.items() if name in (None, key, *key.split(", "))}
    if not chosen:
        raise InputError(f"has no {what} '{name}': it has {'; '.join(columns)}", path)
    return chosen


def read_people_scores(path: Path) -> dict[str, Values]:
    """By question (and option, of a choice): the mean over people for each item."""
    answers: dict[str, dict[str, list[Any]]] = {}
    source = SourceFile(path)
    for location, record in json_lines(source):
        match record:
            case {"item": str(item), "answer": dict(answer)}:
                pass
            case _:
                raise source.error(
                    "should be an object with item and answer: write the file with `study results -o FILE.jsonl`",
                    location.line,
                )
        if not record.get("is_check"):
            for question, value in answer.items():
                if isinstance(value, int | float | str):
                    answers.setdefault(question, {}).setdefault(item, []).append(value)
    scores = {key: values for question, by_item in answers.items() for key, values in _scores(question, by_item)}
    if not scores:
        raise source.error("holds no rating and no choice to go by")
    return scores


def _scores(question: str, by_item: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, Values]]:
    answers = {value for values in by_item.values() for value in values}
    if not any(isinstance(value, str) for value in answers):
        yield question, {item: float(np.mean(values)) for item, values in by_item.items()}
        return
    options = sorted(map(str, answers))
    if len(options) > len(by_item):
        return  # texts of their own rather than options
    for option in options[:1] if len(options) == 2 else options:
        yield f"{question}, {option}", {item: values.count(option) / len(values) for item, values in by_item.items()}


def read_measures(path: Path) -> dict[str, Values]:
    """Each measure's value of each item that has one."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON ({error})", path) from error
    match document:
        case {"items": [*records]}:
            measures = dict(pair for record in records for pair in _of_bench(record, path))
        case {"lines": [*lines]}:
            measures = _of_lines(lines, path)
        case dict() if document and all(isinstance(value, dict) for value in document.values()):
            measures = {name: _numbers(values, path) for name, values in document.items()}
        case dict() if document:
            measures = {ALONE: _numbers(document, path)}
        case _:
            measures = {}
    measures = {name: values for name, values in measures.items() if values}
    if not measures:
        raise InputError("holds no measure: save one with a bench's --items, or write {measure: {item: value}}", path)
    return measures


def _of_bench(record: Any, path: Path) -> Iterator[tuple[str, Values]]:
    match record:
        case {"judged": dict(judged), "names": [*names]}:
            about = ", ".join(str(value) for value in judged.values())
        case _:
            raise InputError("has items without 'judged' and 'names': save them with a bench's --items", path)
    marks = {**({RANK: record["ranks"]} if record.get("ranks") else {}), **record.get("marks", {})}
    for mark, values in marks.items():
        if len(values) != len(names):
            raise InputError(f"has {len(values)} values of '{mark}' for {len(names)} items", path)
        yield f"{about}, {mark}" if about else mark, _numbers(dict(zip(names, values)), path)


def _of_lines(lines: Sequence[Any], path: Path) -> dict[str, Values]:
    scores: dict[str, dict[str, Any]] = {}
    for line in lines:
        match line:
            case {"line": int(number), "scores": dict(own)}:
                for name, value in own.items():
                    scores.setdefault(name, {})[f"line {number}"] = value
            case _:
                raise InputError("has lines without a number and scores: write it with `score --json`", path)
    return {name: _numbers(values, path) for name, values in scores.items()}


def _numbers(values: Mapping[str, Any], path: Path) -> Values:
    for item, value in values.items():
        if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
            raise InputError(f"has no number for '{item}': write a number, or null where there is none", path)
    return {item: float(value) for item, value in values.items() if value is not None}
