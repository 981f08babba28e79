"""Guessers by name, trained ones too: a folder that `train guesser` made, and several guessers weighted together.

Guessers together are weighted by how often each is right. The weights are learned from scenes that none of them has
learned from: the training scenes after the last one a trained model saw, or the last tenth. Guessers that learn quickly
are therefore created twice, the first time without these scenes. Several stories have one set of weights: of each only
a few scenes are held back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from understudy.errors import AgentError
from understudy.guessing import GuesserEntry, Guesses, Masked, Masking, TrainingScenes, guess_in_order
from understudy.guessing.registry import GUESSERS, UNASSIGNED, assigned, own_guesser
from understudy.language.lexical.rows import Reals
from understudy.language.model_folder import is_model_folder
from understudy.registry import Need, RegistryEntry
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.types import Scene
from understudy.text import did_you_mean

__all__ = [
    "find_assigned",
    "find_guesser",
    "find_guessers",
    "knows",
    "together_name",
    "together_weights",
    "trained_kinds",
    "unregistered",
    "weighted_guessers",
]

UNSEEN_SHARE = 0.1  # of the scenes, where no model says which it has seen
HAVE_NAMES = (
    "--assigned is for a model's folder or module:factory: other models have names for it, such as 'vanilla+assigned'"
)


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
    from understudy.training.guessing.guessers import kind_of

    folders = [spec for spec in specs if spec not in GUESSERS and is_model_folder(Path(spec))]
    return {folder: kind_of(Path(folder)) for folder in folders}


def knows(spec: str, training: TrainingScenes) -> bool:
    """Whether a guesser can be asked about a story: a folder's must have been taught it, others learn it."""
    if spec in GUESSERS or not is_model_folder(Path(spec)):
        return True
    from understudy.training.guessing.guessers import is_taught

    return is_taught(Path(spec), training.main)


def weighted_guessers(guessers: Sequence[GuesserEntry]) -> GuesserEntry:
    """Guessers weighted together as one, by what they say of the story's own scenes."""

    def create(training: TrainingScenes) -> Guesser:
        from understudy.training.guessing.guessers import WeightedGuessers

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
    from understudy.training.guessing.guessers import Undecided, fitted_weights

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
            asked = guesser(earlier) if knows(guesser.name, story) else Undecided()
            own += [guess for _, guess in guess_in_order(asked, scenes_asked, masking, _personas)]
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
        from understudy.training.guessing.guessers import open_guesser

        return open_guesser(Path(folder), training)

    return RegistryEntry(folder, create, Need.MODEL | Need.TORCH)


def _scenes_seen(training: TrainingScenes, folders: Sequence[Path]) -> int:
    """How many of the scenes some guesser may have learned from."""
    from understudy.training.guessing.guessers import learned_until

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


def _personas(names: Sequence[str], scene: Scene) -> Sequence[Persona]:
    return [Persona(name, scene.moment) for name in names]
