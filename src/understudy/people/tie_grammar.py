"""The regular expressions by which a line tells of a tie; the words around those for ties are in `tie_patterns.toml`.

Expressions are written over marked text (`marked_names`): small letters, '@3' for the fourth person named.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from understudy.tie_terms import plural_terms, terms

__all__ = ["Grammar", "grammar", "tables", "weights"]

BEFORE_VOCATIVE = (
    r"(?:^|[,.!?;:…()-] ?|\b(?:hey|hi|hello|oh|ok|okay|thanks|yes|yeah|no|bye|well|please|sorry|dear|you|night|morning"
    r"|but|and|look|so|my|good|sweet|gentle|farewell) )"
)
AFTER_VOCATIVE = r"(?=\s?[,.!?;:…()-]|$)"
HELPING = (
    r"(?:'m|'re|'s|'ve|'d|'ll| am| are| is| was| were| have| had| has| will| would| did| do| been| be| just| still"
    r"| really| so| totally| already| actually| finally| going to| gonna| got| getting| started| both| to| want to"
    r"| wanna| never| not| used| deeply| madly)*"
)


@cache
def tables() -> dict[str, Any]:
    return tomllib.loads(files("understudy").joinpath("people", "tie_patterns.toml").read_text(encoding="utf-8"))


@cache
def weights() -> dict[str, float]:
    """How sure one use of a pattern is, by its name."""
    return dict(tables()["weights"])


def _either(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


def _by_word(table: str) -> dict[str, str]:
    return {word: kind for kind, words in tables()[table].items() for word in words}


class Grammar:
    """The expressions, compiled once."""

    def __init__(self) -> None:
        self.verbs = _by_word("verbs")
        self.together = plural_terms() | _by_word("together")
        self.vocatives = _by_word("vocative") | _by_word("called")
        endearments, of_two = _either(tables()["endearments"]), tables()["nouns of two"]
        adjectives = _either(tables()["adjectives"])
        nouns = {*of_two["ours"], *of_two["with"], *tables()["endearments"]}
        words = {*terms(), *self.verbs, *self.together, *self.vocatives, *nouns, "love you", "take", "broke", "split"}
        self.any = re.compile(rf"\b(?:{_either(words)})")  # of small letters: without regard to case it is slower
        self.noun_phrase = re.compile(
            r"(?<![\w@])(?P<owner>my|our|your|his|her|@\d+'s?|thy|mine) "
            rf"(?P<adjectives>(?:(?:{adjectives}),? )*)(?P<ex>ex[- ])?(?P<term>{_either(terms())})(?![\w-])"
        )
        self.vocative = re.compile(rf"{BEFORE_VOCATIVE}(?P<term>{_either(self.vocatives)}){AFTER_VOCATIVE}")
        self.endearment = re.compile(rf"{BEFORE_VOCATIVE}(?:{endearments}){AFTER_VOCATIVE}")
        self.verb = re.compile(
            rf"(?<![\w@])(?P<a>i|you|@\d+)(?P<aux>{HELPING}) (?P<what>{_either(self.verbs)}) (?P<b>@\d+|you|me)\b(?!')"
        )
        pair = r"(?<![\w@])(?:(?P<we>we)|(?P<you>you (?:two|guys))|(?P<a>@\d+|i|you|me) and (?P<b>@\d+|i|you|me))"
        self.pair = re.compile(
            rf"{pair}(?P<aux>{HELPING}) (?:(?:like|very|such|old|good|the|a|all|getting|completely|officially) )*"
            rf"(?P<what>{_either(self.together)})(?![\w-])"
        )
        self.pair_did = re.compile(
            rf"{pair}(?P<aux>(?:'ve| have| just| had)*) "
            r"(?P<what>broke up|split up|got divorced|broken up|got married|got engaged)"
        )
        self.ours = re.compile(
            rf"\bour (?:(?:first|own|whole|little|last|second|big) )*(?P<what>{_either(of_two['ours'])})\b"
        )
        self.with_name = re.compile(
            rf"(?<![\w@])(?P<owner>my|your|his|her|@\d+'s?|an?|the) (?:\w+ )?(?P<what>{_either(of_two['with'])})"
            r" (?:with|to|from) (?P<to>@\d+)"
        )
        self.titled = re.compile(r"\b(?P<term>uncle|aunt|auntie|cousin|grandma|grandpa|brother|sister) (?P<to>@\d+)")
        self.love = re.compile(r"\bi(?: really| do| still| just)? love you\b(?! (?:guys|two|all|for|too much))")
        self.propose = re.compile(r"\b(?:will|would) you marry me\b")
        self.vow = re.compile(r"\bi,?(?: (?P<of>@\d+),?)? take (?:thee|you|this (?:wo)?man),? (?P<to>@\d+)")
        self.asked_vow = re.compile(r"\bdo you,? (?P<of>@\d+)[^?.]{0,40}\btake (?:\w+ )*?(?P<to>@\d+)")
        self.kiss = re.compile(
            r"(@\d+)[^.@]{0,40}\bkiss(?:es|ing|ed)?\b[^.@]{0,15}(@\d+)|(@\d+) and (@\d+)[^.@]{0,25}\bkiss(?:ing)?\b"
        )
        self.kisses = re.compile(r"^[^@.]{0,25}\bkiss(?:es|ing)? (?P<to>@\d+)")
        self.they_kiss = re.compile(r"\bthey (?:(?:start|share|begin|both|passionately) )*(?:to )?kiss")


@cache
def grammar() -> Grammar:
    return Grammar()
