"""A masked speaker of a judged scene, and whom a model took them for: what figures about guessing are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Guessed"]


@dataclass(frozen=True, slots=True)
class Guessed:
    """`place` counts the scene's masked speakers in the order in which they first speak, from 0."""

    model: str
    show: str
    episode: tuple[int, ...]
    scene: int
    place: int
    who: str
    guess: str
    probabilities: Mapping[str, float]
    """Of every candidate of the scene, as the model had them."""

    @property
    def right(self) -> bool:
        return self.guess == self.who

    @property
    def speakers(self) -> int:
        """How many masked speakers the scene has."""
        return len(self.probabilities)

    @property
    def key(self) -> str:
        """The same for every model, so that two can be compared; up to its dot, the same for a whole scene."""
        numbers = "x".join(f"{number:02d}" for number in self.episode)
        return f"{self.show.replace('.', '')}/{numbers}/{self.scene}.{self.place}"
