"""The kinds of studies by name."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.errors import InputError
from understudy.studies.kind import Kind
from understudy.studies.kinds import annotate, candidates, guess, likely

__all__ = ["KINDS", "kind_of"]

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (likely.KIND, annotate.KIND, candidates.KIND, guess.KIND)}


def kind_of(name: str) -> Kind:
    if name not in KINDS:
        raise InputError(f"there is no kind of study called '{name}': use {', '.join(KINDS)}")
    return KINDS[name]
