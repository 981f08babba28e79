"""What the formats of screenplays share: their elements, how they count time, and the events they become."""

from understudy.formats.screenplay.outline import (
    CUE,
    DEEPEST,
    LONGEST_CUE,
    SPOKEN,
    ElementKind,
    ScreenplayElement,
    outline_of,
)
from understudy.formats.screenplay.reading import LONGEST, screenplay_events

__all__ = [
    "CUE",
    "DEEPEST",
    "LONGEST",
    "LONGEST_CUE",
    "SPOKEN",
    "ElementKind",
    "ScreenplayElement",
    "outline_of",
    "screenplay_events",
]
