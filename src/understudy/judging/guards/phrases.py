"""What guards read in a text: numbers, names, whether it affirms, which words are ordinary, lines it repeats."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from understudy.agents.pools import KeyedCache
from understudy.language.encoding.encoder import load_tokenizer, shipped_model
from understudy.novels.lexicon import lexicon_of
from understudy.story.chronology import Chronology, PersonaKnowledge
from understudy.story.persona import Persona
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.text import find_name, sentences, words

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


# Finds lines that a draft repeats: an own old one, and any line of the story that the character has not heard.
#
# A run is five words in a row. What must not be said again must not be repeated by a writer either: an old line may be
# a secret towards the one faced, or no longer true. And whoever says a line that is yet to be said knows the future, in
# whatever ordinary words the line is, unless it is one that anybody might hit upon:
#
#     s is quoted   iff   -ln p(r) >= ln N + 8        for a stretch r of such runs in a story of N words, where half of
#                         the words of s stand in runs that only unheard lines have, and
#                         -ln p(r) >= ln N + 11       where fewer do: a phrase of the story, in a sentence of one's own
#
# where p(r) is the product of the probabilities of each word after the one before it, as the story has them (the
# bigram's count less 0.75, and 0.75 of the word's own). The longer a story, the more of what is ordinary stands
# somewhere in it.


RUN = 5
QUOTED = 0.5
SURPRISE = 8.0  # nats: one sentence in three thousand would be the same by chance
SURPRISE_WITHIN = 11.0  # nats, of a phrase within a longer sentence; of 250 good replies none has over 9.3
DISCOUNT = 0.75
OWN_LINES = 5_000  # the latest
FACTOR = np.uint64(0x9E3779B97F4A7C15)  # of the hash of a run: odd, so that no word of it is lost

_RUNS = KeyedCache[dict[tuple[str, ...], Moment]](32)
_OF_STORIES: WeakKeyDictionary[Story, StoryRuns] = WeakKeyDictionary()
_LOCK = Lock()

Hashes = NDArray[np.uint64]


def repeated_line(persona: Persona, text: str, least: float = 0.0) -> Moment | None:
    """When the line was said that a text repeats most of; None where less than a share of the text is repeated."""
    known = _runs_of(persona)
    bag = words(text, persona.language)
    moments, is_repeated = list[Moment](), [False] * len(bag)
    for first, run in enumerate(_runs(bag)):
        if run in known:
            moments.append(known[run])
            is_repeated[first : first + RUN] = [True] * RUN
    if not moments or sum(is_repeated) < least * len(bag):
        return None
    return max(moments, key=moments.count)


class StoryRuns:
    """Which lines of a story have which runs."""

    def __init__(self, story: Story) -> None:
        self._chronology = Chronology.of(story)
        self._words: dict[str, int] = {}
        tokens, owners, line = list[int](), list[int](), 0
        for scene in story.scenes():
            for spoken in scene.lines:
                for word in self._chronology.words(spoken.text):
                    tokens.append(self._words.setdefault(word, len(self._words) + 1))
                    owners.append(line)
                line += 1
        lines = np.array(owners, np.int64)
        self._count_words(np.array(tokens, np.int64), lines)
        hashes = _hashed(np.array(tokens, np.uint64))
        within = lines[: len(hashes)] == lines[RUN - 1 : RUN - 1 + len(hashes)]
        hashes, lines = hashes[within], lines[: len(hashes)][within]
        order = np.lexsort((lines, hashes))
        self._hashes, self._lines = hashes[order], lines[order]

    @classmethod
    def of(cls, story: Story) -> StoryRuns:
        """The runs of a story, made once for as long as it is open."""
        with _LOCK:
            if story not in _OF_STORIES:
                _OF_STORIES[story] = cls(story)
            return _OF_STORIES[story]

    def hashes_of(self, texts: Iterable[str]) -> Hashes:
        """The runs of some texts."""
        return np.concatenate([np.zeros(0, np.uint64), *map(self._hashes_of, texts)])

    def is_quoted(self, text: str, knowledge: PersonaKnowledge, known: Hashes) -> bool:
        """Does a text repeat lines which a persona has not heard? `known` are runs that it knows from elsewhere."""
        own = self._hashes_of(text)
        if not len(own):
            return False
        first = np.searchsorted(self._hashes, own, "left")
        last = np.searchsorted(self._hashes, own, "right")
        is_repeated = np.zeros(len(own) + RUN - 1, np.bool_)
        for index in np.flatnonzero(last > first):
            lines = self._lines[first[index] : last[index]]
            before = lines[lines < knowledge.bound]
            if own[index] and not knowledge.witnessed[before].any() and own[index] not in known:
                is_repeated[index : index + RUN] = True
        nats = SURPRISE if is_repeated.mean() >= QUOTED else SURPRISE_WITHIN
        return bool(is_repeated.any()) and self._is_surprising(text, is_repeated, nats)

    def _count_words(self, tokens: NDArray[np.int64], lines: NDArray[np.int64]) -> None:
        """How often each word stands in the story, and each pair of words side by side in a line."""
        self._counts = np.bincount(tokens, minlength=len(self._words) + 1)
        pairs = tokens[:-1] * len(self._counts) + tokens[1:]
        self._pairs, self._pair_counts = np.unique(pairs[lines[:-1] == lines[1:]], return_counts=True)

    def _is_surprising(self, text: str, is_repeated: NDArray[np.bool_], nats: float) -> bool:
        """Is a stretch of the text so improbable in this story that nobody would hit upon it?"""
        tokens = np.array([self._words.get(word, 0) for word in self._chronology.words(text)], np.int64)
        total, needed = int(self._counts.sum()), math.log(max(int(self._counts.sum()), 1)) + nats
        surprise = 0.0
        for index in np.flatnonzero(is_repeated):
            share = self._counts[tokens[index]] / total
            if index and is_repeated[index - 1]:
                before = self._counts[tokens[index - 1]]
                beside = self._pair_count(int(tokens[index - 1]), int(tokens[index]))
                surprise -= math.log(max(beside - DISCOUNT, 0.0) / before + DISCOUNT * share)
            else:
                surprise = -math.log(share)
            if surprise >= needed:
                return True
        return False

    def _pair_count(self, first: int, second: int) -> int:
        pair = first * len(self._counts) + second
        place = int(np.searchsorted(self._pairs, pair))
        is_there = place < len(self._pairs) and self._pairs[place] == pair
        return int(self._pair_counts[place]) if is_there else 0

    def _hashes_of(self, text: str) -> Hashes:
        """Of each run; 0 where it has a word that the story lacks."""
        known = np.array([self._words.get(word, 0) for word in self._chronology.words(text)], np.uint64)
        hashes = _hashed(known)
        for offset in range(RUN if len(hashes) else 0):
            hashes[known[offset : offset + len(hashes)] == 0] = 0
        return hashes


def _hashed(tokens: Hashes) -> Hashes:
    count = max(len(tokens) - RUN + 1, 0)
    hashes = np.zeros(count, np.uint64)
    for offset in range(RUN):
        hashes = (hashes ^ tokens[offset : offset + count]) * FACTOR  # wraps around, as is meant
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _runs_of(persona: Persona) -> dict[tuple[str, ...], Moment]:
    def index() -> dict[tuple[str, ...], Moment]:
        return {
            run: line.moment
            for line in persona.past.lines(OWN_LINES)
            for run in _runs(words(line.text, persona.language))
        }

    return _RUNS.get_or_create((id(persona.past), persona.language), persona.past, index)


def _runs(bag: list[str]) -> list[tuple[str, ...]]:
    return [tuple(bag[first : first + RUN]) for first in range(len(bag) - RUN + 1)]
