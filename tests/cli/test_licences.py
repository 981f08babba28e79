from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from click.testing import Result

from localmodel import needs_model
from understudy.cli.licences import UNKNOWN, Installed, installed

Run = Callable[..., Result]

LESSER: set[str] = set()
"""What is under the LGPL and may be: nothing is, today."""
COPYLEFT = re.compile(r"\b(?:A?GPL|GNU (?:Affero )?General Public)", re.IGNORECASE)
LESSER_COPYLEFT = re.compile(r"\bLGPL|GNU (?:Lesser|Library) General Public", re.IGNORECASE)


@pytest.fixture(scope="module")
def distributions() -> dict[str, Installed]:
    return {entry.name.lower().replace("_", "-"): entry for entry in installed()}


def test_what_runs_is_under_no_licence_that_would_bind_others(distributions: dict[str, Installed]) -> None:
    assert not {name: entry.licence for name, entry in distributions.items() if COPYLEFT.search(entry.licence)}
    assert {name for name, entry in distributions.items() if LESSER_COPYLEFT.search(entry.licence)} == LESSER


def test_every_licence_is_stated(distributions: dict[str, Installed]) -> None:
    assert [name for name, entry in distributions.items() if entry.licence == UNKNOWN] == []


@pytest.mark.parametrize(
    ("name", "part"),
    [("onnxruntime", "base"), ("numpy", "base"), ("fugashi", "ja"), ("jieba", "zh"), ("starlette", "serve"),
     ("anyio", "serve"), ("daft", "scale"), ("torch", "train"), ("sympy", "train")],
)  # fmt: skip
def test_what_is_needed_directly_or_not_is_listed_with_what_needs_it(
    distributions: dict[str, Installed], name: str, part: str
) -> None:
    assert part in distributions[name].needed_by


def test_tools_of_development_are_not(distributions: dict[str, Installed]) -> None:
    assert {"mypy", "pytest", "hypothesis", "playwright"}.isdisjoint(distributions)
    assert "base" not in distributions["starlette"].needed_by


def test_as_a_table_and_as_a_document(run: Run) -> None:
    assert "onnxruntime" in run("licences").stdout
    [own] = [
        entry for entry in json.loads(run("licences", "--json").stdout)["licences"] if entry["name"] == "understudy"
    ]
    assert own["licence"] == "Apache-2.0"
    assert own["needed_by"] == ["base"]


@pytest.mark.parametrize("licence", ["GPL-3.0-or-later", "AGPL-3.0", "GNU General Public License v2 (GPLv2)", "GPLv3"])
def test_a_licence_that_would_is_recognised(licence: str) -> None:
    assert COPYLEFT.search(licence)
    assert not COPYLEFT.search("LGPL-2.1")
    assert LESSER_COPYLEFT.search("LGPL-2.1")


@needs_model
def test_a_model_that_is_there_is_listed(run: Run) -> None:
    entries = json.loads(run("licences", "--json").stdout)["licences"]
    [model] = [entry for entry in entries if entry["name"] == "smollm2 (model)"]
    assert model["licence"] == "Apache-2.0"
    assert model["needed_by"] == ["local"]
