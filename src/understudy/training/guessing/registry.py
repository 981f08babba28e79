"""Guessers by name, trained ones too: a folder that `train guesser` made, and several guessers weighted together.

    P(a) ~ exp( sum over masks m and guessers g of  w_g ln P_g(m is a(m)) )          a: one candidate for each mask

The weights maximise the likelihood of the right names in scenes that no guesser has learned from: the training scenes
after the last one a trained model saw, or the last tenth. Guessers that learn quickly are therefore created twice, the
first time without these scenes. Several stories have one set of weights: of each only a few scenes are held back.

A trained guesser is opened only for scenes later than those it has learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy.errors import AgentError, InputError, UnknownMoment
from understudy.guessing import GUESSERS, UNASSIGNED, GuesserEntry, assigned, own_guesser
from understudy.guessing.assignment import SceneClues, can_list, fit_weights, log_table, marginals, named
from understudy.guessing.scenes import Guesses, Masked, Masking, Remembering, TrainingScenes, guess_in_order, masks_of
from understudy.language.lexical.rows import Reals
from understudy.language.model_folder import is_model_folder, read_agent_name, read_card
from understudy.registry import Need, RegistryEntry
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Moment, Scene
from understudy.text import did_you_mean
from understudy.training.guessing import naming, read_casts, readers, unknown_people

UNSEEN_SHARE = 0.1  # of the scenes, where no model says which it has seen
HAVE_NAMES = (
    "--assigned is for a model's folder or module:factory: other models have names for it, such as 'vanilla+assigned'"
)
PENALTY = 1.0  # of the fit of the weights

OPENERS: dict[str, Callable[[Path, Sequence[str], str], Guesser]] = {
    readers.AGENT: readers.open_reader,
    naming.AGENT: naming.open_naming,
}


def find_guesser(spec: str, names: str = "keep") -> GuesserEntry:
    """The guesser that a word on the command line means: a name, a trained model's folder, or `module:factory`.

    `names` says what becomes of names in the text.
    """
    if spec in GUESSERS:
        return GUESSERS[spec]
    if is_model_folder(Path(spec)):
        return _trained(spec, names)
    if (advice := _advice(spec)) is not None:
        raise AgentError(advice)
    guesser = own_guesser(spec)
    if guesser is None:
        raise AgentError(
            f"there is no guesser '{spec}'{did_you_mean(spec, GUESSERS)}: choose from "
            f"{', '.join(entry.name for entry in UNASSIGNED)} (each also with +assigned after its name, for one person "
            "behind each mask), a folder that 'train guesser' made, or a factory of your own as module:factory"
        )
    return guesser


def find_guessers(specs: Sequence[str], names: str = "keep") -> list[GuesserEntry]:
    """The guessers that words mean, each once."""
    return [find_guesser(spec, names) for spec in dict.fromkeys(specs)]


def unregistered(guessers: Sequence[GuesserEntry]) -> set[str]:
    """Those of them that --assigned is for: models of the registry have names of their own for it."""
    names = {guesser.name for guesser in guessers if guesser.name not in GUESSERS}
    if not names:
        raise AgentError(HAVE_NAMES)
    return names


def find_assigned(spec: str, names: str = "keep") -> GuesserEntry:
    """The guesser of a folder or of one's own with one person behind each mask; the registry has names for its own."""
    if spec in GUESSERS:
        raise AgentError(HAVE_NAMES)
    return assigned(find_guesser(spec, names))


def trained_kinds(specs: Sequence[str]) -> dict[str, str]:
    """Of the words that mean folders: what tables call the kind of guesser in each, such as 'multi-row'."""
    folders = [spec for spec in specs if spec not in GUESSERS and is_model_folder(Path(spec))]
    return {folder: kind_of(Path(folder)) for folder in folders}


def knows(spec: str, training: TrainingScenes) -> bool:
    """Whether a guesser can be asked about a story: a folder's must have been taught it, others learn it."""
    if spec in GUESSERS or not is_model_folder(Path(spec)):
        return True
    return is_taught(Path(spec), training.main)


def weighted_guessers(guessers: Sequence[GuesserEntry]) -> GuesserEntry:
    """Guessers weighted together as one, by what they say of the story's own scenes."""

    def create(training: TrainingScenes) -> Guesser:
        weights = together_weights(guessers, [training])
        return WeightedGuessers([guesser(training) for guesser in guessers], weights)

    return RegistryEntry(together_name(guessers), create)


def together_name(guessers: Sequence[GuesserEntry]) -> str:
    """What guessers weighted together are called; trained ones go by the names of their folders."""
    if len(guessers) < 2:
        raise AgentError("--together weights several models: name two or more")
    return "+".join(guesser.name for guesser in guessers)


def together_weights(guessers: Sequence[GuesserEntry], stories: Sequence[TrainingScenes]) -> Reals:
    """The weight of each guesser, the same for all stories: by what they say of scenes that none has learned from.

    Of a story that it was not taught a trained guesser says nothing.
    """
    scenes: list[Masked] = []
    guesses: list[list[Guesses]] = [[] for _ in guessers]
    for story in stories:
        folders = [Path(guesser.name) for guesser in guessers if Need.MODEL in guesser.needs]
        seen = _scenes_seen(story, [folder for folder in folders if knows(str(folder), story)])
        earlier = replace(story, scenes=story.scenes[:seen])
        masking = Masking(story.main, story.names)
        scenes_asked = [(scene, len(masking.masked(scene).answers) > 1) for scene in story.scenes[seen:]]
        scenes += [masking.masked(scene) for scene, is_asked in scenes_asked if is_asked]
        for guesser, own in zip(guessers, guesses):
            judged = guesser(earlier) if knows(guesser.name, story) else Undecided()
            own += [guess for _, guess in guess_in_order(judged, scenes_asked, masking, unknown_people)]
    return fitted_weights(scenes, guesses)


def _advice(spec: str) -> str | None:
    """What to type instead of FOLDER+assigned or joint+FOLDER, which were understood once."""
    model = spec.removesuffix("+assigned")
    if model != spec and model not in GUESSERS and _is_meant(model):
        return f"'{spec}' is no model: for one person behind each mask name '{model}' and add --assigned"
    models = [part for part in model.split("+") if part != "assigned"]
    if len(models) > 1 and any(map(_is_meant, models)):
        return f"'{spec}' is no model: to weight several together name {','.join(models)} and add --together"
    return None


def _is_meant(spec: str) -> bool:
    return spec in GUESSERS or is_model_folder(Path(spec)) or ":" in spec


def _trained(folder: str, names: str) -> GuesserEntry:
    if names == "swap":
        raise AgentError(f"the model {folder} knows people by their own names: judge it with --names keep or mask")

    def create(training: TrainingScenes) -> Guesser:
        return open_guesser(Path(folder), training)

    return RegistryEntry(folder, create, Need.MODEL | Need.TORCH)


def _scenes_seen(training: TrainingScenes, folders: Sequence[Path]) -> int:
    """How many of the scenes some guesser may have learned from."""
    if not folders:
        return len(training.scenes) - int(len(training.scenes) * UNSEEN_SHARE)
    last = max(learned_until(folder, training) for folder in folders)
    seen = sum(scene.moment <= last for scene in training.scenes)
    if seen == len(training.scenes):
        raise AgentError(
            f"{', '.join(map(str, folders))} learned from all scenes, so that none is left to tell how far to believe "
            "each guesser: train with --held-back 0.05"
        )
    return seen


# Guessers that are opened from model folders.


def open_guesser(folder: Path, lessons: TrainingScenes) -> Guesser:
    """The guesser in a folder. `lessons` are all that comes before what it will be asked about."""
    last = learned_until(folder, lessons)
    if lessons.scenes[-1].moment < last:
        raise AgentError(
            f"the model {folder} has learned from scenes up to {last.dotted}, and what is asked about comes earlier: "
            "ask about later scenes, or train one on less with --before"
        )
    return OPENERS[read_agent_name(folder)](folder, lessons.main, "auto")


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


# Several guessers as one.


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
    return np.stack([log_table({mask: guess[mask] for mask in guesses[0]}, candidates) for guess in guesses], axis=2)
