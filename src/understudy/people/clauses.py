"""What was said, cut into clauses that could each stand alone, in one spelling.

    "Well, I'm a nurse and my sister teaches, Ross! Do you cook?"
        ->  I am a nurse   my sister teaches   do you cook?

Contractions of statements are written out, stutters, asides in brackets and words that only open or close a speech
('well', 'you know', a name that calls somebody) are left out. Where a quotation, a condition or a wish begins, the
clause says so: what follows is not said as true. Text without any capitals (a chat) may lack full stops as well; there
a new first person begins a new clause.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

__all__ = ["Clause", "clauses_of", "either", "filled", "normalised", "pattern", "table"]

# The words and patterns by which statements are found: `statements.toml`, one table for all modules that read it.


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


SPELLINGS = [
    (needed, re.compile(pattern, re.IGNORECASE), instead)
    for needed, pattern, instead in (
        ("[(<{*", r"[\[(<{*][^\])>}*]{0,300}[\])>}*]", " "),
        ("-–—", r"\b([\w']{1,5})(?:\s?[-–—]+\s?\1\b)+", r"\1"),  # I-I-I
        ("'", r"\bi\s?'\s?m\b", "I am"),
        ("'", r"\b(i|we|you|they)\s?'\s?ve\b", r"\1 have"),
        ("'", r"\b(we|you|they)\s?'\s?re\b", r"\1 are"),
        ("'", r"\b(i|we|you|he|she|they)\s?'\s?ll\b", r"\1 will"),
        ("'", r"\b(i|we|you|he|she|they)\s?'\s?d\b", r"\1 would"),
        ("'", r"\bcan't\b", "cannot"),
        ("'", r"\bwon't\b", "will not"),
        ("'", r"\bain't\b", "am not"),
        ("'", r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)n't\b", r"\1 not"),
        ("'", r"\b(he|she|it|that|what|who|where|how|there|name|favorite|job)'s\b(?! (?:own|first|last))", r"\1 is"),
        (
            "'",
            r"\b(my (?:\w+ )?\w+)'s (?=(?:an?|the|in|from|not|very|so|really|\w+ing|called|named|dead)\b)",
            r"\1 is ",
        ),
    )
]
CHAT_SPELLINGS = [
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\s+([,.!?;:])", r"\1"),
        (r"\b(?:im|i m)\b(?!\s?\.)", "I am"),
        (r"\b(?:ive|i ve)\b", "I have"),
        (r"\b(?:cant|can t)\b", "cannot"),
        (r"\b(?:wont|won t)\b", "will not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)(?:n t|nt| nt)\b", r"\1 not"),
        (r"\bdon t\b", "do not"),
        (r"\b(that|what|it|name|job) s\b", r"\1 is"),
        (r"\b(my|your) (?:fav|fave|favourite)\b", r"\1 favorite"),
        (r"\b(?:kinda|sorta)\b", "kind of"),
        (r"\bi\b", "I"),
    )
]
SLANG = [
    (re.compile(r"\bgonna\b"), "going to"),
    (re.compile(r"\bwanna\b"), "want to"),
    (re.compile(r"\bI have got (?!to\b)"), "I have "),
]
QUOTED = re.compile(r"[\"“”]|(?<!\w)'(?=\w[^']* [^']*'(?!\w))")
SENTENCE = re.compile(r"(?:[^.!?…;:]|[.:](?=\w)|(?<=\b[MDSJ]r)\.|(?<=Mrs)\.|(?<=\b[MS][st])\.)+[.!?…;:-]*")
JOINED = pattern("joined")
RUN_ON = pattern("run on")
OPENING = re.compile(
    rf"(?:(?:{either('openings')})\b(?:\s*,)?|(?-i:[A-Z][\w'.]+(?: [A-Z][\w']+)?,)|[,\s'-])\s*", re.IGNORECASE
)
CLOSING = pattern("closing")
NAME_ALONE = re.compile(r"(?:(?:now|well|so|because|and|but|yes|oh|if|when),? )?(?:[A-Z]\w+|you|he|she|they)")
JOINT_SUBJECT = re.compile(r"^I\b")
TAG = re.compile(r",\s*(?:okay|ok|all right|right|you know|huh|remember|see)(?:, \w+)?$", re.IGNORECASE)
CAPITAL = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of what was said in one go; `index` counts the clauses of a speech from 0."""

    text: str
    index: int
    is_question: bool
    is_broken: bool
    """It breaks off, or is part of a quotation."""
    opening: str
    """What was cut off its front: 'no', 'well', in small letters."""


def normalised(text: str) -> str:
    """The text in the spelling that patterns are written for."""
    is_chat = CAPITAL.search(text) is None
    text = text.replace("’", "'").replace("‘", "'")
    for needed, spelling, instead in SPELLINGS:
        if any(mark in text for mark in needed):
            text = spelling.sub(instead, text)
    if is_chat:
        for spelling, instead in CHAT_SPELLINGS:
            text = spelling.sub(instead, text)
    for spelling, instead in SLANG:
        text = spelling.sub(instead, text)
    return " ".join(text.split())


def clauses_of(text: str) -> list[Clause]:
    is_chat = CAPITAL.search(text) is None
    spelled = normalised(text)
    quotes = QUOTED.search(spelled)
    clauses: list[Clause] = []
    for sentence in SENTENCE.finditer(spelled):
        whole = sentence[0].strip()
        said = whole.rstrip(".!?…;:- ")
        parts = _with_joint_subjects(list(_parts(said, is_chat)), said)
        for nth, part in enumerate(parts):
            is_last = nth == len(parts) - 1
            is_asked = is_last and "?" in whole[len(said) :] and TAG.search(said) is None
            opening = OPENING_RUN.match(part)
            cut = part[opening.end() :] if opening else part
            is_question = is_asked or ASKING.match(cut) is not None
            cut = (cut if is_question else CLOSING.sub("", cut)).strip(" ,'-")
            is_broken = (is_last and whole.endswith(("-", "…", ".."))) or (
                quotes is not None and sentence.end() > quotes.start()
            )
            before = opening[0].strip(" ,").lower() if opening else ""
            clauses.append(Clause(cut, len(clauses), is_question, is_broken, before))
    return clauses


OPENING_RUN = re.compile(rf"(?:{OPENING.pattern})+", re.IGNORECASE)
ASKING = pattern("asking")


def _parts(sentence: str, is_chat: bool) -> Iterator[str]:
    for part in JOINED.split(sentence):
        if is_chat:
            yield from (piece for piece in RUN_ON.split(part) if piece.strip())
        elif part.strip():
            yield part


def _with_joint_subjects(parts: list[str], sentence: str) -> list[str]:
    """'Ann and I are here' was split before 'I', which is two people there: 'we'."""
    pairs = pairwise(["", *parts])
    return [
        JOINT_SUBJECT.sub("we", part) if NAME_ALONE.fullmatch(before) and f"{before} and {part}" in sentence else part
        for before, part in pairs
    ]
