"""What guards read in a text: sentences, roots of words, numbers, names, whether it affirms or denies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from understudy.text import stop_words, words

__all__ = [
    "NUMBERS",
    "affirms",
    "called",
    "denies",
    "name_pattern",
    "names_in",
    "numbers_in",
    "plain",
    "roots",
    "self_introduced",
    "sentences",
]

SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])|(?<=[。！？!?])(?=[^」』”\s])")
NUMBERS = frozenset(
    """three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million""".split()
)
IRREGULAR = {
    form: verb
    for verb, forms in {
        "write": "wrote written", "take": "took taken", "steal": "stole stolen", "burn": "burnt", "fall": "fell fallen",
        "catch": "caught", "tell": "told", "know": "knew known", "give": "gave given", "go": "went gone",
        "make": "made", "sell": "sold", "buy": "bought", "sleep": "slept asleep", "die": "died dead death dying",
        "hide": "hid hidden", "keep": "kept", "lie": "lied lying", "wear": "wore worn", "break": "broke broken",
        "see": "saw seen", "say": "said", "send": "sent", "find": "found", "lose": "lost", "leave": "left",
        "kill": "killed killer", "forge": "forged forger forgery", "think": "thought", "hear": "heard",
        "come": "came", "run": "ran", "meet": "met", "hold": "held", "pay": "paid", "bring": "brought",
        "marry": "married marriage husband wife", "begin": "began begun", "speak": "spoke spoken", "swear": "swore",
        "feel": "felt", "do": "did done", "be": "was were been", "have": "had", "get": "got", "bear": "born",
    }.items()
    for form in forms.split()
}  # fmt: skip
ENDINGS = ("'s", "ing", "ed", "es", "s")
YES = re.compile(r"(?:yes|yeah|yep|aye|of course|indeed|certainly|i did\b(?! not|n)|i do\b(?! not|n)|i am\b(?! not)|sure\b|it was i\b|it is true)", re.I)  # fmt: skip
NO = re.compile(r"(?:no\b|nay\b|nope\b|never\b|not\b|nobody\b|nothing\b|i did not|i didn't|i do not|i don't|i am not|i cannot|i can't|rubbish)", re.I)  # fmt: skip
CAPITAL = re.compile(r"(?<![\w'’])[A-Z][\w'’]*")
COMMON_CAPITALS = frozenset(
    """i i'm i've i'll i'd monday tuesday wednesday thursday friday saturday sunday january february march april may june
    july august september october november december god lord heaven christmas easter mr mrs miss ms dr sir madam english
    french spanish german italian american british ok okay tv dad mum mom papa mama father mother""".split()
)
INTRODUCED = re.compile(
    r"\b(?:i am|i'm|my name is|my name's|call me|they call me|this is)\s+([A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*)",
)


def sentences(text: str) -> list[str]:
    """A text cut where a sentence ends."""
    return [part.strip() for part in SENTENCE_END.split(text) if part and part.strip()]


def plain(text: str) -> str:
    """A text without case and marks, to be compared."""
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


@lru_cache(50_000)
def roots(text: str, language: str = "en") -> frozenset[str]:
    """The words of meaning of a text, their endings taken off, so that 'wrote' and 'writing' are one."""
    small = stop_words(language)
    found = (word for word in words(text, language) if word not in small)
    return frozenset(map(_root, found) if language == "en" else found)


@lru_cache(50_000)
def _root(word: str) -> str:
    if word in IRREGULAR:
        return IRREGULAR[word]
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            if ending in ("ing", "ed") and len(stem) > 3 and stem[-1] == stem[-2]:
                stem = stem[:-1]
            return IRREGULAR.get(stem, stem.removesuffix("e"))
    return word.removesuffix("e") if len(word) > 4 else word


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


def self_introduced(texts: Iterable[str]) -> set[str]:
    """The names by which somebody has introduced themselves: 'I'm Tom'."""
    return {name for text in texts for match in INTRODUCED.finditer(text) for name in (match[1], *match[1].split())}


@lru_cache(4096)
def name_pattern(names: tuple[str, ...]) -> re.Pattern[str] | None:
    """Finds any of the names where it stands whole; names in scripts without spaces wherever they stand."""
    longest_first = sorted({name for name in names if name.strip()}, key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile("|".join(rf"(?<!\w){re.escape(n)}(?!\w)" if n.isascii() else re.escape(n) for n in longest_first))


def called(text: str, names: tuple[str, ...]) -> bool:
    """Does a text have one of the names?"""
    pattern = name_pattern(names)
    return pattern is not None and pattern.search(text) is not None
