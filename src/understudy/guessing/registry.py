"""Guessers by name: what a word on the command line stands for, as a factory that is given the training scenes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from understudy.agents import agent_named, factory_named
from understudy.dialogue import Guesser
from understudy.errors import AgentError
from understudy.guessing.assignment import Assigned
from understudy.guessing.baselines import RandomGuesser, RankerGuesser, Vanilla
from understudy.guessing.encoded import multi_row, scene_pooling, shipped_encoder, vanilla_encoder
from understudy.guessing.joint import ABLATIONS, Joint
from understudy.guessing.scenes import TrainingScenes

__all__ = ["ASSIGNED", "GUESSERS", "GuesserFactory", "named_guesser"]

GuesserFactory = Callable[[TrainingScenes], Guesser]
ASSIGNED = "+assigned"
WITHOUT = " without "
MAXLEN = re.compile(r"scene-pooling maxlen (\d{2,6})")
WORDS_PER_TOKEN = 3 / 4

GUESSERS: dict[str, GuesserFactory] = {
    "random": lambda _training: RandomGuesser(),
    "vanilla": Vanilla,
    "vanilla-encoder": vanilla_encoder,
    "multi-row": multi_row,
    "scene-pooling": scene_pooling,
    "ranker": lambda _training: RankerGuesser(agent_named("encoder")),
    "joint": Joint,
    "joint-encoder": lambda training: Joint(training, encoder=shipped_encoder()),
}

WITHOUT_PARTS: dict[str, dict[str, GuesserFactory]] = {
    "joint": {part: partial(Joint, without=(part,)) for part in ABLATIONS},
    "multi-row": {
        "reverse": partial(multi_row, from_end=False),
        "fill-empty": partial(multi_row, fill_empty=False),
        "context": partial(multi_row, alone=True),
    },
}
"""What a guesser can leave out: `joint without history`."""


def named_guesser(spec: str) -> GuesserFactory:
    """A name, perhaps with `+assigned` or ` without PART` after it, or `module:factory` of your own.

    Trained models and several guessers weighted together are opened by `understudy.training.guessing.registry`.
    """
    if spec.endswith(ASSIGNED):
        create = named_guesser(spec.removesuffix(ASSIGNED))
        return lambda training: Assigned(create(training))
    if spec in GUESSERS:
        return GUESSERS[spec]
    if match := MAXLEN.fullmatch(spec):
        return partial(scene_pooling, longest=int(int(match[1]) * WORDS_PER_TOKEN))
    name, without, part = spec.partition(WITHOUT)
    if without and name in WITHOUT_PARTS:
        if part not in WITHOUT_PARTS[name]:
            raise AgentError(f"{name} can be judged without {', '.join(WITHOUT_PARTS[name])}, not without '{part}'")
        return WITHOUT_PARTS[name][part]
    if (factory := factory_named(spec, "guesser")) is not None:
        return _checked(spec, factory)
    raise AgentError(
        f"there is no guesser '{spec}': choose from {', '.join(GUESSERS)} (with {ASSIGNED} for one person behind each "
        "mask), a folder that 'train guesser' made, several joined by +, or a factory of your own as module:factory"
    )


def _checked(spec: str, factory: Callable[..., Any]) -> GuesserFactory:
    def create(training: TrainingScenes) -> Guesser:
        guesser = factory(training)
        if not isinstance(guesser, Guesser):
            raise AgentError(f"what '{spec}' gives has no guess(masked, personas)")
        return guesser

    return create
