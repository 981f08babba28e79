"""Trained guessers: opened from model folders, and combined with fitted weights.

    P(a) ~ exp( sum over masks m and guessers g of  w_g ln P_g(m is a(m)) )          a: one candidate for each mask

The weights maximise the likelihood of the right names in scenes that no guesser has learned from. A guesser is opened
only for scenes later than those it has learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import AgentError, InputError, UnknownMoment
from understudy.guessing import Guesses, Masked, Remembering, TrainingScenes
from understudy.guessing.assignment import LEAST, SceneClues, can_list, fit_weights, marginals, named
from understudy.guessing.scenes import masks_of
from understudy.language.lexical.rows import Reals
from understudy.language.model_folder import read_agent_name, read_card
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Moment, Scene
from understudy.training.guessing import naming, readers
from understudy.training.guessing.finetuning import read_casts

__all__ = [
    "Undecided",
    "WeightedGuessers",
    "combined",
    "fitted_weights",
    "is_taught",
    "kind_of",
    "learned_until",
    "open_guesser",
]

OPENERS: dict[str, Callable[[Path, Sequence[str], str], Guesser]] = {
    readers.AGENT: readers.open_reader,
    naming.AGENT: naming.open_naming,
}

PENALTY = 1.0  # of the fit of the weights


def open_guesser(folder: Path, lessons: TrainingScenes, device: str = "auto") -> Guesser:
    """The guesser in a folder. `lessons` are all that comes before what it will be asked about."""
    last = learned_until(folder, lessons)
    if lessons.scenes[-1].moment < last:
        raise AgentError(
            f"the model {folder} has learned from scenes up to {last.dotted}, and what is asked about comes earlier: "
            "ask about later scenes, or train one on less with --before"
        )
    return OPENERS[read_agent_name(folder)](folder, lessons.main, device)


def learned_until(folder: Path, lessons: TrainingScenes) -> Moment:
    """The moment of the last scene that the guesser in a folder has learned from, in the story of these lessons."""
    card = _guesser_card(folder)
    title = read_casts(card, folder).title_of(lessons.main)
    try:
        return Moment(tuple(map(int, card["data"][title]["last"])))
    except (KeyError, TypeError, ValueError, UnknownMoment) as error:
        raise InputError("does not say from what it has learned: train the model again", folder) from error


def is_taught(folder: Path, main: Sequence[str]) -> bool:
    """Whether the guesser in a folder was taught the story whose main characters these are."""
    try:
        read_casts(_guesser_card(folder), folder).title_of(main)
    except AgentError:
        return False
    return True


def kind_of(folder: Path) -> str:
    """What tables call the kind of guesser in a folder."""
    card = _guesser_card(folder)
    return readers.reading_format(card, folder).name if card["agent"] == readers.AGENT else str(card["agent"])


def _guesser_card(folder: Path) -> dict[str, Any]:
    agent = read_agent_name(folder)
    if agent not in OPENERS:
        raise InputError(f"is a model for '{agent}', which guesses nobody: make one with 'train guesser'", folder)
    return read_card(folder, agent)


class Undecided:
    """Anybody as likely as anybody else: what a guesser says of a story that it was never taught."""

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        return {mask: {persona.name: 1 / len(personas) for persona in personas} for mask in masks_of(masked)}


class WeightedGuessers:
    """Several guessers combined: a weighted sum of their log-probabilities."""

    def __init__(self, guessers: Sequence[Guesser], weights: Sequence[float] | Reals) -> None:
        if not guessers or len(guessers) != len(weights):
            raise InputError(f"there are {len(guessers)} guessers and {len(weights)} weights: each needs its own")
        self._guessers, self.weights = tuple(guessers), np.array(weights, dtype=np.float64)

    def guess(self, masked: Scene, personas: Sequence[Persona]) -> Guesses:
        return combined([guesser.guess(masked, personas) for guesser in self._guessers], self.weights)

    def remember(self, scene: Scene) -> None:
        for guesser in self._guessers:
            if isinstance(guesser, Remembering):
                guesser.remember(scene)


def combined(guesses: Sequence[Guesses], weights: Reals) -> Guesses:
    """What several guessers say of one scene, as one: with one person behind each mask."""
    if not guesses[0]:
        return guesses[0]
    candidates = list(next(iter(guesses[0].values())))
    return named(list(guesses[0]), candidates, marginals(_table(guesses, candidates) @ weights))


def fitted_weights(scenes: Sequence[Masked], predictions: Sequence[Sequence[Guesses]]) -> Reals:
    """The weight of each guesser. `predictions[g][i]` is what guesser g said of the scene `scenes[i]`, which it had not
    learned from.
    """
    clues = []
    for masked, guesses in zip(scenes, zip(*predictions)):
        candidates = list(masked.candidates)
        if len(candidates) > 1 and can_list(len(candidates)):
            answers = np.array([candidates.index(masked.answers[mask]) for mask in guesses[0]], dtype=np.int64)
            clues.append(SceneClues(_table(guesses, candidates), answers))
    if not clues:
        raise InputError("there is no scene to weigh guessers by: hold back some with two masks or more")
    weights: Reals = fit_weights(clues, np.full(len(predictions), 1.0 / len(predictions)), PENALTY).clip(min=0)
    return weights


def _table(guesses: Sequence[Guesses], candidates: Sequence[str]) -> Reals:
    """`[mask, candidate, guesser]`: the logarithm of each probability."""
    masks = list(guesses[0])
    table: Reals = np.log(
        [[[max(guess[mask][name], LEAST) for guess in guesses] for name in candidates] for mask in masks]
    )
    return table
