"""Who comes and who goes, as far as a stage direction says so in so many words.

`[Ross enters.]`, `(Joey and Chandler leave)`, `Enter Hamlet, Horatio, and Marcellus.`, `Exit Ghost.`, `Exeunt`.
Names are given as written; whoever resolves them drops what is nobody's name.
"""

from __future__ import annotations

import re

__all__ = ["EVERYBODY", "comings_and_goings"]

EVERYBODY = "*"
"""Stands for all who are present, where a direction clears the stage."""

NAME = r"(?:(?:Mr|Mrs|Ms|Dr|Miss|St)\.? )?[^\W\d_a-z][\w'’.-]*(?: (?:of |the |de |von )?[^\W\d_a-z][\w'’.-]*){0,3}"
NAMES = rf"{NAME}(?:(?:, and |, | and | & ){NAME})*"
BEFORE_VERB = re.compile(
    rf"({NAMES}),? (?:(?:re-?)?(?P<enter>enters?|comes? in|come in|arrives?|walks? in|returns?)"
    rf"|(?P<leave>leaves?|exits?|goes out|go out|walks? out|storms? out|runs? out|departs?))\b"
)
AFTER_VERB = re.compile(rf"\b(?:(?P<enter>Re-?enter|Enter)|(?P<leave>Exit|Exeunt))s?:? (?:all but )?({NAMES})")
ALL_LEAVE = re.compile(r"\b(?:Exeunt(?: omnes)?|They (?:all )?(?:exit|leave))\s*[.,;\])]*\s*$")
ALL_BUT = re.compile(r"\b(?:all but|all except|manet|remains?)\b", re.IGNORECASE)
SEPARATOR = re.compile(r", and |, | and | & ")


def comings_and_goings(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(names that enter, names that leave) in a direction; ('*',) for leave when all go."""
    enter: list[str] = []
    leave: list[str] = []
    for match in BEFORE_VERB.finditer(text):
        (enter if match["enter"] else leave).extend(SEPARATOR.split(match[1]))
    if not ALL_BUT.search(text):
        for match in AFTER_VERB.finditer(text):
            names = [name.rstrip(".,;") for name in SEPARATOR.split(match[3])]
            (enter if match["enter"] else leave).extend(names)
        if ALL_LEAVE.search(text):
            leave.append(EVERYBODY)
    return tuple(dict.fromkeys(enter)), tuple(dict.fromkeys(leave))
