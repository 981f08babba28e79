"""Who is speaking? Scenes with their main speakers hidden, and models that say who is behind each mask."""

from __future__ import annotations

from understudy.guessing.assignment import Assigned
from understudy.guessing.baselines import RankerGuesser, Vanilla
from understudy.guessing.joint import Joint
from understudy.guessing.masking import MOST, NAMES, Masked, Masking, main_characters
from understudy.guessing.mentions import with_learned_names
from understudy.guessing.names import CharacterNames
from understudy.guessing.reasons import Reason, reasons_for
from understudy.guessing.registry import GUESSERS, GuesserEntry, GuesserFactory
from understudy.guessing.scenes import Guesses, Remembering, TrainingScenes, guess_in_order, split_long_scenes

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
