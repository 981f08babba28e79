"""Guessing who speaks: models that say who is behind each mask, by name; an entry is called with the scenes to learn
from.

Variants have names of their own, by which tables know them: 'vanilla+assigned', 'joint without history', 'scene-pooling
maxlen 1000'. Trained models are opened by `understudy.training.guessing.registry`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from understudy.agents import agent_named
from understudy.errors import AgentError
from understudy.guessing.assignment import Assigned
from understudy.guessing.baselines import (
    RandomGuesser,
    RankerGuesser,
    Vanilla,
    multi_row,
    scene_pooling,
    shipped_encoder,
    vanilla_encoder,
)
from understudy.guessing.joint import ABLATIONS, Joint
from understudy.guessing.scenes import TrainingScenes
from understudy.registry import RegistryEntry, import_factory
from understudy.story.dialogue import Guesser

GuesserFactory = Callable[[TrainingScenes], Guesser]
GuesserEntry = RegistryEntry[Guesser]


def assigned(guesser: GuesserEntry) -> GuesserEntry:
    """The guesser with one person behind each mask."""
    return RegistryEntry(f"{guesser.name}+assigned", lambda training: Assigned(guesser(training)), guesser.needs)


def _scene_pooling_maxlen(tokens: int) -> GuesserFactory:
    return partial(scene_pooling, longest=tokens * 3 // 4)  # in words: three are about four tokens


JOINT_ABLATIONS: tuple[GuesserEntry, ...] = tuple(
    RegistryEntry(f"joint without {part}", partial(Joint, without=(part,))) for part in ABLATIONS
)

UNASSIGNED: tuple[GuesserEntry, ...] = (
    RegistryEntry("random", lambda _training: RandomGuesser()),
    RegistryEntry("vanilla", Vanilla),
    RegistryEntry("vanilla-encoder", vanilla_encoder),
    RegistryEntry("multi-row", multi_row),
    RegistryEntry("multi-row without reverse", partial(multi_row, from_end=False)),
    RegistryEntry("multi-row without fill-empty", partial(multi_row, fill_empty=False)),
    RegistryEntry("multi-row without context", partial(multi_row, alone=True)),
    RegistryEntry("scene-pooling", scene_pooling),
    *(RegistryEntry(f"scene-pooling maxlen {tokens}", _scene_pooling_maxlen(tokens)) for tokens in (512, 1000, 2000)),
    RegistryEntry("ranker", lambda _training: RankerGuesser(agent_named("encoder"))),
    RegistryEntry("joint", Joint),
    RegistryEntry("joint-encoder", lambda training: Joint(training, encoder=shipped_encoder())),
    *JOINT_ABLATIONS,
)
"""Every guesser as it is; joint gives each mask a person of its own in any case."""

GUESSERS: dict[str, GuesserEntry] = {entry.name: entry for entry in (*UNASSIGNED, *map(assigned, UNASSIGNED))}


def own_guesser(spec: str) -> GuesserEntry | None:
    """The guesser that `module:factory` creates from the training scenes; None for other words."""
    factory = import_factory(spec, "guesser")
    if factory is None:
        return None

    def create(training: TrainingScenes) -> Guesser:
        guesser = factory(training)
        if not isinstance(guesser, Guesser):
            raise AgentError(f"what '{spec}' gives has no guess(masked, personas)")
        return guesser

    return RegistryEntry(spec, create)
