"""The words and patterns by which statements are found: `statements.toml`, one table for all modules that read it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["either", "filled", "pattern", "table", "word_list"]


@cache
def table() -> dict[str, Any]:
    text = files("understudy.people").joinpath("statements.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def word_list(name: str) -> tuple[str, ...]:
    """The words, or phrases between commas, of one list."""
    listed: str = table()["words"][name]
    parts = listed.split(",") if "," in listed else listed.split()
    return tuple(part.strip() for part in parts if part.strip())


def either(name: str) -> str:
    """A pattern of any of a list, the longest first."""
    return "|".join(re.escape(word) for word in sorted(word_list(name), key=len, reverse=True))


def filled(pattern: str) -> str:
    """A pattern with lists of words in the place of %their names%."""
    return re.sub(r"%([\w ]+)%", lambda match: either(match[1]), pattern)


def pattern(name: str, any_case: bool = True) -> re.Pattern[str]:
    """One of the patterns by its name."""
    return re.compile(filled(table()["pattern"][name]), re.IGNORECASE if any_case else 0)
