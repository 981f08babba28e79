"""What a character's own lines look like: what is usual for them is no fault in a draft."""

from __future__ import annotations

import re
from dataclasses import dataclass

from understudy.agents.pools import KeyedCache
from understudy.persona import Past, Persona

__all__ = ["Manner", "manner_of"]

SAMPLE = 400  # lines, the most recent
USUAL = 0.7
DIRECTION = re.compile(r"\([^)]*\)|\[[^\]]*\]|\*[^*]+\*|（[^）]*）|＊[^＊]+＊")
CLOSED = re.compile(r"[.!?…。！？~〜♪☆）)\]*\"'”’」』]\s*$")


@dataclass(frozen=True, slots=True)
class Manner:
    """`closes` and `capitalises` say that lines usually end in a mark and begin with a capital."""

    has_directions: bool
    closes: bool
    capitalises: bool


_CACHE = KeyedCache[Manner](256)


def manner_of(persona: Persona) -> Manner:
    return _CACHE.get_or_create(id(persona.past), persona.past, lambda: _read(persona.past))


def _read(past: Past) -> Manner:
    lines = [line.text.strip() for line in past.lines(SAMPLE) if line.text.strip()]
    if len(lines) < 3:
        return Manner(False, True, True)
    return Manner(
        any(DIRECTION.search(line) for line in lines),
        sum(CLOSED.search(line) is not None for line in lines) >= USUAL * len(lines),
        sum(not line[:1].islower() for line in lines) >= USUAL * len(lines),
    )
