"""Brackets as transcribers use them: of four kinds, often nested, sometimes never closed."""

from __future__ import annotations

import re

__all__ = ["BRACKETED", "CLOSERS", "OPENERS", "WHOLE", "ends_open", "without_brackets"]

OPENERS, CLOSERS = "([{<", ")]}>"
BRACKETED = re.compile(r"\([^()]*\)?|\[[^\[\]]*\]?|\{[^{}]*\}?|<[^<>]*>?")
"""A bracket and what is in it, up to the end if it is not closed."""

WHOLE = re.compile(
    r"\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]|\{[^{}]*\}|<[^<>]*>|\*[^*]+\*"
)
"""A closed bracket, perhaps with others in it."""

BRACKETS = re.compile(r"[()\[\]{}]")


def ends_open(text: str) -> bool:
    """Is the last bracket an opening one, so that what follows still stands in it?"""
    return max(map(text.rfind, "([{")) > max(map(text.rfind, ")]}"))


def without_brackets(text: str) -> str:
    """Outer brackets off, also where they do not match or only the first is there."""
    if WHOLE.fullmatch(text):
        return text[1:-1].strip() or text
    if text[0] not in OPENERS:
        return text
    if text[-1] in CLOSERS and len(BRACKETS.findall(text)) == 2:
        return text[1:-1].strip() or text
    return text[1:].strip() or text if not any(closer in text for closer in CLOSERS) else text
