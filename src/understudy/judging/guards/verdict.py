"""What a guard says of a draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from understudy.story.dialogue import NOT_KNOWN_YET, Draft, Situation, Turn

__all__ = ["Guard", "Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a guard lets a draft pass and, where it does not, why.

    `is_spoiler` says that the draft itself must not be shown: its text is then left out wherever drafts are listed.
    """

    guard: str
    passed: bool
    reason: str = ""
    is_spoiler: bool = False

    @classmethod
    def passing(cls, guard: str) -> Verdict:
        return cls(guard, True)

    @classmethod
    def stopped(cls, guard: str, reason: str) -> Verdict:
        return cls(guard, False, reason)

    @classmethod
    def spoiler(cls, guard: str) -> Verdict:
        return cls(guard, False, NOT_KNOWN_YET, True)


Guard = Callable[[Situation, Sequence[Turn], Draft], Verdict]
"""A guard is a plain function; one that needs the story closes over it, so that no agent can reach the story."""
