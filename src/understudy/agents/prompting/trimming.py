"""Making a prompt fit its budget of tokens.

Sections lose items in the order of `GIVES_WAY`, each down to what is worth keeping of it, then all of them again down
to nothing; of the turns and the scene the oldest go first, of everything else what matters least. What remains is the
character's name and the message, which loses its middle where even that is too long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from understudy.agents.prompting.contents import PromptContents, PromptMessage

__all__ = ["GIVES_WAY", "message_tokens", "trim"]

GIVES_WAY = (
    "turns", "scene", "voice", "lore", "others", "own", "thoughts", "impressions", "present", "dealings", "theirs",
    "remembered", "told", "profile", "facts", "setting", "note", "secrets", "directions",
)  # fmt: skip
EVERYTHING = 1 << 30
MINIMUM = {
    "turns": 2, "scene": 4, "voice": 3, "lore": 1, "others": 1, "own": 2, "thoughts": 1, "impressions": 1,
    "present": 1, "dealings": 1, "theirs": 1, "remembered": 2, "told": 2, "profile": 4, "facts": 2, "setting": 1,
    "note": 1, "secrets": EVERYTHING, "directions": 3,
}  # fmt: skip
OLDEST_FIRST = ("turns", "scene")  # the oldest of these gives way first
MESSAGE_OVERHEAD = 5  # tokens of a chat template around each message
PROMPT_OVERHEAD = 3  # tokens that open the reply
SHORTEST = 16  # characters of a message that are kept

Render = Callable[[PromptContents], list[PromptMessage]]


def message_tokens(messages: Sequence[PromptMessage], count: Callable[[str], int]) -> int:
    """How long a prompt is, with what a chat template adds."""
    return sum(count(message.content) + MESSAGE_OVERHEAD for message in messages) + PROMPT_OVERHEAD


def trim(contents: PromptContents, render: Render, count: Callable[[str], int], budget: int) -> PromptContents:
    """The contents, shortened until they fit."""

    def fits(candidate: PromptContents) -> bool:
        return message_tokens(render(candidate), count) <= budget

    if fits(contents):
        return contents
    for least in (MINIMUM, dict.fromkeys(GIVES_WAY, 0)):
        for section in GIVES_WAY:
            items = len(getattr(contents, section))
            if items <= least[section]:
                continue
            # The fewest items that must go; length grows with every item, so bisection finds it.
            low, high = least[section], items
            while low < high:
                middle = (low + high + 1) // 2
                if fits(_shortened(contents, section, middle)):
                    low = middle
                else:
                    high = middle - 1
            contents = _shortened(contents, section, low)
            if fits(contents):
                return contents
    return _with_shorter_message(contents, fits)


def _shortened(contents: PromptContents, section: str, items: int) -> PromptContents:
    """The contents with so many items of a section."""
    now: tuple[Any, ...] = getattr(contents, section)
    remaining = now[len(now) - items :] if section in OLDEST_FIRST else now[:items]
    changed: dict[str, Any] = {section: remaining}
    return replace(contents, **changed)


def _with_shorter_message(contents: PromptContents, fits: Callable[[PromptContents], bool]) -> PromptContents:
    """Beginning and end of the message, as much of it as fits."""
    whole = contents.message

    def cut(length: int) -> PromptContents:
        return replace(contents, message=f"{whole[: length // 2]} ... {whole[len(whole) - length // 2 :]}")

    low, high = min(SHORTEST, len(whole)), len(whole)
    if low == high:
        return contents
    while low < high:
        middle = (low + high + 1) // 2
        if fits(cut(middle)):
            low = middle
        else:
            high = middle - 1
    return cut(low)
