"""What the registries hold: AGENTS, GUESSERS, METRICS and TRAINERS are plain dicts of entries, by name.

    AGENTS["encoder"]()                        an entry is called with the arguments of its factory
    Need.MODEL in AGENTS["starspace"].needs    true: it is created from the folder of a trained model

Listing a registry imports no model: a factory imports what is heavy when it is called. What somebody else has written
needs no entry; it is named as `module:factory`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, auto
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

from understudy.errors import AgentError, MissingExtra

Product = TypeVar("Product", covariant=True)


class Need(Flag):
    """What an entry needs beside the arguments that all entries of its registry take."""

    NOTHING = 0
    MODEL = auto()
    """The folder of a trained model."""
    TORCH = auto()
    """The optional part `train` of the package."""
    CANDIDATES = auto()
    """Lines to answer with: the character's own by default, others through the argument `candidates`."""
    CHRONOLOGY = auto()
    """The whole story, later chapters included."""
    LISTENER = auto()
    """Whom the character faces."""
    FOLDER = auto()
    """A folder of data to learn from."""
    BACKEND = auto()
    """A language model that writes: set up or fetched by the user, or handed over through the argument `backend`."""


@dataclass(frozen=True)
class Imported:
    """A function or class that is imported when it is called."""

    module: str
    attribute: str

    def load(self) -> Any:
        return getattr(import_module(self.module), self.attribute)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.load()(*arguments, **options)


@dataclass(frozen=True)
class RegistryEntry(Generic[Product]):
    """One name of a registry; calling the entry calls its factory."""

    name: str
    factory: Callable[..., Product]
    needs: Need = Need.NOTHING

    def __call__(self, *arguments: Any, **options: Any) -> Product:
        if Need.TORCH in self.needs:
            try:
                import_module("torch")
            except ImportError as error:
                raise MissingExtra(f"'{self.name}'", "train") from error
        return self.factory(*arguments, **options)


def import_factory(spec: str, what: str) -> Callable[..., Any] | None:
    """The function or class that `module:factory` means, imported from the current folder too; None for other words.

    `what` says what it makes: an agent, a guesser.
    """
    module, colon, name = spec.partition(":")
    if not colon or not name or not all(part.isidentifier() for part in module.split(".")):
        return None
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # after what is installed, so that a local file cannot shadow a package
    try:
        function = getattr(import_module(module), name, None)
    except ImportError as error:
        raise AgentError(f"cannot import '{module}' for the {what} '{spec}': {error}") from error
    if not callable(function):
        article = "an" if what[0] in "aeiou" else "a"
        raise AgentError(f"module '{module}' has no function or class '{name}': nothing to make {article} {what} with")
    factory: Callable[..., Any] = function
    return factory
