"""The answers of a study as a file: JSON lines, a table, or Label Studio's JSON.

    jsonl          an object an answer: {"study", "item", "person", "answer", "comment", "seconds", "answered",
                   "is_check", "asked"}; "asked" is what the person said of themselves where the study asks, and with
                   `unblinded` "hidden" what participants must not know (which agent wrote it)
    csv            the same as a table, with a column for each question, and 'asked: Age' for what people were asked of
                   themselves; what is no single value is JSON in its cell
    label-studio   a list of tasks with their annotations, as Label Studio imports it

A person is a code. `study results --unblind` is logged in the study's database.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.storyfile.toml_file import replace_text
from understudy.studies.item import Item, Question
from understudy.studies.kind import GivenAnswer
from understudy.studies.kinds import kind_of
from understudy.studies.store import StoredStudy

__all__ = ["FORMATS", "format_for", "result_rows", "write_results"]

SUFFIXES = {".jsonl": "jsonl", ".csv": "csv", ".json": "label-studio"}
Asked = Mapping[str, Mapping[str, str]]
"""By person: what they said of themselves, by question."""
ABOUT = ("study", "item", "person", "answered", "seconds", "is_check", "comment")


def result_rows(
    stored: StoredStudy, given: Sequence[GivenAnswer], asked: Asked, unblinded: bool = False
) -> list[dict[str, Any]]:
    rows = []
    for each in given:
        row: dict[str, Any] = {
            "study": stored.name,
            "item": each.item.name,
            "person": each.person,
            "answer": dict(each.answer),
            "comment": each.comment,
            "seconds": each.seconds,
            "answered": each.answered,
            "is_check": each.item.is_check,
            "asked": dict(asked.get(each.person, {})),
        }
        rows.append({**row, "hidden": dict(each.item.hidden)} if unblinded else row)
    return rows


def format_for(path: Path, name: str | None, kind: str) -> str:
    """The format that was named, or that of the file's ending."""
    formats = (*FORMATS, *kind_of(kind).outputs)
    if name is None:
        name = SUFFIXES.get(path.suffix, "")
    if name not in formats:
        raise InputError(f"say which format to write with --format: {', '.join(formats)}", path)
    return name


def write_results(
    path: Path,
    format_name: str,
    stored: StoredStudy,
    given: Sequence[GivenAnswer],
    asked: Asked,
    unblinded: bool = False,
) -> None:
    kind = kind_of(stored.study.kind)
    if format_name in kind.unblinding and not unblinded:
        raise InputError(f"the format {format_name} says which agent wrote what: add --unblind, which is logged", path)
    if format_name in kind.outputs:
        kind.outputs[format_name](stored.study, [each for each in given if not each.item.is_check], path)
    else:
        replace_text(path, FORMATS[format_name](stored, given, asked, unblinded))


def _json_lines(stored: StoredStudy, given: Sequence[GivenAnswer], asked: Asked, unblinded: bool) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in result_rows(stored, given, asked, unblinded))


def _table(stored: StoredStudy, given: Sequence[GivenAnswer], asked: Asked, unblinded: bool) -> str:
    questions = list(dict.fromkeys(question.name for each in given for question in each.item.questions))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    of_people = list(dict.fromkeys(question for each in given for question in asked.get(each.person, ())))
    writer.writerow(
        [*ABOUT, *questions, *(f"asked: {question}" for question in of_people), *(["hidden"] if unblinded else [])]
    )
    for row in result_rows(stored, given, asked, unblinded):
        answers = [_cell(row["answer"].get(name)) for name in questions]
        said = [_cell(row["asked"].get(question)) for question in of_people]
        hidden = [_cell(row["hidden"])] if unblinded else []
        writer.writerow([*(_cell(row[key]) for key in ABOUT), *answers, *said, *hidden])
    return text.getvalue()


def _cell(value: object) -> str:
    """A value as a cell; a spreadsheet must not take what people wrote for a formula."""
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _label_studio(stored: StoredStudy, given: Sequence[GivenAnswer], _: Asked, unblinded: bool) -> str:
    people = {code: number for number, code in enumerate(dict.fromkeys(each.person for each in given), 1)}
    by_item: dict[str, list[GivenAnswer]] = {}
    for each in given:
        by_item.setdefault(each.item.name, []).append(each)
    tasks = []
    for number, (name, answers) in enumerate(by_item.items(), 1):
        item = answers[0].item
        data: dict[str, Any] = {"study": stored.name, "item": name, "text": _text_of(item)}
        if unblinded:
            data["hidden"] = dict(item.hidden)
        annotations = [
            {
                "completed_by": people[each.person],
                "created_at": each.answered,
                "lead_time": each.seconds,
                "result": [
                    _label_result(question, each.answer[question.name])
                    for question in item.questions
                    if question.name in each.answer
                ],
            }
            for each in answers
        ]
        tasks.append({"id": number, "data": data, "annotations": annotations})
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def _label_result(question: Question, value: Any) -> dict[str, Any]:
    result: dict[str, Any] = {"from_name": question.name, "to_name": "text"}
    if question.type == "scale":
        return {**result, "type": "rating", "value": {"rating": value}}
    if question.type in ("choice", "choices"):
        return {**result, "type": "choices", "value": {"choices": [value] if isinstance(value, str) else value}}
    texts = (
        [value] if isinstance(value, str) else [each if isinstance(each, str) else json.dumps(each) for each in value]
    )
    return {**result, "type": "textarea", "value": {"text": texts}}


def _text_of(item: Item) -> str:
    lines = []
    for block in item.blocks:
        lines.append(block.title)
        lines += [f"{said.speaker}: {said.text}" if said.speaker else said.text for said in block.lines]
    return "\n".join(lines)


FORMATS: Mapping[str, Callable[[StoredStudy, Sequence[GivenAnswer], Asked, bool], str]] = {
    "jsonl": _json_lines,
    "csv": _table,
    "label-studio": _label_studio,
}
