"""The words by which English names what one person is to another: 'wife' is a spouse, and a woman."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["TieTerm", "gender_of", "plain_term", "plural_terms", "terms"]

WITH_PLAIN_TERM = frozenset(("spouse", "parent", "child", "sibling", "grandparent", "grandchild"))


@dataclass(frozen=True, slots=True)
class TieTerm:
    """What a word says somebody is."""

    kind: str
    gender: str | None
    is_plural: bool = False


@cache
def terms() -> dict[str, TieTerm]:
    found: dict[str, TieTerm] = {}
    for table, gender in (("either", None), ("male", "male"), ("female", "female")):
        for kind, words in _tables()[table].items():
            found |= {word: TieTerm(kind, gender) for word in words}
    return found | {word: TieTerm(kind, None, is_plural=True) for word, kind in plural_terms().items()}


@cache
def plural_terms() -> dict[str, str]:
    """Words for several people at once, and their kind."""
    return {word: kind for kind, words in _tables()["plural"].items() for word in words}


def gender_of(term: str) -> str | None:
    return found.gender if (found := terms().get(term.removeprefix("ex-"))) else None


def plain_term(kind: str, gender: str | None) -> str:
    """The plain word for what a man or a woman is; none where several fit."""
    words = _tables().get(gender or "", {}).get(kind, ())
    return words[0] if words and kind in WITH_PLAIN_TERM else ""


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(files("understudy").joinpath("story", "tie_terms.toml").read_text(encoding="utf-8"))
