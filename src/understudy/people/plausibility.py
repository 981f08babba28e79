"""How probable it is that a sentence belongs into its speaker's profile.

    P(in profile) = sigmoid(w . x + u . v + b)

x says how the sentence was said (its kind, form and doubts, `own_words`; its length; whether its words were brought up
by the other; whether the speaker comes back to it) and v is the sentence's vector (the shipped encoder's, role 'own').
The weights were fitted on PersonaChat's training dialogues, where everybody's profile is known (see the model's card).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.errors import InputError
from understudy.language.encoding import Floats
from understudy.language.lexical.logistic import sigmoid
from understudy.language.model_folder import read_card
from understudy.people.own_words import DOUBTS, FORMS, Statement, kinds
from understudy.text import stop_words

__all__ = [
    "NAME",
    "TYPICAL_LIKENESS",
    "Circumstances",
    "StatementModel",
    "content_words",
    "feature_names",
    "features",
    "shipped_model",
]

NAME = "statements"
WORD = re.compile(r"[a-z0-9]+")
STEM = 5  # letters by which words are compared
COMMON = frozenset({"like", "love", "really", "favorite", "also", "enjoy", "hate"})
SHORT, LONG = 3, 10  # words
TYPICAL_LIKENESS = 0.4  # the mean over PersonaChat's training dialogues

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How a sentence came to be said."""

    echo: float
    """The share of its words that the speech before it had."""
    echo_of_talk: float
    """The share that anything said by others in the scene so far had."""
    likeness: float
    """The largest cosine with a clause of the speech before it; TYPICAL_LIKENESS where that is not known."""
    support: float
    """The largest cosine with what the speaker states in other lines of the scene."""
    supports: int
    """How many of these are like it."""
    is_answer: bool
    """It comes right after a question."""


def content_words(text: str) -> frozenset[str]:
    stopped = stop_words("en")
    return frozenset(
        word[:STEM]
        for word in WORD.findall(text.lower())
        if len(word) > 2 and word not in stopped and word not in COMMON
    )


def feature_names() -> tuple[str, ...]:
    return (
        *(f"kind {kind}" for kind in kinds()), *(f"form {form}" for form in FORMS),
        *(f"doubt {doubt}" for doubt in DOUBTS),
        "log words", "short", "long", "negated", "number", "my", "my first", "no content",
        "echo", "is echo", "echo of talk", "likeness", "support", "supports", "answer",
    )  # fmt: skip


def features(said: Statement, how: Circumstances) -> list[float]:
    words = said.sentence.lower().split()
    return [
        *(float(said.kind == kind) for kind in kinds()),
        *(float(said.form == form) for form in FORMS),
        *(float(doubt in said.doubts) for doubt in DOUBTS),
        math.log(max(len(words), 1)),
        float(len(words) <= SHORT),
        float(len(words) >= LONG),
        float("not" in words or "never" in words),
        float(any(map(str.isdigit, words))),
        float("my" in words),
        float(words[0] == "my"),
        float(not content_words(said.sentence)),
        how.echo, float(how.echo > 0), how.echo_of_talk, how.likeness,
        how.support, float(min(how.supports, 3)), float(how.is_answer),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatementModel:
    """Weights of the features, of the vector, and the intercept."""

    weights: Reals
    vector: Reals
    intercept: float

    @classmethod
    def load(cls, folder: Path) -> StatementModel:
        card = read_card(folder, NAME)
        names = feature_names()
        try:
            weights = np.array([card["weights"][name] for name in names], np.float64)
            vector, intercept = np.array(card["vector"], np.float64), float(card["intercept"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"the card lacks weights of this version ({error}): train the model again", folder
            ) from error
        if vector.ndim != 1 or not np.isfinite([*weights, *vector, intercept]).all():
            raise InputError("the card's weights are not finite numbers: train the model again", folder)
        return cls(weights, vector, intercept)

    def probabilities(self, rows: Sequence[Sequence[float]], vectors: Floats) -> Reals:
        if not len(rows):
            return np.zeros(0)
        return sigmoid(np.array(rows, np.float64) @ self.weights + vectors @ self.vector + self.intercept)


@cache
def shipped_model() -> StatementModel:
    with as_file(files("understudy") / "models" / NAME) as folder:
        return StatementModel.load(folder)
