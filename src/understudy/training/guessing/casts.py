"""The main characters of several stories, each a class of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy.errors import AgentError, InputError

__all__ = ["Casts", "read_casts"]


class Casts:
    """Casts by the titles of their stories. A namesake in another story is somebody else."""

    def __init__(self, casts: Mapping[str, Sequence[str]]) -> None:
        if not casts:
            raise InputError("there is no story to learn from")
        self._casts = {title: tuple(main) for title, main in casts.items()}
        people = [(title, name) for title, main in self._casts.items() for name in main]
        self._numbers = {person: number for number, person in enumerate(people)}
        self.names = [name for _, name in people]

    def classes(self, title: str, names: Sequence[str]) -> tuple[int, ...]:
        unknown = [name for name in names if (title, name) not in self._numbers]
        if unknown:
            who = ", ".join(unknown)
            raise AgentError(f"the model was not taught who {who} of {title} is: train it on scenes they speak in")
        return tuple(self._numbers[title, name] for name in names)

    def title_of(self, main: Sequence[str]) -> str:
        """The story whose cast these are."""
        for title, cast in self._casts.items():
            if set(main) <= set(cast):
                return title
        who, known = ", ".join(main), "; ".join(self._casts)
        raise AgentError(f"the model was taught no story with {who}, but {known}: train one on this story")

    def told(self) -> dict[str, list[str]]:
        """As a card has them."""
        return {title: list(main) for title, main in self._casts.items()}


def read_casts(card: Mapping[str, Any], folder: Path) -> Casts:
    """The casts of a card."""
    told = card.get("casts")
    good = isinstance(told, dict) and all(
        isinstance(main, list) and main and all(isinstance(name, str) for name in main) for main in told.values()
    )
    if not good or not told:
        raise InputError("does not say whom it was taught: train the model again", folder)
    return Casts(told)
