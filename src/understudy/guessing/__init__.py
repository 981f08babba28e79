"""Who is speaking? Scenes with their main speakers hidden, and models that say who is behind each mask."""

from __future__ import annotations

from understudy.guessing.masking import MOST, NAMES, Masked, Masking, main_characters
from understudy.guessing.names import Names
from understudy.guessing.stretches import stretches

__all__ = ["MOST", "NAMES", "Masked", "Masking", "Names", "main_characters", "stretches"]
