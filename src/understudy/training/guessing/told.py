"""Scenes as a language model reads them: who is there, then line by line who says what.

    Scene from Keys with Ines, Tobias.
    ( The attic.)
    Ines: Where is it?

A blank line ends it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from understudy.story import Scene
from understudy.training.guessing.trunk import Words

__all__ = ["Part", "chunks", "told", "unmasked"]

MASK = re.compile(r"\bP\d+\b")
LEAST = 16  # tokens of a scene that a window holds, however long its heading is

Part = tuple[list[int], int]
"""Tokens, and how many of them are the heading."""


def told(scene: Scene, cast: Sequence[str], title: str, words: Words, window: int) -> list[Part]:
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


def chunks(scenes: Sequence[Scene], main: Sequence[str], title: str, words: Words, window: int) -> list[list[int]]:
    """Scenes behind one another, as many of the same chapter or episode as a window holds.

    So a model learns what goes on from scene to scene, and each scene is shown once.
    """
    found: list[list[int]] = []
    now: list[int] = []
    chapter: tuple[int, ...] = ()
    for scene in scenes:
        speaking = {line.speaker for line in scene.lines}
        cast = [who for who in main if who in speaking]
        here = scene.moment.numbers[:2]
        for tokens, _ in told(scene, cast, title, words, window):
            if now and (here != chapter or len(now) + len(tokens) > window):
                found.append([words.first, *now])
                now = []
            now, chapter = now + tokens, here
    return [*found, [words.first, *now]] if now else found
