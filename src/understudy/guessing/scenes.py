"""Scenes for guessers: masked ones to guess, those with names to learn from, and the order in which they come.

In a masked scene the main speakers are hidden behind P0, P1, ... in random order, and the answers are apart.
Supporting speakers keep their names; settings and directions stay. Candidates are the main characters who speak in the
scene. Names inside the texts stay as they are, are covered ('mask'), or everybody is called by another's name
throughout the story, speakers included ('swap'): a model that learnt the voices from this story loses nothing by that,
one that remembers famous characters from elsewhere does.

A guesser is created from scenes with everybody's name, and is then asked about masked ones. Later scenes are given to
it one by one, with names, after they were guessed: it cannot know what it was never given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from understudy.errors import StoryError
from understudy.people.names import CharacterNames, derangement
from understudy.story.dialogue import Guesser
from understudy.story.persona import Persona
from understudy.story.storyfile import Story
from understudy.story.types import Line, Scene

MOST = 6
NAMES = ("keep", "mask", "swap")
TOGETHER = re.compile(r"(\s*(?:,|&|/|\band\b)\s*)")


def main_characters(story: Story, most: int = MOST) -> tuple[str, ...]:
    """Those who speak most, at least once; groups are nobody."""
    main = tuple(member.character.name for member in story.cast() if member.lines)[:most]
    if len(main) < 2:
        who = f"only {main[0]} speaks" if main else "nobody speaks"
        raise StoryError(f"{who} in '{story.title}': guessing takes two speakers or more")
    return main


@dataclass(frozen=True, slots=True)
class Masked:
    """A scene whose main speakers are hidden. `answers` says who is behind each mask; no guesser is given it."""

    scene: Scene
    answers: Mapping[str, str]

    @property
    def candidates(self) -> tuple[str, ...]:
        """Who may be meant, in an order that tells nothing."""
        return tuple(sorted(self.answers.values()))


def masks_of(scene: Scene) -> tuple[str, ...]:
    """The masks of a scene in the order in which they first speak."""
    spoken = dict.fromkeys(line.speaker for line in scene.lines if line.speaker is not None)
    return tuple(who for who in spoken if is_mask(who))


def is_mask(who: str) -> bool:
    return who[0] == "P" and who[1:].isdigit()


class Masking:
    """Hides the main characters of a story, everywhere in the same way."""

    def __init__(self, main: Sequence[str], names: CharacterNames, how: str = "keep", seed: int = 0) -> None:
        if how not in NAMES:
            raise StoryError(f"names can be {', '.join(NAMES)}, not '{how}'")
        self.main, self.names, self.how, self.seed = tuple(main), names, how, seed
        self._called = derangement(self.main, seed) if how == "swap" else {who: who for who in self.main}

    @property
    def people(self) -> tuple[str, ...]:
        """The main characters by the names they go by here."""
        return tuple(self._called[who] for who in self.main)

    def with_names(self, scene: Scene) -> Scene:
        """A scene as history: nobody is hidden, but texts and names are as in the masked scenes."""
        if self.how == "keep":
            return scene
        return self._written(scene, self._called)

    def masked(self, scene: Scene) -> Masked:
        """The scene with masks, drawn by its moment and the seed alone."""
        speaking = dict.fromkeys(line.speaker for line in scene.lines if line.speaker in self._called)
        behind = [who for who in speaking if who is not None]
        np.random.default_rng([self.seed, *scene.moment.numbers]).shuffle(behind)
        label = {who: f"P{index}" for index, who in enumerate(behind)}
        return Masked(self._written(scene, label), {mask: self._called[who] for who, mask in label.items()})

    def scenes(self, scenes: Iterable[Scene], fewest: int = 2) -> Iterator[Masked]:
        """Masked scenes in which at least so many main characters speak: alone there is nothing to guess."""
        for scene in scenes:
            masked = self.masked(scene)
            if len(masked.answers) >= fewest:
                yield masked

    def _written(self, scene: Scene, shown: Mapping[str, str]) -> Scene:
        lines = tuple(self._line(line, shown) for line in scene.lines)
        present = dict.fromkeys(shown.get(who, who) for who in scene.present if who in shown or who not in self._called)
        return replace(scene, setting=self._text(scene.setting), present=tuple(present), lines=lines)

    def _line(self, line: Line, shown: Mapping[str, str]) -> Line:
        speaker = None if line.speaker is None else _shown(line.speaker, shown)
        return replace(line, speaker=speaker, text=self._text(line.text), source=None)

    def _text(self, text: str) -> str:
        if self.how == "mask":
            return self.names.hidden(text)
        return self.names.swapped(text, self._called) if self.how == "swap" else text


def _shown(speaker: str, shown: Mapping[str, str]) -> str:
    """'Ross and Monica' speak together: both are hidden."""
    if speaker in shown:
        return shown[speaker]
    return "".join(shown.get(part, part) for part in TOGETHER.split(speaker))


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
