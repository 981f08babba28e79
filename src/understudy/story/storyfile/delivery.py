"""How lines are spoken, as far as directions say so: aside, or not in the speaker's own words.

A direction speaks of the line after it, and of what the same speaker goes on to say until it ends: 'Aside.', 'To
himself', 'beiseite'; 'aloud' and 'To Ann' end an aside. In brackets it stands in the line itself, and speaks of what
follows there. What is aside is a thought: nobody but its speaker, or the one it is said to, hears it. What is read out
or sung, and a line that is mostly a quotation, is said aloud, but is no statement of who says it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from understudy.text import fold

__all__ = ["Delivery", "deliveries"]

PART = re.compile(r"[^.,;:!—–()\[\]（）。、，；]+")
BRACKET = re.compile(r"[(\[（]([^()\[\]（）]{1,80})[)\]）]")
ASIDE = re.compile(
    r"(?:speaking |speaks |spoken |half )?(?:aside|apart|(?:to|with) (?:(?:him|her|it|one|my)self|themselves)|"
    r"bei ?seite|bey ?seite|bei ?seits|bey ?seits|für sich|vor sich(?: hin)?|zu sich(?: selbst)?|à part|aparte|a parte|"
    r"в сторону|про себя|傍白|独白|独り言)",
    re.IGNORECASE,
)
ASIDE_TO = re.compile(
    r"(?:aside|apart|beiseite|leise|heimlich|whisper(?:s|ing|ed)?) (?:to|zu|zum|zur) (.+)", re.IGNORECASE
)
ALOUD = re.compile(
    r"(?:to|turns to|turning to|zu|zum|zur) .+|aloud|loudly|laut|haut|tout haut|alto|вслух|громко", re.IGNORECASE
)
RECITED = re.compile(
    r"(?:s?he |they |again |still )?(?:(?:reads?|reading|liest|lesend|lit|lisant)"
    r"(?: (?:aloud|out|it|on|again|from .+|(?:the|a|his|her|this|that|another)? ?(?:letter|note|paper|poem)\b.*))?|"
    r"(?:sings?|singing|recites?|reciting|singt|singend|chante|chantant)(?: .+)?)",
    re.IGNORECASE,
)
MARK = re.compile(r"[(\[（“\"]")  # begins a direction, or a quotation
WORD = re.compile(r"\w+")
QUOTATION = re.compile(r"[“\"][^“”\"]+[”\"]")
LONGEST_DIRECTION = 120  # characters; what is longer is narration
MOSTLY, LEAST_QUOTED = 0.6, 30  # of a line's characters; a word in quotation marks is only stressed


class Spoken(Protocol):
    """A line: who says it (None: a direction), and its text."""

    @property
    def speaker(self) -> object: ...
    @property
    def text(self) -> str: ...


class Delivery(NamedTuple):
    """What of a line everybody there hears, and what nobody does but its speaker and those an aside is `to`."""

    aloud: str
    aside: str = ""
    to: str = ""
    """Those an aside is meant for, in the direction's words."""
    is_own: bool = True
    """Are what is aloud the speaker's own words?"""
    announces: bool = False
    """Is it a direction that speaks of nothing but how the line after it is said?"""

    def is_heard_by(self, name: str) -> bool:
        """Does somebody else who is there hear all of it?"""
        return not self.aside or not _words(name).isdisjoint(_words(self.to))


class _Manner(NamedTuple):
    is_aside: bool = False
    to: str = ""
    is_recited: bool = False


PLAINLY = _Manner()


def deliveries(lines: Sequence[Spoken]) -> Iterator[Delivery]:
    """How each line of a scene, or of a part of it, is spoken."""
    speaker: object = None
    manner = PLAINLY
    announced: _Manner | None = None
    is_interrupted = False  # by a direction: then the same speech may go on after it
    for line in lines:
        if line.speaker is None:
            announced = _manner(line.text) or announced
            is_interrupted = True
            yield Delivery(line.text, announces=_says_only_manner(line.text))
            continue
        if announced is not None:
            manner = announced
        elif line.speaker != speaker or not is_interrupted:
            manner = PLAINLY
        speaker, announced, is_interrupted = line.speaker, None, False
        yield _delivered(line.text, manner)


def _delivered(text: str, manner: _Manner) -> Delivery:
    """How a line is spoken that begins in a manner."""
    if manner is PLAINLY and MARK.search(text) is None:
        return Delivery(text)  # as most lines are
    aloud, aside = list[str](), list[str]()
    to, start = manner.to, 0
    is_recited = manner.is_recited
    for match in BRACKET.finditer(text):
        told = _manner(match[1])
        if told is None:
            continue
        (aside if manner.is_aside else aloud).append(text[start : match.start()])
        is_recited |= told.is_recited and not text[: match.start()].strip()
        manner, to = told, to or told.to
        start = match.end() if told.is_aside else match.start()
    (aside if manner.is_aside else aloud).append(text[start:])
    said = " ".join("".join(aloud).split()) if aside else text
    is_own = not is_recited and not _is_quotation(text)
    return Delivery(said, " ".join("".join(aside).split()), to, is_own)


@lru_cache(4096)  # directions repeat
def _manner(direction: str) -> _Manner | None:
    """What a direction says of the manner of speaking; None where it says nothing of it, or tells a story."""
    for part in PART.findall(direction) if len(direction) <= LONGEST_DIRECTION else ():
        words = part.strip()
        if match := ASIDE_TO.fullmatch(words):
            return _Manner(True, match[1])
        if ASIDE.fullmatch(words):
            return _Manner(True)
        if RECITED.fullmatch(words):
            return _Manner(is_recited=True)
        if ALOUD.fullmatch(words):
            return PLAINLY
    return None


def _says_only_manner(direction: str) -> bool:
    parts = [part for part in PART.findall(direction) if part.strip()]
    return bool(parts) and all(_manner(part) is not None for part in parts)


def _words(text: str) -> set[str]:
    return {fold(word) for word in WORD.findall(text)}


def _is_quotation(text: str) -> bool:
    """Is it mostly what somebody else said or wrote? Quotation marks around all of it mark no more than a speech."""
    stripped = text.strip()
    quoted = [match[0] for match in QUOTATION.finditer(stripped)]
    return quoted != [stripped] and sum(map(len, quoted)) >= max(MOSTLY * len(stripped), LEAST_QUOTED)
