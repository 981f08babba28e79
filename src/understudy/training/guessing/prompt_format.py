"""Scenes with names as the tokens of a prompt, for a language model.

A prompt names who is there, then says line by line who says what, and ends with a blank line:

    Scene from Keys with Ines, Tobias.
    ( The attic.)
    Ines: Where is it?

Lengths are in the model's own tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from understudy.errors import InputError
from understudy.story.types import Scene

__all__ = ["RecentScenes", "SceneTokenizer", "chunks", "scene_prompts", "scenes_with_history", "unmasked"]

MASK = re.compile(r"\bP\d+\b")
SHORTEST = 128  # tokens that a model must be able to read at once
UNBOUNDED = 1 << 20  # a tokenizer without a limit names a far larger one
COUNTED_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "longformer")
LEAST = 16  # tokens of a scene that a window holds, however long its heading is

Part = tuple[list[int], int]
"""Tokens, and how many of them are the heading."""


class SceneTokenizer:
    """A tokenizer for parts of a scene, with a cache: texts come again epoch after epoch."""

    def __init__(self, tokenizer: Any, config: Any) -> None:
        self.tokenizer = tokenizer
        self.causal = tokenizer.mask_token_id is None
        limits = [_positions(config), tokenizer.model_max_length]
        self.longest = min((int(value) for value in limits if value and value < UNBOUNDED), default=UNBOUNDED)
        if self.longest < SHORTEST:
            raise InputError(
                f"the model reads {self.longest} tokens, and a scene needs {SHORTEST}: choose another base"
            )
        ends = (tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
        first_token = next((value for value in ends if value is not None), None)
        if first_token is None:
            raise InputError("the model's tokenizer has no token for the beginning of a text: choose another base")
        self.first = int(first_token)
        self._known: dict[str, list[int]] = {}
        self.split = self.tokens("\n") or [self.first if tokenizer.sep_token_id is None else tokenizer.sep_token_id]

    def tokens(self, text: str) -> list[int]:
        ids = self._known.get(text)
        if ids is None:
            ids = list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])
            self._known[text] = ids
        return ids

    def spoken(self, speaker: str, text: str) -> list[int]:
        return [*self.tokens(speaker), *self.tokens(":"), *self.tokens(f" {text}")]

    def line(self, speaker: str | None, text: str) -> list[int]:
        """What is said or described, on a line of its own."""
        return self.aside(text) if speaker is None else [*self.split, *self.spoken(speaker, text)]

    def aside(self, text: str) -> list[int]:
        """A setting or direction, on a line of its own."""
        return [*self.split, *self.tokens("("), *self.tokens(f" {text}"), *self.tokens(")")]


def _positions(config: Any) -> int | None:
    """How many tokens have a position: those of the RoBERTa family begin to count after the number of padding."""
    positions: int | None = getattr(config, "max_position_embeddings", None)
    if positions and config.model_type in COUNTED_FROM_PADDING:
        return positions - int(config.pad_token_id) - 1
    return positions


def scene_prompts(scene: Scene, cast: Sequence[str], title: str, words: SceneTokenizer, window: int) -> list[Part]:
    """The scene in as many parts as its length asks for, each with the heading."""
    heading = words.tokens(f"Scene from {title} with {', '.join(sorted(cast))}.")[: window // 2]
    end = [*words.split, *words.split]
    room = max(window - len(heading) - len(end) - 1, LEAST)
    parts: list[list[int]] = []
    now = words.aside(scene.setting)[: room // 2] if scene.setting else []
    for line in scene.lines:
        more = words.line(line.speaker, line.text)[:room]
        if now and len(now) + len(more) > room:
            parts.append(now)
            now = []
        now = now + more
    return [([*heading, *part, *end], len(heading)) for part in (*parts, now) if part]


def unmasked(scene: Scene, names: Mapping[str, str]) -> list[str | None]:
    """The speakers of a masked scene under a naming; those who speak together too."""
    return [
        None if line.speaker is None else MASK.sub(lambda mask: names.get(mask[0], mask[0]), line.speaker)
        for line in scene.lines
    ]


def chunks(
    scenes: Sequence[Scene], main: Sequence[str], title: str, words: SceneTokenizer, window: int
) -> list[list[int]]:
    """Scenes behind one another, as many of the same chapter or episode as a window holds.

    So a model learns what goes on from scene to scene, and each scene is shown once.
    """
    results: list[list[int]] = []
    now: list[int] = []
    chapter: tuple[int, ...] = ()
    for scene in scenes:
        speaking = {line.speaker for line in scene.lines}
        cast = [who for who in main if who in speaking]
        here = scene.moment.numbers[:2]
        for tokens, _ in scene_prompts(scene, cast, title, words, window):
            if now and (here != chapter or len(now) + len(tokens) > window):
                results.append([words.first, *now])
                now = []
            now, chapter = now + tokens, here
    return [*results, [words.first, *now]] if now else results


# What happened just before a scene: the scenes of the same chapter with their names, cut to a length. A story is told
# on from scene to scene: who set out for the airport in the last one arrives in this one. Another chapter begins with
# nothing before it.


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
