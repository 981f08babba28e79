"""A scene with its main speakers hidden behind P0, P1, ... in random order, and the answers apart.

Supporting speakers keep their names; settings and directions stay. Candidates are the main characters who speak in the
scene. Names inside the texts stay as they are, are covered ('mask'), or everybody is called by another's name
throughout the story, speakers included ('swap'): a model that learnt the voices from this story loses nothing by that,
one that remembers famous characters from elsewhere does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.errors import StoryError
from understudy.guessing.names import CharacterNames, derangement
from understudy.story import Line, Scene
from understudy.storyfile import Story

__all__ = ["MOST", "NAMES", "Masked", "Masking", "is_mask", "main_characters", "masks_of"]

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
