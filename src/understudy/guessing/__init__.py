"""Guessing who speaks: scenes with their main speakers hidden, and models that say who is behind each mask."""

from __future__ import annotations

from understudy.guessing.assignment import Assigned
from understudy.guessing.baselines import RankerGuesser, Vanilla
from understudy.guessing.joint import Joint
from understudy.guessing.registry import GUESSERS, GuesserEntry, GuesserFactory
from understudy.guessing.scenes import (
    MOST,
    NAMES,
    Guesses,
    Masked,
    Masking,
    Remembering,
    TrainingScenes,
    guess_in_order,
    main_characters,
    split_long_scenes,
)
from understudy.guessing.story import Reason, reasons_for
from understudy.people.mentions import with_learned_names
from understudy.people.names import CharacterNames

__all__ = [
    "GUESSERS",
    "MOST",
    "NAMES",
    "Assigned",
    "CharacterNames",
    "GuesserEntry",
    "GuesserFactory",
    "Guesses",
    "Joint",
    "Masked",
    "Masking",
    "RankerGuesser",
    "Reason",
    "Remembering",
    "TrainingScenes",
    "Vanilla",
    "guess_in_order",
    "main_characters",
    "reasons_for",
    "split_long_scenes",
    "with_learned_names",
]
