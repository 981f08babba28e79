"""Guessers whose transformer is trained too: readers of masked scenes, and a language model of named ones.

    readers    vanilla, multi-row, scene-pooling: the states of a mask's tokens are pooled, and a show's own classifier
               says who it is. Any encoder or causal model as Hugging Face lays it out, else the installed MiniLM.
    naming     a causal model learns the scenes with their names; the naming under which a scene is likeliest is right.

One model learns from several shows at once. What is learned from scripts belongs to them: no such model is shipped.
"""

from __future__ import annotations

from understudy.training.guessing.naming import NamingGuesser, NamingSettings, open_naming, train_naming
from understudy.training.guessing.opening import open_guesser
from understudy.training.guessing.readers import ReaderGuesser, ReaderSettings, open_reader, train_reader
from understudy.training.guessing.together import Together, weighed_together

__all__ = [
    "NamingGuesser",
    "NamingSettings",
    "ReaderGuesser",
    "ReaderSettings",
    "Together",
    "open_guesser",
    "open_naming",
    "open_reader",
    "train_naming",
    "train_reader",
    "weighed_together",
]
