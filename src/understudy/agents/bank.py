"""The bank: lines that anybody could say, in three registers, for characters with little of their own to answer from.

    register = 'rough'  where rough words outweigh formal ones in what the character says and is told to be
               'formal' where it is the other way round
               'plain'  where neither stands out

A word counts once for each line it stands in; one in `MARKED` lines is enough to leave 'plain'.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

__all__ = ["REGISTERS", "bank_lines", "fallbacks", "lines_for", "register_of", "stock_lines"]

REGISTERS = ("plain", "formal", "rough")
MARKED = 0.08

ROUGH = re.compile(
    r"\b(?:ain't|gonna|gotta|wanna|dunno|yeah|yep|nah|nope|hey|damn\w*|hell|crap|shit\w*|fuck\w*|ass|bastards?|bloody|"
    r"stupid|idiots?|dude|guys?|kid|shut up|screw|y'all|'em|mate|lousy|cops?|bucks?|booze|rough|gruff|blunt|crude|rude|"
    r"foul-mouthed|thug|smuggler|sailor|thief|soldier)\b",
    re.IGNORECASE,
)
FORMAL = re.compile(
    r"\b(?:shall|indeed|pray|madam|sir|lord|lady|ladies|majesty|highness|grace|excellency|perhaps|certainly|regret|"
    r"permit|allow me|beg|pardon|obliged|honou?red?|humbly|esteemed|gentlemen|gentleman|whom|upon|thus|nevertheless|"
    r"moreover|cannot|ought|thou|thee|thy|hath|doth|prior|abbot|bishop|judge|professor|butler|prince|princess|duke|"
    r"duchess|king|queen|noble|polite|formal|courteous|dignified|scholarly|reserved)\b",
    re.IGNORECASE,
)


@cache
def _bank() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(files("understudy").joinpath("agents", "bank.toml").read_text(encoding="utf-8"))


@cache
def bank_lines(register: str) -> tuple[str, ...]:
    """All lines of a register, in the bank's order."""
    return tuple(line for lines in _bank()[register].values() for line in lines)


def lines_for(purpose: str, register: str, language: str = "en") -> tuple[str, ...]:
    """The lines of one purpose ('greeting', 'thanks', 'leaving', ...), in a register or in another language."""
    return tuple(_bank()[register if language == "en" else language].get(purpose, ()))


def fallbacks(purpose: str, register: str, language: str = "en") -> tuple[str, ...]:
    """Lines for want of an answer: 'evasions' of a question, 'small_talk', 'remarks' where nothing was asked."""
    return tuple(_bank()[purpose][register if language == "en" else language])


@cache
def stock_lines() -> frozenset[str]:
    """Every line of the bank, of any purpose, register and language."""

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for inner in value.values():
                yield from texts(inner)
        elif isinstance(value, list):
            yield from map(str, value)

    return frozenset(texts(_bank()))


def register_of(lines: Iterable[str]) -> str:
    """How somebody talks who says, or is described by, these lines."""
    count = rough = formal = 0
    for line in lines:
        count += 1
        rough += ROUGH.search(line) is not None
        formal += FORMAL.search(line) is not None
    if max(rough, formal) <= MARKED * count or rough == formal:
        return "plain"
    return "rough" if rough > formal else "formal"
