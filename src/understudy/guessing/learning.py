"""What a guesser learns from, and what it may be asked.

A guesser is made from scenes told with everybody's name, and is then asked about masked ones. Scenes that come later
are told to it one by one, after they were guessed: it cannot know what it was never told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from understudy.dialogue import Guesser
from understudy.errors import StoryError
from understudy.guessing.assignment import marginals
from understudy.guessing.masking import Masked, Masking
from understudy.guessing.names import Names
from understudy.lexical.rows import Reals
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["LEAST", "Assigned", "Guesses", "Lessons", "Remembering", "guess_in_order", "named"]

Guesses = Mapping[str, Mapping[str, float]]
"""For each mask, how probable each candidate is."""

LEAST = 1e-9  # a probability below it counts as this


@dataclass(frozen=True, slots=True)
class Lessons:
    """Scenes told with names, in order, and who the main characters are in them."""

    scenes: Sequence[Scene]
    main: tuple[str, ...]
    names: Names
    language: str = "en"

    def __post_init__(self) -> None:
        if not any(line.speaker in self.main for scene in self.scenes for line in scene.lines):
            raise StoryError("there is nothing to learn from: no main character speaks in an earlier scene")


@runtime_checkable
class Remembering(Protocol):
    """A guesser that goes on learning from what happens."""

    def remember(self, scene: Scene) -> None: ...


class Assigned:
    """Any guesser, with one person behind each mask and nobody behind two."""

    def __init__(self, guesser: Guesser) -> None:
        self._guesser = guesser

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        found = self._guesser.guess(masked, personas)
        candidates = [persona.name for persona in personas]
        scores = np.log([[max(found[mask][name], LEAST) for name in candidates] for mask in found])
        return named(list(found), candidates, marginals(scores)) if found else found

    def remember(self, scene: Scene) -> None:
        if isinstance(self._guesser, Remembering):
            self._guesser.remember(scene)


def named(masks: Sequence[str], candidates: Sequence[str], probabilities: Reals) -> dict[str, dict[str, float]]:
    """A table of masks and candidates under their names."""
    return {mask: dict(zip(candidates, row.tolist())) for mask, row in zip(masks, probabilities)}


def guess_in_order(
    guesser: Guesser,
    scenes: Iterable[tuple[Scene, bool]],
    masking: Masking,
    personas: Callable[[Sequence[str], Scene], Sequence[Persona]],
) -> Iterator[tuple[Masked, Guesses]]:
    """Every scene that is asked about, with the guesses; each scene is told to the guesser once it is over.

    `personas` gives the candidates of a scene as they are when it begins.
    """
    for scene, asked in scenes:
        if asked:
            masked = masking.masked(scene)
            yield masked, guesser.guess(masked.scene, personas(masked.candidates, masked.scene))
        if isinstance(guesser, Remembering):
            guesser.remember(masking.told(scene))
