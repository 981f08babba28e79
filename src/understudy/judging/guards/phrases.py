"""What guards read in a text: sentences, roots of words, numbers, names, whether it affirms or denies."""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.agents.word_tokens import roots
from understudy.text import find_name, sentences, words

__all__ = [
    "NUMBERS",
    "affirms",
    "asks",
    "called",
    "denies",
    "has_negation",
    "names_in",
    "numbers_in",
    "plain",
    "repeats_runs",
    "roots",
    "sentences",
]

NUMBERS = frozenset(
    """three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million""".split()
)
YES = re.compile(
    r"(?:yes|yeah|yep|aye|of course|indeed|certainly|i did\b(?! not|n)|i do\b(?! not|n)|"
    r"i am\b(?! not)|sure\b|it was i\b|it is true)",
    re.I,
)
NO = re.compile(
    r"(?:no\b|nay\b|nope\b|never\b(?! mind)|not\b(?! (?:yet|only|always|quite|entirely))|"
    r"nobody\b|nothing\b|i did not|i didn't|i do not|"
    r"i don't|i am not|i cannot|i can't|rubbish)",
    re.I,
)
NEGATION = re.compile(r"\b(?:not|never|no|nobody|nothing|none|nor|neither|cannot)\b|n['’]t\b", re.IGNORECASE)
FEWEST_RUNS, REPEATED_SHARE = 4, 0.15
CAPITAL = re.compile(r"(?<![\w'’])[A-Z][\w'’]*")
COMMON_CAPITALS = frozenset(
    """i i'm i've i'll i'd monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december god lord heaven christmas easter mr mrs miss ms dr sir madam
    english
    french spanish german italian american british ok okay tv dad mum mom papa mama father mother""".split()
)


def plain(text: str) -> str:
    """A text without case and marks, to be compared."""
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def repeats_runs(bag: Sequence[str], size: int) -> bool:
    """The same runs of words again and again."""
    runs = [tuple(bag[first : first + size]) for first in range(len(bag) - size + 1)]
    return len(runs) > FEWEST_RUNS and len(runs) - len(set(runs)) > max(1, REPEATED_SHARE * len(runs))


def numbers_in(text: str) -> set[str]:
    """Numbers from three on, in words or figures; 'one' and 'two' are said without counting."""
    parts = {part for word in words(text) for part in re.split(r"[-–]", word)}
    return {part for part in parts if part in NUMBERS or (part.isdigit() and int(part) > 2)}


def names_in(text: str) -> list[str]:
    """Words with a capital that do not open a sentence."""
    names = []
    for sentence in sentences(text):
        first = re.search(r"\w", sentence)
        for match in CAPITAL.finditer(sentence):
            if first is None or match.start() > first.start():
                names.append(match[0])
    return [name for name in names if name.casefold().replace("’", "'").removesuffix("'s") not in COMMON_CAPITALS]


def affirms(text: str) -> bool:
    return YES.match(text.strip()) is not None


def denies(text: str) -> bool:
    return NO.match(text.strip()) is not None


def asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


def has_negation(text: str) -> bool:
    """Has a text a word of negation anywhere?"""
    return NEGATION.search(text) is not None


def called(text: str, names: tuple[str, ...]) -> bool:
    """Does a text have one of the names?"""
    return find_name(text, names) is not None
