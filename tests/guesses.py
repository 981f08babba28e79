"""Guesses with known answers, for tests of what is made from them."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.formats.annotations import Annotation, Instance, Rationale
from understudy.guessing.analysis import GuessedSpeaker

__all__ = ["annotation", "guessed_scene"]


def guessed_scene(
    model: str,
    show: str,
    number: int,
    speakers: Sequence[str],
    guesses: Sequence[str],
    episode: tuple[int, ...] = (1, 1),
) -> list[GuessedSpeaker]:
    """The speakers of one scene in the order of their first lines, and whom each was taken for."""
    even = {name: 1 / len(speakers) for name in speakers}
    return [
        GuessedSpeaker(model, show, episode, number, index, who, guess, even)
        for index, (who, guess) in enumerate(zip(speakers, guesses, strict=True))
    ]


def annotation(
    number: int,
    index: int,
    evidence: Sequence[str] = ("memory",),
    history: str = "none",
    reasoning: str = "none",
    source: str = "table",
) -> Annotation:
    return Annotation(source, Instance((1, 1), number, index), history, (Rationale(tuple(evidence), reasoning),))
