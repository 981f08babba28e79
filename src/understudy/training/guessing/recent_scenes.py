"""What happened just before a scene, as tokens: the scenes of the same chapter with their names, cut to a length.

A story is told on from scene to scene: who set out for the airport in the last one arrives in this one. Another chapter
begins with nothing before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from understudy.story.types import Scene
from understudy.training.guessing.prompt_format import SceneTokenizer, scene_prompts

__all__ = ["RecentScenes", "scenes_with_history"]


class RecentScenes:
    """The last `length` tokens of the current chapter, from the beginning of a line on; `window` as in a prompt."""

    def __init__(self, words: SceneTokenizer, main: Sequence[str], title: str, window: int, length: int) -> None:
        self._words, self._main, self._title = words, tuple(main), title
        self._window, self._length = window, length
        self._tokens: list[int] = []
        self._chapter: tuple[int, ...] = ()

    def before(self, scene: Scene) -> list[int]:
        """What is read before this scene."""
        self._enter_chapter(scene)
        return self._tokens

    def remember(self, scene: Scene) -> None:
        """Append a scene that is over, with its names."""
        self._enter_chapter(scene)
        if not self._length:
            return
        speaking = {line.speaker for line in scene.lines}
        cast = [who for who in self._main if who in speaking]
        tokens = list(self._tokens)
        for prompt, _ in scene_prompts(scene, cast, self._title, self._words, self._window):
            tokens += prompt
        if len(tokens) > self._length:
            cut = len(tokens) - self._length
            line_end = self._words.split[-1]
            begin = next((at + 1 for at in range(cut, len(tokens)) if tokens[at] == line_end), len(tokens))
            tokens = tokens[begin:]
        self._tokens = tokens

    def _enter_chapter(self, scene: Scene) -> None:
        if scene.moment.numbers[:2] != self._chapter:
            self._tokens, self._chapter = [], scene.moment.numbers[:2]


def scenes_with_history(scenes: Sequence[Scene], recent: RecentScenes) -> Iterator[tuple[Scene, list[int]]]:
    """Each scene, and the tokens of what came just before it."""
    for scene in scenes:
        yield scene, recent.before(scene)
        recent.remember(scene)
