"""The kinds of studies by name."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.errors import InputError
from understudy.studies.kind import Kind
from understudy.studies.kinds import annotate, candidates, chat, criteria, guess, likely, personas, prefer, rate, revise

MODULES = (personas, revise, chat, rate, criteria, likely, annotate, candidates, guess, prefer)
KINDS: Mapping[str, Kind] = {module.KIND.name: module.KIND for module in MODULES}


def kind_of(name: str) -> Kind:
    if name not in KINDS:
        raise InputError(f"there is no kind of study called '{name}': use {', '.join(KINDS)}")
    return KINDS[name]
