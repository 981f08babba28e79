"""The elements of a screenplay, as its formats have them: cue, dialogue, action, scene heading."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["CUE", "DEEPEST", "LONGEST_CUE", "SPOKEN", "ElementKind", "ScreenplayElement"]

ElementKind: TypeAlias = Literal[
    "title entry",
    "heading",
    "action",
    "centered",
    "cue",
    "forced cue",
    "parenthetical",
    "dialogue",
    "lyric",
    "song",
    "transition",
    "section",
    "unread",
]


class ScreenplayElement(NamedTuple):
    """One element in plain words (no marks): a paragraph of action, a cue, a scene heading.

    What is sung under a cue is a lyric; what nobody is named for is a song.
    """

    kind: ElementKind
    text: str
    line: int
    units: int = 1
    number: str = ""
    """Of a scene, as written."""
    depth: int = 0
    """Of a section."""
    key: str = ""
    """Of an entry of the title page; of what is not read, the reason."""


CUE = re.compile(r"((?:\\.|[^()^\\])+?)\s*((?:(?<!\\)\([^()]*\)\s*)*)(\^)?")
"""A name, what is said about it in brackets, and the mark of dual dialogue."""

LONGEST_CUE = 500

SPOKEN = frozenset(("parenthetical", "dialogue", "lyric"))
"""What belongs to the cue above it."""

DEEPEST = 6
"""Of sections."""
