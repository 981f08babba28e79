"""What models say of the judged scenes of a show: each is asked once, and several are weighed by their answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from understudy.dialogue import Guesser
from understudy.errors import UnknownCharacter
from understudy.guessing import Guesses, Masked, Masking, guess_in_order
from understudy.guessing.shows import JudgedScene, Show
from understudy.lexical.rows import Reals
from understudy.persona import Persona, persona_at
from understudy.progress import Progress
from understudy.story import Scene
from understudy.training.guessing.guessers import combined

__all__ = ["Answers", "answers_of", "weighted_answers"]

Answers = list[tuple[Masked, Guesses]]
"""The judged scenes of a show, and what a model says of each."""


def answers_of(
    model: str, scenes: Sequence[JudgedScene], masking: Masking, guesser: Guesser, show: Show, progress: Progress
) -> Iterator[tuple[Masked, Guesses]]:
    personas = _personas(show, masking)
    total = sum(judged.judged for judged in scenes)
    results = guess_in_order(guesser, ((judged.scene, judged.judged) for judged in scenes), masking, personas)
    for done, result in enumerate(results, 1):
        progress(f"{show.title}: {model}", done, total)
        yield result


def _personas(show: Show, masking: Masking) -> Callable[[Sequence[str], Scene], Sequence[Persona]]:
    """The candidates as they are when the judged episodes begin; without a past where they go by other names."""

    @lru_cache(len(show.main))
    def known(name: str) -> Persona:
        try:
            return Persona(name) if masking.how != "keep" else persona_at(show.story, name, show.first)
        except UnknownCharacter:  # the judged file has somebody whom the transcripts have not
            return Persona(name)

    return lambda names, scene: [replace(known(name), moment=scene.moment) for name in names]


def weighted_answers(answers: Sequence[Answers], weights: Reals) -> Answers:
    """The answers of several models, scene by scene, as one."""
    return [
        (of_scene[0][0], combined([guesses for _, guesses in of_scene], weights))
        for of_scene in zip(*answers, strict=True)
    ]
