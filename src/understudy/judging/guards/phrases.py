"""What guards read in a text: sentences, roots of words, numbers, names, whether it affirms or denies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache

from understudy.agents.word_tokens import roots
from understudy.language.encoding import shipped_model
from understudy.language.encoding.encoder import load_tokenizer
from understudy.novels.lexicon import lexicon_of
from understudy.text import find_name, sentences, words

__all__ = [
    "NUMBERS",
    "affirms",
    "asks",
    "called",
    "denies",
    "has_negation",
    "is_ordinary",
    "is_title",
    "names_in",
    "numbers_in",
    "piece_counts",
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


# Which words are ordinary English, told from the vocabulary of the encoder that ships.
#
# Its 30,522 pieces were learnt from books and an encyclopedia: a word that is at all common is one piece, a rarer one
# is cut into several. No list of frequencies is needed beside it: docs/decisions/0015 has the comparison.


ENDINGS = ("'s", "s", "es", "ed", "d", "ing", "ly", "er", "est", "ness", "less", "ful")
SHORTEST_STEM = 3
PART = re.compile(r"[^\W_]+")


@lru_cache(20_000)
def is_ordinary(word: str) -> bool:
    """Is it one piece, or without an ending of English; of a compound, are its parts?"""
    folded = word.lower().replace("’", "'")
    return any(count == 1 for count in piece_counts(tuple(_forms(folded)))) or _is_of_ordinary_parts(folded)


@lru_cache(20_000)
def piece_counts(words: tuple[str, ...]) -> tuple[int, ...]:
    """Into how many pieces each word is cut."""
    return tuple(len(ids) for ids in _tokenizer()(words)) if words else ()


def is_title(word: str) -> bool:
    """Is it what many people are called: 'Captain', 'queen', 'Aunt'?"""
    return word.lower() in _titles()


def _forms(word: str) -> Iterator[str]:
    yield word
    for ending in ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= SHORTEST_STEM:
            yield stem
            yield f"{stem}e"
            if stem[-1] == stem[-2]:
                yield stem[:-1]
            if stem.endswith("i"):
                yield f"{stem[:-1]}y"


def _is_of_ordinary_parts(word: str) -> bool:
    parts = PART.findall(word)
    return len(parts) > 1 and all(count == 1 for count in piece_counts(tuple(parts)))


@cache
def _titles() -> frozenset[str]:
    lexicon = lexicon_of("", "en")
    return frozenset(title.lower() for title in lexicon.titles) | frozenset(lexicon.role_genders) | lexicon.anybody


@cache
def _tokenizer() -> Callable[[Sequence[str]], list[list[int]]]:
    return load_tokenizer(shipped_model() / "tokenizer.json")
