"""`understudy licences`: what is installed for Understudy, and under which licences."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from understudy.cli.options import json_option
from understudy.cli.show import print_json, screen, table

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["Installed", "installed", "licences"]

OWN = "understudy"
NOT_NEEDED_TO_RUN = {"dev"}
BASE = "base"
UNKNOWN = "not stated"
SHORT = 100  # characters: longer metadata is a licence's text and not its name
REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[([^]]*)\])?")
EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
TITLES = {
    "Apache License": "Apache-2.0",
    "MIT License": "MIT",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD 2-Clause": "BSD-2-Clause",
    "GNU AFFERO GENERAL PUBLIC": "AGPL",
    "GNU LESSER GENERAL PUBLIC": "LGPL",
    "GNU GENERAL PUBLIC": "GPL",
}


@dataclass
class Installed:
    """A distribution that is there, and which parts of Understudy need it: `base`, or the names of extras."""

    name: str
    version: str
    licence: str
    needed_by: set[str] = field(default_factory=set)


@click.command(short_help="List installed dependencies and their licences.")
@json_option
def licences(as_json: bool) -> None:
    """What is installed for Understudy and its optional parts, and under which licences, as its metadata say.

    Language models that are on this machine are listed too.

    Tools that only its development needs are left out.

    \b
    Examples:
        understudy licences
        understudy licences --json
    """
    distributions = [*installed(), *_models()]
    if as_json:
        documents: list[dict[str, Any]] = [
            {
                "name": entry.name,
                "version": entry.version,
                "licence": entry.licence,
                "needed_by": sorted(entry.needed_by),
            }
            for entry in distributions
        ]
        print_json({"licences": documents})
        return
    rows = [(entry.name, entry.version, entry.licence, ", ".join(sorted(entry.needed_by))) for entry in distributions]
    screen().print(table([("name", {}), ("version", {}), ("licence", {}), ("needed by", {})], rows))


def installed() -> list[Installed]:
    """Understudy and all that it needs to run, directly or not, of what is installed; by name."""
    from importlib.metadata import PackageNotFoundError, distribution

    own = distribution(OWN)
    extras = {name for name in own.metadata.get_all("Provides-Extra") or () if name not in NOT_NEEDED_TO_RUN}
    by_name: dict[str, Installed] = {}
    seen: set[tuple[str, str, str]] = set()
    waiting = deque([(OWN, "", BASE), *((OWN, extra, extra) for extra in sorted(extras - {"all"}))])
    while waiting:
        name, extra, part = waiting.popleft()
        key = _normal(name)
        if (key, extra, part) in seen:
            continue
        seen.add((key, extra, part))
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # optional, or for another system
        licence = by_name.setdefault(key, Installed(package.name, package.version, licence_of(package)))
        if key != OWN or not extra:
            licence.needed_by.add(part)
        waiting.extend((needed, more, part) for needed, more in _requirements(package, extra))
    return [by_name[key] for key in sorted(by_name)]


def _models() -> Iterator[Installed]:
    """Language models on this machine, by the licence that is known or that their files state."""
    from understudy.errors import BackendError
    from understudy.language.backends.catalog import local_models
    from understudy.language.backends.gguf import GGUFModel

    for model in local_models():
        if model.path is None:
            continue
        licence = model.licence
        if not licence:
            try:
                licence = str(GGUFModel(model.path).fields.get("general.license", UNKNOWN))
            except BackendError:
                licence = UNKNOWN
        yield Installed(f"{model.name} (model)", "", licence, {"local"})


def _requirements(package: Distribution, extra: str) -> Iterator[tuple[str, str]]:
    """(name, extra) of what a distribution requires, or of what an extra of it adds; other markers are ignored."""
    for requirement in package.requires or ():
        needed, _, marker = requirement.partition(";")
        only_for = EXTRA.search(marker)
        match = REQUIREMENT.match(needed)
        if match is None or (only_for[1] if only_for else "") != extra:
            continue
        yield match[1], ""
        for more in filter(None, (match[2] or "").split(",")):
            yield match[1], more.strip()


def licence_of(package: Distribution) -> str:
    """The licence in a distribution's metadata; where there is none, by the title of its licence file."""
    for name in ("License-Expression", "License"):
        stated = str((package.metadata.get_all(name) or ("",))[0]).strip()
        if stated and len(stated) <= SHORT and "\n" not in stated and stated != "UNKNOWN":
            return stated
    classified = [
        stated.rpartition(" :: ")[2]
        for stated in package.metadata.get_all("Classifier") or ()
        if "License ::" in stated
    ]
    if classified:
        return " AND ".join(classified)
    for file in package.files or ():
        if re.match(r"(LICEN[CS]E|COPYING)", file.name, re.IGNORECASE) and ".dist-info" in str(file):
            head = " ".join(file.read_text(encoding="utf-8").split())[:500]
            for title, licence in TITLES.items():
                if title.casefold() in head.casefold():
                    return licence
    return UNKNOWN


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
