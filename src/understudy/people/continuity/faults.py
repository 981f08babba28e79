"""A fault of continuity: a line that does not fit what came before it, what it conflicts with, and how surely."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

from understudy.people.continuity.scenes import WatchedScene
from understudy.story import Line, Moment
from understudy.text import fold

__all__ = ["KINDS", "Detector", "Fault"]

KINDS = {
    "unknown": "says what they cannot know yet",
    "gone": "has what they no longer have",
    "dead": "speaks while dead",
    "absent": "speaks after leaving",
    "met": "meets somebody for the second time as if for the first",
}
"""Kinds of fault, each with what somebody does in such a line."""
ID_LENGTH = 8  # hexadecimal digits


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    line: Line
    """A line that somebody says."""
    about: str
    """The name or thing that it is about."""
    reason: str
    sources: tuple[Moment, ...]
    """What the line conflicts with: where it was brought up, handed on, where somebody died, left, was met."""
    confidence: float

    @property
    def who(self) -> str:
        return self.line.speaker or ""

    @property
    def id(self) -> str:
        """Made of what is said, by whom and about what, not of where: it is the same when the story is read again.

        Somebody who says the same twice has one id for both lines.
        """
        content = "\0".join((self.kind, fold(self.who), fold(self.about), fold(self.line.text)))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


class Detector(Protocol):
    """Watches every scene once, in story order."""

    def watch(self, scene: WatchedScene) -> None: ...
    def faults(self) -> list[Fault]:
        """What was found in all scenes so far."""
        ...
