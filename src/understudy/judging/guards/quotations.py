"""Finds the own old line that a draft repeats: what must not be said again must not be repeated by a writer either.

A draft repeats a line where they share a run of five words. A small writer copies from the lines it is reminded of, and
an old line may be a secret towards the one faced, or no longer true.
"""

from __future__ import annotations

from understudy.agents.pools import KeyedCache
from understudy.persona import Persona
from understudy.story import Moment
from understudy.text import words

__all__ = ["repeated_line"]

RUN = 5
OWN_LINES = 5_000  # the latest

_RUNS = KeyedCache[dict[tuple[str, ...], Moment]](32)


def repeated_line(persona: Persona, text: str) -> Moment | None:
    """When the line was said that a text repeats most of; None where it repeats none."""
    runs = _runs_of(persona)
    moments = [runs[run] for run in _runs(words(text, persona.language)) if run in runs]
    return max(moments, key=moments.count) if moments else None


def _runs_of(persona: Persona) -> dict[tuple[str, ...], Moment]:
    def index() -> dict[tuple[str, ...], Moment]:
        return {
            run: line.moment
            for line in persona.past.lines(OWN_LINES)
            for run in _runs(words(line.text, persona.language))
        }

    return _RUNS.get_or_create((id(persona.past), persona.language), persona.past, index)


def _runs(bag: list[str]) -> list[tuple[str, ...]]:
    return [tuple(bag[first : first + RUN]) for first in range(len(bag) - RUN + 1)]
