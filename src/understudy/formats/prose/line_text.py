"""The text of a line of running text, from the spans at which it stands: on one line, without the marks of italics."""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.novels.prose import joined

__all__ = ["narration_text", "spoken_text", "unattributed_text"]

EMPHASIS = re.compile(r"(?<!\w)_([^_]{1,300})_(?!\w)")


def spoken_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """What somebody says."""
    return _plain(joined(text, spans))


def unattributed_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """What somebody says whom nobody could name: it is told, in marks."""
    return f"“{spoken_text(text, spans)}”"


def narration_text(text: str, spans: Sequence[tuple[int, int]]) -> str:
    return _plain(" ".join(" ".join(text[start:end].split()) for start, end in spans))


def _plain(text: str) -> str:
    return EMPHASIS.sub(r"\1", text)
