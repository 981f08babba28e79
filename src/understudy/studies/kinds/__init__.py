"""The kinds of studies by name."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.errors import InputError
from understudy.studies.kind import Kind
from understudy.studies.kinds import annotate, candidates, chat, criteria, guess, likely, personas, prefer, rate, revise

__all__ = ["KINDS", "kind_of"]

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        personas.KIND,
        revise.KIND,
        chat.KIND,
        rate.KIND,
        criteria.KIND,
        likely.KIND,
        annotate.KIND,
        candidates.KIND,
        guess.KIND,
        prefer.KIND,
    )
}


def kind_of(name: str) -> Kind:
    if name not in KINDS:
        raise InputError(f"there is no kind of study called '{name}': use {', '.join(KINDS)}")
    return KINDS[name]
