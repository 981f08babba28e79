"""An encoder's card, `model.json`: read, and believed only within bounds, before anything is made by its numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from understudy.encoding.sequences import Form
from understudy.errors import InputError
from understudy.model_folder import MAX_CARD_BYTES, is_number

__all__ = ["CARD", "HEAVIEST", "TOKENIZER", "WEIGHTS", "form_of", "read_card"]

FORMAT = 1
CARD, WEIGHTS, TOKENIZER = "model.json", "encoder.int8.onnx", "tokenizer.json"
WIDEST = 65_536
TOKENS = (8, 4_096)  # of a sequence: room for its markers, and attention over it within memory
HIGHEST_ID = 10_000_000  # of a token
HEAVIEST = 1_000.0  # of a weight, either way
SHARPEST = 10_000.0


def read_card(folder: Path) -> dict[str, Any]:
    """The card of the encoder in a folder, which must have all its files."""
    path = folder / CARD
    for name in (CARD, WEIGHTS, TOKENIZER):
        if not (folder / name).is_file():
            raise InputError(f"this is no encoder's model folder: it has no {name}", folder)
    if path.stat().st_size > MAX_CARD_BYTES:
        raise InputError("is too large to be a model's card", path)
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"the card cannot be read: {error}", path) from error
    if not isinstance(card, dict) or card.get("agent") != "encoder":
        raise InputError("the card is not an encoder's: choose a folder whose model.json says 'agent': 'encoder'", path)
    if card.get("format") != FORMAT:
        raise InputError(
            f"the model is of format {str(card.get('format'))[:20]}, this Understudy reads format {FORMAT}: "
            "use a model made for it, or the Understudy the model was made for",
            path,
        )
    return card


def form_of(card: Mapping[str, Any], folder: Path) -> Form:
    """How sequences are made, as a model's card tells it; whatever else is a number in it has been checked too."""
    try:
        told = card["sequences"]
        _whole("width", card["width"], 1, WIDEST)
        for name in ("weights", "words"):
            for part, weight in dict(card["weights"] if name == "weights" else card.get(name, {})).items():
                _number(f"{name}.{part}", weight, -HEAVIEST, HEAVIEST)
        _number("commonness", card.get("commonness", 0.0), -HEAVIEST, HEAVIEST)
        _number("sharpness", card.get("sharpness", 1.0), 1 / SHARPEST, SHARPEST)
        return Form(
            _whole("sequences.first", told["first"], 0, HIGHEST_ID),
            _whole("sequences.last", told["last"], 0, HIGHEST_ID),
            {role: _whole(f"markers.{role}", marker, 0, HIGHEST_ID) for role, marker in dict(told["markers"]).items()},
            {kind: _whole(f"longest.{kind}", most, *TOKENS) for kind, most in dict(told["longest"]).items()},
            bool(told.get("theirs", True)),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"the card lacks what the encoder needs: {error}", folder / CARD) from error


def _number(name: str, told: Any, low: float, high: float) -> float:
    if not is_number(told):
        raise ValueError(f"{name} is not a number")
    if not low <= told <= high:
        raise ValueError(f"{name} is {told:g}, and must be from {low:g} to {high:g}")
    return float(told)


def _whole(name: str, told: Any, low: int, high: int) -> int:
    if _number(name, told, low, high) != int(told):
        raise ValueError(f"{name} is {told:g}, where a whole number belongs")
    return int(told)
