"""Stage directions: the brackets they stand in, and who comes and goes as far as they say so.

Brackets are as transcribers use them: of four kinds, often nested, sometimes never closed. Comings and goings are those
said in so many words: `[Ross enters.]`, `(Joey and Chandler leave)`, `Enter Hamlet, Horatio, and Marcellus.`,
`Exit Ghost.`, `Exeunt`. Who falls asleep or faints is away until they wake, or speak. Names are given as written;
whoever resolves them drops what is nobody's name.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Literal

from understudy.sources import Cue

EVERYBODY = "*"
"""Stands for all who are present, where a direction clears the stage."""

TITLE = r"(?:Mr|Mrs|Ms|Dr|Miss|St|Lt|Capt|Sgt|Col|Gen|Rev|Prof)\.? "
WORD = r"[^\W\d_a-z][\w'’.-]{0,40}"
NAME = rf"(?:{TITLE})?{WORD}(?:(?<!\w\w\.) (?:of |the |de |von )?{WORD}){{0,3}}"
NAMES = rf"{NAME}(?:(?:, and |, | and | & ){NAME}){{0,20}}"
ASLEEP = r"(?:falls?|is|are|lies?|sinks?)(?: down)? asleep|sleeps?(?! (?:with|at|over)\b)|faints?|swoons?|passes? out"
FALLS_ASLEEP = re.compile(rf"\b(?:{ASLEEP})\b")
BEFORE_VERB = re.compile(
    rf"(?<!\w)({NAMES}),? (?:(?:re-?)?(?P<enter>enters?|comes? in|come in|arrives?|walks? in|returns?|"
    r"(?:a?wakes?|a?woke)(?: up)?(?= *(?:[.,;)\]]|$)))"
    r"|(?P<leave>leaves?|exits?|goes out|go out|walks? out|storms? out|runs? out|departs?|"
    rf"{ASLEEP}))\b"
)
AFTER_VERB = re.compile(rf"\b(?:(?P<enter>Re-?enter|Enter)|(?P<leave>Exit|Exeunt))s?:? (?:all but )?({NAMES})")
ALL_LEAVE = re.compile(r"\b(?:Exeunt(?: omnes)?|They (?:all )?(?:exit|leave))\s*[.,;\])]*\s*$")
ALL_BUT = re.compile(r"\b(?:all but|all except|manet|remains?)\b", re.IGNORECASE)
SEPARATOR = re.compile(r", and |, | and | & ")


def comings_and_goings(text: str) -> tuple[Cue, ...]:
    """Who enters and who leaves in a direction, in the order in which it says so; EVERYBODY leaves when all go."""
    moves = [(match.start(), _kind(match), SEPARATOR.split(match[1])) for match in BEFORE_VERB.finditer(text)]
    if not ALL_BUT.search(text):
        for match in AFTER_VERB.finditer(text):
            names = [name.rstrip(".,;") for name in SEPARATOR.split(match[3])]
            moves.append((match.start(), _kind(match), names))
        if cleared := ALL_LEAVE.search(text):
            moves.append((cleared.start(), "leave", [EVERYBODY]))
    moves.sort(key=itemgetter(0))
    return tuple(Cue(kind, name) for _, kind, names in moves for name in names)


def falls_asleep(text: str) -> bool:
    """Does a direction say that somebody sleeps or faints?"""
    return FALLS_ASLEEP.search(text) is not None


def _kind(match: re.Match[str]) -> Literal["enter", "leave"]:
    return "enter" if match["enter"] else "leave"


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
