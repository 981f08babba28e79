"""What is needed to run Understudy is under no licence that would bind others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

import pytest

LESSER: set[str] = set()
"""What is under the LGPL and may be: nothing is, today."""
COPYLEFT = re.compile(r"\b(?:A?GPL|GNU (?:Affero )?General Public)", re.IGNORECASE)
LESSER_COPYLEFT = re.compile(r"\bLGPL|GNU (?:Lesser|Library) General Public", re.IGNORECASE)
UNKNOWN = "not stated"
SHORT = 100  # characters: longer metadata is a licence's text and not its name
REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^]]*)\])?")
EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")


@pytest.fixture(scope="module")
def licences() -> dict[str, str]:
    """Of Understudy and all that it needs to run, directly or not, of what is installed."""
    found: dict[str, str] = {}
    extras = {*(distribution("understudy").metadata.get_all("Provides-Extra") or ())} - {"dev"}
    waiting, seen = [("understudy", extra) for extra in ("", *sorted(extras))], set[tuple[str, str]]()
    while waiting:
        name, extra = waiting.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # optional, or for another system
        key = re.sub(r"[-_.]+", "-", name).lower()
        if (key, extra) not in seen:
            seen.add((key, extra))
            found[key] = licence_of(package)
            waiting += required(package, extra)
    return found


def required(package: Distribution, extra: str) -> Iterator[tuple[str, str]]:
    """(name, extra) of what a distribution requires, or of what an extra of it adds; other markers are ignored."""
    for requirement in package.requires or ():
        needed, _, marker = requirement.partition(";")
        only_for, match = EXTRA.search(marker), REQUIREMENT.match(needed)
        if match is not None and (only_for[1] if only_for else "") == extra:
            yield from ((match[1], more.strip()) for more in ("", *filter(None, (match[2] or "").split(","))))


def licence_of(package: Distribution) -> str:
    """The licence in a distribution's metadata; where there is none, the beginning of its licence file."""
    for name in ("License-Expression", "License"):
        stated = str((package.metadata.get_all(name) or ("",))[0]).strip()
        if stated and len(stated) <= SHORT and "\n" not in stated and stated != "UNKNOWN":
            return stated
    classified = [stated for stated in package.metadata.get_all("Classifier") or () if "License ::" in stated]
    if classified:
        return " AND ".join(stated.rpartition(" :: ")[2] for stated in classified)
    for file in package.files or ():
        if re.match(r"(LICEN[CS]E|COPYING)", file.name, re.IGNORECASE) and ".dist-info" in str(file):
            return " ".join(file.read_text(encoding="utf-8").split())[:500]
    return UNKNOWN


def test_what_runs_is_under_no_licence_that_would_bind_others(licences: dict[str, str]) -> None:
    assert licences["understudy"] == "Apache-2.0"
    assert not {name: licence for name, licence in licences.items() if COPYLEFT.search(licence)}
    assert {name for name, licence in licences.items() if LESSER_COPYLEFT.search(licence)} == LESSER


def test_every_licence_is_stated(licences: dict[str, str]) -> None:
    assert [name for name, licence in licences.items() if licence == UNKNOWN] == []


def test_what_is_needed_directly_or_not_is_looked_at_and_tools_of_development_are_not(licences: dict[str, str]) -> None:
    assert {"onnxruntime", "numpy", "fugashi", "jieba", "starlette", "anyio", "daft", "torch", "sympy"} <= {*licences}
    assert {"mypy", "pytest", "hypothesis", "playwright"}.isdisjoint(licences)


@pytest.mark.parametrize("licence", ["GPL-3.0-or-later", "AGPL-3.0", "GNU General Public License v2 (GPLv2)", "GPLv3"])
def test_a_licence_that_would_is_recognised(licence: str) -> None:
    assert COPYLEFT.search(licence)
    assert not COPYLEFT.search("LGPL-2.1")
    assert LESSER_COPYLEFT.search("LGPL-2.1")
