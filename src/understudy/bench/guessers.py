"""Guessers by name: what a word on the command line means, made from lessons."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from understudy.agents import agent_named, factory_named
from understudy.bench.weighed import weighed
from understudy.dialogue import Guesser
from understudy.errors import AgentError
from understudy.guessing import Assigned, Joint, Lessons, RankerGuesser, Vanilla
from understudy.guessing.encoded import multi_row, scene_pooling, shipped_encoder, vanilla_encoder
from understudy.guessing.joint import ABLATIONS
from understudy.guessing.learning import Guesses, named
from understudy.guessing.pieces import masks_of
from understudy.model_folder import is_model_folder
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["ASSIGNED", "GUESSERS", "Chance", "Make", "guesser_named"]

Make = Callable[[Lessons], Guesser]
ASSIGNED = "+assigned"
WITHOUT = " without "
MAXLEN = re.compile(r"scene-pooling maxlen (\d{2,6})")
WORDS = 3 / 4  # of a token: what an encoder counts in
TOGETHER = "+"


class Chance:
    """Anybody may be behind any mask, one each."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        masks, names = masks_of(masked), sorted(persona.name for persona in personas)
        drawn = np.random.default_rng([self._seed, *masked.moment.numbers]).permutation(len(names))
        even = np.full((len(masks), len(names)), 1.0 / max(len(names), 1))
        even[np.arange(len(masks)), drawn[: len(masks)]] += 1e-6  # all are as likely; one is named first
        return named(masks, names, even / even.sum(axis=1, keepdims=True))


def _ranker(_lessons: Lessons) -> Guesser:
    return RankerGuesser(agent_named("encoder"))


GUESSERS: dict[str, Make] = {
    "random": lambda _lessons: Chance(),
    "vanilla": Vanilla,
    "vanilla-encoder": vanilla_encoder,
    "multi-row": multi_row,
    "scene-pooling": scene_pooling,
    "ranker": _ranker,
    "joint": Joint,
    "joint-encoder": lambda lessons: Joint(lessons, encoder=shipped_encoder()),
}

LEFT_OUT: dict[str, dict[str, Make]] = {
    "joint": {part: partial(Joint, without=(part,)) for part in ABLATIONS},
    "multi-row": {
        "reverse": partial(multi_row, from_end=False),
        "fill-empty": partial(multi_row, fill_empty=False),
        "context": partial(multi_row, alone=True),
    },
}
"""What a guesser can leave out: `joint without history`."""


def guesser_named(spec: str, names: str = "keep") -> Make:
    """A name, perhaps with `+assigned` or ` without PART` after it; a trained model's folder; several joined by `+`,
    weighed together; or `module:factory` of your own, given lessons. `names` is what becomes of names in the text.
    """
    if spec.endswith(ASSIGNED):
        make = guesser_named(spec.removesuffix(ASSIGNED), names)
        return lambda lessons: Assigned(make(lessons))
    if spec in GUESSERS:
        return GUESSERS[spec]
    if is_model_folder(Path(spec)):
        return _trained(Path(spec), names)
    if TOGETHER in spec:
        several = spec.split(TOGETHER)
        folders = [Path(one) for one in several if is_model_folder(Path(one))]
        return weighed([guesser_named(one, names) for one in several], folders)
    if told := MAXLEN.fullmatch(spec):
        return partial(scene_pooling, longest=int(int(told[1]) * WORDS))
    whole, without, part = spec.partition(WITHOUT)
    if without and whole in LEFT_OUT:
        if part not in LEFT_OUT[whole]:
            raise AgentError(f"{whole} can be judged without {', '.join(LEFT_OUT[whole])}, not without '{part}'")
        return LEFT_OUT[whole][part]
    if (made := factory_named(spec, "guesser")) is not None:
        return _made(spec, made)
    raise AgentError(
        f"there is no guesser '{spec}': choose from {', '.join(GUESSERS)} (with {ASSIGNED} for one person behind each "
        "mask), a folder that 'train guesser' made, several joined by +, or a factory of your own as module:factory"
    )


def _trained(folder: Path, names: str) -> Make:
    if names == "swap":
        raise AgentError(f"the model {folder} knows people by their own names: judge it with --names keep or mask")

    def make(lessons: Lessons) -> Guesser:
        from understudy.training.guessing.opening import open_guesser

        return open_guesser(folder, lessons)

    return make


def _made(spec: str, made: Callable[..., Any]) -> Make:
    def make(lessons: Lessons) -> Guesser:
        guesser = made(lessons)
        if not isinstance(guesser, Guesser):
            raise AgentError(f"what '{spec}' gives has no guess(masked, personas)")
        return guesser

    return make
