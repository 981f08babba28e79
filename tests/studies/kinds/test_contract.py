"""What every kind of study owes: items that are plain data and hide what is hidden, and files that read back."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from studies.samples import crowd, items_of, study_of
from understudy.errors import InputError
from understudy.studies import Study
from understudy.studies.item import Question, StudyItem, item_from_document
from understudy.studies.kind import Kind
from understudy.studies.kinds import KINDS

FEW = 3
WRITERS = ("agent", "agents", "speaker", "a", "b", "proposed")
"""Keys of what is hidden that say who wrote something."""


@dataclass(frozen=True)
class Example:
    kind: Kind
    study: Study
    items: list[StudyItem]


ALONE = [name for name, kind in KINDS.items() if not kind.is_live]
"""Kinds that a person answers without another; chats are tried in `test_chatting`."""


@pytest.fixture(scope="module", params=list(KINDS))
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Example:
    kind = KINDS[request.param]
    study = study_of(kind, tmp_path_factory.mktemp(kind.name))
    small = {key: FEW for key in ("limit", "count") if key in study.material}
    study = replace(study, material={**study.material, **small})
    return Example(kind, study, items_of(kind, study))


def test_the_template_is_of_its_kind_and_gives_items(example: Example) -> None:
    assert example.study.kind == example.kind.name
    assert example.study.instructions.strip()
    assert example.study.consent.strip()
    assert example.items


def test_every_key_of_the_template_has_a_comment(example: Example) -> None:
    material = example.kind.template.partition("[material]\n")[2]
    bare = [line for line in material.splitlines() if line.strip() and "#" not in line]
    assert [line for line in bare if not line.startswith(("character =", "at ="))] == []


def test_names_are_unique(example: Example) -> None:
    names = [item.name for item in example.items]
    assert len(set(names)) == len(names)
    for item in example.items:
        questions = [question.name for question in item.questions]
        assert len(set(questions)) == len(questions)
        for question in item.questions:
            keys = [option.key for option in question.options]
            assert len(set(keys)) == len(keys)


def test_items_pass_through_json(example: Example) -> None:
    for item in example.items:
        assert item_from_document(json.loads(json.dumps(item.document()))) == item


def test_the_same_seed_gives_the_same_items(example: Example) -> None:
    assert items_of(example.kind, example.study) == example.items


def test_nobody_is_shown_who_wrote_what(example: Example) -> None:
    """Which agent, or whether a person, is told nowhere: not by a text, a key or a label."""
    for item in example.items:
        shown = "\n".join(_texts(item.shown())).casefold()
        writers = {*example.study.material.get("agents", ()), *_writers(item.hidden)}
        assert [name for name in writers if name.casefold() in shown] == []
        assert not {"hidden", "expected", "name"} & item.shown().keys()


@pytest.mark.parametrize("example", ALONE, indirect=True)
def test_a_skilled_answer_has_no_problems(example: Example) -> None:
    for each in crowd(example.kind, example.items, people=2):
        assert example.kind.problems(each.item, each.answer) == []
        for question in each.item.questions:
            assert _fits(question, each.answer.get(question.name)), (question.name, each.answer)


@pytest.mark.parametrize("example", ["rate", "criteria", "likely", "guess", "prefer"], indirect=True)
def test_skill_makes_people_agree(example: Example) -> None:
    choosing = [
        (item, question)
        for item in example.items
        for question in item.questions
        if question.type in ("scale", "choice") and not item.after
    ]
    assert choosing
    for item, question in choosing:
        answers = {example.kind.simulate(item, 1.0, random.Random(seed)).get(question.name) for seed in range(5)}
        assert len(answers) == 1
    drawn = [
        {json.dumps(example.kind.simulate(item, 0.0, random.Random(seed))) for seed in range(20)}
        for item, _ in choosing
    ]
    assert any(len(answers) > 1 for answers in drawn)


@pytest.mark.parametrize("example", [name for name in ALONE if KINDS[name].figures is not None], indirect=True)
def test_figures_are_rows(example: Example) -> None:
    assert example.kind.figures is not None
    rows = example.kind.figures(example.study, crowd(example.kind, example.items))
    assert rows
    for row in rows:
        assert {"metric", "value", "low", "high", "n", "paper"} <= row.keys()
        assert row["value"] is not None or row["reason"]
        json.dumps(row, allow_nan=False)


@pytest.mark.parametrize("example", ALONE, indirect=True)
def test_outputs_read_back(example: Example, tmp_path: Path) -> None:
    given = crowd(example.kind, example.items, people=1)
    for name, write in example.kind.outputs.items():
        path = tmp_path / name
        write(example.study, given, path)
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        assert files
        for file in files:
            _parsed(file.read_text(encoding="utf-8"))


def test_a_misspelt_key_is_refused(example: Example) -> None:
    study = replace(example.study, material={**example.study.material, "limmit": 3})
    with pytest.raises(InputError, match="limmit"):
        items_of(example.kind, study)


def _writers(hidden: Mapping[str, Any]) -> Iterator[str]:
    for key in WRITERS:
        value = hidden.get(key, ())
        yield from _texts(list(value.values()) if isinstance(value, dict) else value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _fits(question: Question, value: Any) -> bool:
    keys = [option.key for option in question.options]
    match question.type:
        case "scale":
            return isinstance(value, int) and str(value) in keys
        case "choice":
            return value in keys or (value is None and not question.is_required)
        case "choices":
            return all(key in keys for key in value or ()) and len(value or ()) >= question.least
        case "text":
            return isinstance(value, str) or not question.is_required
        case "texts":
            texts = [text for text in value or () if text.strip()]
            short = all(not question.most_words or len(text.split()) <= question.most_words for text in texts)
            return short and question.least <= len(texts) <= (question.most or len(texts))
        case "table":
            return all(set(row) <= set(keys) for row in value or ())


def _parsed(text: str) -> None:
    for parse in (json.loads, _json_lines, tomllib.loads, _table):
        try:
            parse(text)
        except ValueError:
            continue
        return
    raise AssertionError(f"neither JSON, JSON lines, TOML nor a table: {text[:200]}")


def _table(text: str) -> None:
    widths = {line.count("\t") for line in text.splitlines()}
    if len(widths) != 1 or widths == {0}:
        raise ValueError("lines of different widths")


def _json_lines(text: str) -> None:
    for line in text.splitlines():
        json.loads(line)
