"""Guessers whose transformer is fine-tuned: readers of masked scenes, and a language model of named ones.

    readers    vanilla, multi-row, scene-pooling: the states of a mask's tokens are pooled, and a show's own classifier
               says who it is. Any encoder or causal model in Hugging Face's layout, by default the installed MiniLM.
    naming     a causal model learns the scenes with their names; the names that make a scene likeliest are guessed.

One model learns from several shows at once. No such model is shipped: it reproduces the scripts it has learned from.
"""

from __future__ import annotations

from understudy.training.guessing.guessers import WeightedGuessers, fitted_weights, open_guesser
from understudy.training.guessing.naming import NamingGuesser, NamingSettings, open_naming, train_naming
from understudy.training.guessing.reader_settings import ReaderSettings
from understudy.training.guessing.readers import ReaderGuesser, open_reader, train_reader

__all__ = [
    "NamingGuesser",
    "NamingSettings",
    "ReaderGuesser",
    "ReaderSettings",
    "WeightedGuessers",
    "fitted_weights",
    "open_guesser",
    "open_naming",
    "open_reader",
    "train_naming",
    "train_reader",
]
