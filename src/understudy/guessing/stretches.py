"""Scenes where none are marked: an episode told as one long scene, cut where the company changes.

A cut falls before a line where none of the last four who spoke is among the next four, or when a stretch has grown too
long to be one scene. Both sides of a cut keep the episode's moment, so that what is earlier stays earlier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from understudy.story import Scene

__all__ = ["LONG", "stretches"]

REACH = 4  # speeches looked at on either side
LONGEST = 60  # lines in a stretch
LONG = 100  # lines from which a scene is taken for several


def stretches(scenes: Iterable[Scene]) -> Iterator[Scene]:
    """The scenes, those that are too long to be one in pieces."""
    for scene in scenes:
        if len(scene.lines) < LONG:
            yield scene
        else:
            yield from _pieces(scene)


def _pieces(scene: Scene) -> Iterator[Scene]:
    said = [place for place, line in enumerate(scene.lines) if line.speaker is not None]
    start = 0
    for nth, place in enumerate(said):
        before = {scene.lines[at].speaker for at in said[max(0, nth - REACH) : nth] if at >= start}
        after = {scene.lines[at].speaker for at in said[nth : nth + REACH]}
        if before and (before.isdisjoint(after) or place - start >= LONGEST):
            yield _part(scene, start, place)
            start = place
    yield _part(scene, start, len(scene.lines))


def _part(scene: Scene, start: int, end: int) -> Scene:
    lines = scene.lines[start:end]
    speaking = {line.speaker for line in lines}
    return replace(
        scene,
        moment=lines[0].moment if start else scene.moment,
        setting=scene.setting if start == 0 else "",
        present=tuple(who for who in scene.present if who in speaking),
        lines=lines,
    )
