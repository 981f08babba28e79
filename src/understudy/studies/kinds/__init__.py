"""The kinds of studies by name."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.errors import InputError
from understudy.studies.kind import Kind
from understudy.studies.kinds.annotate import ANNOTATE
from understudy.studies.kinds.chats import CHAT, RATE
from understudy.studies.kinds.guess import GUESS
from understudy.studies.kinds.hpd import CANDIDATES, CRITERIA
from understudy.studies.kinds.likely import LIKELY
from understudy.studies.kinds.personas import PERSONAS, REVISE
from understudy.studies.kinds.prefer import PREFER

KINDS: Mapping[str, Kind] = {
    kind.name: kind for kind in (PERSONAS, REVISE, CHAT, RATE, CRITERIA, LIKELY, ANNOTATE, CANDIDATES, GUESS, PREFER)
}


def kind_of(name: str) -> Kind:
    if name not in KINDS:
        raise InputError(f"there is no kind of study called '{name}': use {', '.join(KINDS)}")
    return KINDS[name]
