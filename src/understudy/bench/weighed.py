"""Several guessers together, each believed as far as it deserves: `joint+FOLDER`.

How far is learned from scenes that none of them has learned from: those of the lessons that come after the last one
that a trained model was taught, or the last tenth. Whatever learns quickly is made twice, first without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from understudy.dialogue import Guesser
from understudy.errors import AgentError
from understudy.guessing import Lessons, Masking, guess_in_order
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["weighed"]

UNSEEN = 0.1  # of the scenes, where no model says which it has seen


def weighed(makes: Sequence[Callable[[Lessons], Guesser]], folders: Sequence[Path]) -> Callable[[Lessons], Guesser]:
    """Guessers made from lessons, some of them trained models, which lie in `folders`."""

    def make(lessons: Lessons) -> Guesser:
        from understudy.training.guessing.guessers import fit_weights

        seen = _seen(lessons, folders)
        unseen = lessons.scenes[seen:]
        earlier = replace(lessons, scenes=lessons.scenes[:seen])
        masking = Masking(lessons.main, lessons.names)
        asked = [(scene, len(masking.masked(scene).answers) > 1) for scene in unseen]
        told = [[guesses for _, guesses in guess_in_order(one(earlier), asked, masking, _people)] for one in makes]
        masked = [masking.masked(scene) for scene, is_asked in asked if is_asked]
        return fit_weights([one(lessons) for one in makes], masked, told)

    return make


def _seen(lessons: Lessons, folders: Sequence[Path]) -> int:
    """How many of the scenes somebody may have learned from."""
    from understudy.training.guessing.guessers import learned_until

    if not folders:
        return len(lessons.scenes) - int(len(lessons.scenes) * UNSEEN)
    last = max(learned_until(folder, lessons) for folder in folders)
    seen = sum(scene.moment <= last for scene in lessons.scenes)
    if seen == len(lessons.scenes):
        raise AgentError(
            f"{', '.join(map(str, folders))} learned from all scenes, so that none is left to tell how far to believe "
            "each guesser: train with --held-back 0.05"
        )
    return seen


def _people(names: Sequence[str], scene: Scene) -> Sequence[Persona]:
    return [Persona(name, scene.moment) for name in names]
