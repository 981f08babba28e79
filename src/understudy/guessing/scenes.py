"""What a guesser learns from, and the order in which it is asked.

A guesser is created from scenes with everybody's name, and is then asked about masked ones. Later scenes are given to
it one by one, with names, after they were guessed: it cannot know what it was never given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from understudy.dialogue import Guesser
from understudy.errors import StoryError
from understudy.guessing.masking import Masked, Masking
from understudy.guessing.names import CharacterNames
from understudy.persona import Persona
from understudy.story import Scene

__all__ = ["LONG", "Guesses", "Remembering", "TrainingScenes", "guess_in_order", "split_long_scenes"]

Guesses = Mapping[str, Mapping[str, float]]
"""For each mask, how probable each candidate is."""

WINDOW = 4  # speeches looked at on either side of a cut
SEGMENT = 60  # lines of a segment at most
LONG = 100  # lines from which a scene is taken for several


@dataclass(frozen=True, slots=True)
class TrainingScenes:
    """Scenes with names, in order, and who the main characters are in them."""

    scenes: Sequence[Scene]
    main: tuple[str, ...]
    names: CharacterNames
    language: str = "en"

    def __post_init__(self) -> None:
        if not any(line.speaker in self.main for scene in self.scenes for line in scene.lines):
            raise StoryError("there is nothing to learn from: no main character speaks in an earlier scene")


@runtime_checkable
class Remembering(Protocol):
    """A guesser that goes on learning from what happens."""

    def remember(self, scene: Scene) -> None: ...


def guess_in_order(
    guesser: Guesser,
    scenes: Iterable[tuple[Scene, bool]],
    masking: Masking,
    personas: Callable[[Sequence[str], Scene], Sequence[Persona]],
) -> Iterator[tuple[Masked, Guesses]]:
    """Every scene that is asked about, with the guesses; the guesser remembers each scene once it is over.

    `personas` gives the candidates of a scene as they are when it begins.
    """
    for scene, is_asked in scenes:
        if is_asked:
            masked = masking.masked(scene)
            yield masked, guesser.guess(masked.scene, personas(masked.candidates, masked.scene))
        if isinstance(guesser, Remembering):
            guesser.remember(masking.with_names(scene))


def split_long_scenes(scenes: Iterable[Scene]) -> Iterator[Scene]:
    """The scenes; an episode without scene marks, which is one long scene, in segments.

    A cut falls before a line where none of the last four speakers is among the next four, or when a segment has grown
    too long to be one scene. Both sides of a cut keep the episode's moment, so that what is earlier stays earlier.
    """
    for scene in scenes:
        if len(scene.lines) < LONG:
            yield scene
        else:
            yield from _segments(scene)


def _segments(scene: Scene) -> Iterator[Scene]:
    spoken = [index for index, line in enumerate(scene.lines) if line.speaker is not None]
    start = 0
    for position, index in enumerate(spoken):
        before = {scene.lines[at].speaker for at in spoken[max(0, position - WINDOW) : position] if at >= start}
        after = {scene.lines[at].speaker for at in spoken[position : position + WINDOW]}
        if before and (before.isdisjoint(after) or index - start >= SEGMENT):
            yield _segment(scene, start, index)
            start = index
    yield _segment(scene, start, len(scene.lines))


def _segment(scene: Scene, start: int, end: int) -> Scene:
    lines = scene.lines[start:end]
    speakers = {line.speaker for line in lines}
    return replace(
        scene,
        moment=lines[0].moment if start else scene.moment,
        setting=scene.setting if start == 0 else "",
        present=tuple(who for who in scene.present if who in speakers),
        lines=lines,
    )
