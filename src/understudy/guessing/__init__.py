"""Who is speaking? Scenes with their main speakers hidden, and models that say who is behind each mask."""

from __future__ import annotations

from understudy.guessing.joint import Joint
from understudy.guessing.learning import Assigned, Guesses, Lessons, Remembering, guess_in_order
from understudy.guessing.masking import MOST, NAMES, Masked, Masking, main_characters
from understudy.guessing.names import Names
from understudy.guessing.nicknames import with_learned_names
from understudy.guessing.ranker import RankerGuesser
from understudy.guessing.reasons import Reason, reasons_for
from understudy.guessing.stretches import stretches
from understudy.guessing.vanilla import Vanilla

__all__ = [
    "MOST",
    "NAMES",
    "Assigned",
    "Guesses",
    "Joint",
    "Lessons",
    "Masked",
    "Masking",
    "Names",
    "RankerGuesser",
    "Reason",
    "Remembering",
    "Vanilla",
    "guess_in_order",
    "main_characters",
    "reasons_for",
    "stretches",
    "with_learned_names",
]
