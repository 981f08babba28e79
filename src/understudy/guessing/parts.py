"""A scene as its masks see it: read for clues, with a bag of terms for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy.guessing.bags import bags_of
from understudy.guessing.names import Names
from understudy.guessing.reading import ReadScene, read_scene
from understudy.guessing.terms import Bag
from understudy.story import Scene

__all__ = ["Parts", "parts_of", "told_parts"]


@dataclass(frozen=True, slots=True)
class Parts:
    """`speakers` are those to be told apart: masks, or the main characters of a scene that was told with names."""

    scene: Scene
    read: ReadScene
    speakers: tuple[str, ...]
    bags: Mapping[str, Bag]

    def listed(self) -> list[Bag]:
        return [self.bags[who] for who in self.speakers]

    def length(self, who: str) -> int:
        """How many words somebody says."""
        return sum(len(line.words) for line in self.read.lines if line.speaker == who)

    def named_by(self, who: str) -> list[str]:
        """The words with which somebody may name others."""
        return [one.word for line in self.read.lines if line.speaker == who for one in line.mentions]

    def texts(self, who: str) -> list[str]:
        """What somebody says, line by line."""
        return [line.text for line in self.scene.lines if line.speaker == who]


def parts_of(scene: Scene, speakers: Sequence[str], names: Names, language: str) -> Parts:
    read = read_scene(scene, names, language)
    return Parts(scene, read, tuple(speakers), bags_of(read, speakers, language))


def told_parts(scene: Scene, main: Sequence[str], names: Names, language: str) -> Parts:
    """The parts of the main characters in a scene told with names."""
    speaking = {line.speaker for line in scene.lines}
    return parts_of(scene, [who for who in main if who in speaking], names, language)
