"""Guessers by name, trained ones too: a folder that `train guesser` made, or several guessers joined by `+`.

`joint+FOLDER` weights its guessers by how often each is right. The weights are learned from scenes that none of them
has learned from: the training scenes after the last one a trained model saw, or the last tenth. Guessers that learn
quickly are therefore created twice, the first time without these scenes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from understudy.dialogue import Guesser
from understudy.errors import AgentError
from understudy.guessing import GuesserFactory, Masking, TrainingScenes, guess_in_order, named_guesser
from understudy.guessing.assignment import Assigned
from understudy.guessing.registry import ASSIGNED, GUESSERS
from understudy.model_folder import is_model_folder
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["guesser_named", "weighted_guessers"]

JOINED = "+"
UNSEEN_SHARE = 0.1  # of the scenes, where no model says which it has seen


def guesser_named(spec: str, names: str = "keep") -> GuesserFactory:
    """A guesser's name, perhaps with `+assigned` or ` without PART` after it; a trained model's folder; several joined
    by `+`; or `module:factory` of your own. `names` says what becomes of names in the text.
    """
    if spec.endswith(ASSIGNED):
        create = guesser_named(spec.removesuffix(ASSIGNED), names)
        return lambda training: Assigned(create(training))
    if spec not in GUESSERS and is_model_folder(Path(spec)):
        return _trained(Path(spec), names)
    if spec not in GUESSERS and JOINED in spec:
        members = spec.split(JOINED)
        folders = [Path(member) for member in members if is_model_folder(Path(member))]
        return weighted_guessers([guesser_named(member, names) for member in members], folders)
    return named_guesser(spec)


def weighted_guessers(factories: Sequence[GuesserFactory], folders: Sequence[Path]) -> GuesserFactory:
    """Guessers weighted together; those that are trained models lie in `folders`."""

    def create(training: TrainingScenes) -> Guesser:
        from understudy.training.guessing.guessers import weight_guessers

        seen = _scenes_seen(training, folders)
        unseen = training.scenes[seen:]
        earlier = replace(training, scenes=training.scenes[:seen])
        masking = Masking(training.main, training.names)
        scenes_asked = [(scene, len(masking.masked(scene).answers) > 1) for scene in unseen]
        guesses = [
            [guess for _, guess in guess_in_order(factory(earlier), scenes_asked, masking, _personas)]
            for factory in factories
        ]
        masked = [masking.masked(scene) for scene, is_asked in scenes_asked if is_asked]
        return weight_guessers([factory(training) for factory in factories], masked, guesses)

    return create


def _trained(folder: Path, names: str) -> GuesserFactory:
    if names == "swap":
        raise AgentError(f"the model {folder} knows people by their own names: judge it with --names keep or mask")

    def create(training: TrainingScenes) -> Guesser:
        from understudy.training.guessing.guessers import open_guesser

        return open_guesser(folder, training)

    return create


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
