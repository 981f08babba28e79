"""What a line can be about that not everybody knows: people, names and things of the story's own.

    person      one of the cast, by a name that nobody else has and that is no ordinary word, as 'Guard' is
    true name   of one of the cast, where they go by another
    name        a word written with a capital, or several side by side, that is nobody's of the cast
    thing       two words side by side of a fact that not everybody knows ('tin box')

A word is a name where the story writes it with a capital within a sentence, at least four times as often as without;
several ordinary words are one where they stand side by side with capitals within a sentence ('the Good Wife').
One that a general vocabulary of English has (the encoder's) may be known from anywhere: 'Paris' alone is no name here,
and several such words side by side are a *loose* one, as is the common name of somebody who says little. In
Japanese and Chinese, people and true names are found.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

from understudy.story.names import GOES_BY
from understudy.story.storyfile import Story
from understudy.story.storyfile.name_finder import TITLES, NameFinder
from understudy.story.types import SECRET, Character, Fact, Moment
from understudy.text import stop_words

__all__ = ["Term", "TermFinder"]

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
RUN = re.compile(
    r"(?<![\w'’])[A-Z][^\W\d_A-Z]+(?:[-'’][^\W\d_]+)*"
    r"(?:(?: (?:of|the|de|von|van))? [A-Z][^\W\d_A-Z]+(?:[-'’][^\W\d_]+)*)*"
)
THING = re.compile(r"\b(?:the|a|an|his|her|my) ([a-z-]+ [a-z]+)\b")
CAPITALISED = re.compile(r"\b[A-Z]\w*(?:['’]s)?")
OPENS = frozenset('.!?…:"“”‘*)]([-–—,;')  # after these a capital says nothing
TIMES_CAPITAL = 4
ADDRESSES = frozenset(
    "mom mum mommy mummy mama mother dad daddy papa father grandma grandpa granny king queen prince god ladyship"
    " lordship worship majesty".split()
)
NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand".split()
)
SHORTEST_NAME, SHORTEST_WORD = 4, 3  # in letters
FEW_LINES = 40  # somebody with a common name who says fewer may be another of that name
OWNED = ("belongings", SECRET)
"""Attributes whose values tell of things."""


class Term(NamedTuple):
    kind: str
    text: str
    """A cast member's name in full, or the name or thing as it is first written."""
    is_loose: bool = False


class TermFinder:
    def __init__(self, story: Story) -> None:
        self._is_english = story.language == "en"
        self._lower, self._capital = Counter[str](), Counter[str]()
        self._runs = set[str]()  # of words with capitals within a sentence
        if self._is_english:
            self._count_capitals(line.text for line in story.lines_with(lambda _: True, Moment.end()))
        facts = story.facts()
        self._cast_words = {
            word for member in story.cast() for name in _all_names(member.character) for word in WORD.findall(name)
        }
        self._left_out = stop_words(story.language) | NUMBERS | {word.lower() for word in self._cast_words}
        self._things = self._phrases_of(facts) if self._is_english else {}
        self._thing_words = {word for phrase in self._things for word in phrase}
        self._people: list[Term] = []
        self._finder = NameFinder(list(self._names(story, facts)))

    def find(self, text: str) -> list[Term]:
        """The terms of a text, each once."""
        found = [self._people[number] for number in self._finder.find(text)]
        if self._is_english:
            found += self._names_in(text)
            found += self._things_in(text)
        return list(dict.fromkeys(found))

    def people_in(self, text: str) -> list[str]:
        """Those of the cast whom a text names, each once."""
        return list(dict.fromkeys(self._people[number].text for number in self._finder.find(text)))

    def is_proper_name(self, name: str) -> bool:
        """Is it a name, not what somebody is ('Guard', 'Mom')?"""
        words = _without_titles(name)
        return bool(words) and (not self._is_english or all(map(self._can_be_name, words)))

    def facts_about(self, term: Term) -> tuple[Fact, ...]:
        """The facts that tell of a thing."""
        return self._things.get(tuple(term.text.split()), ()) if term.kind == "thing" else ()

    def _count_capitals(self, texts: Iterable[str]) -> None:
        for text in texts:
            for match in WORD.finditer(text):
                word = match[0]
                if word.islower():
                    self._lower[word] += 1
                elif _is_within(text, match.start()):
                    self._capital[_bare(word)] += 1
            self._runs.update(
                _without_possessive(match[0])
                for match in RUN.finditer(text)
                if " " in match[0] and _is_within(text, match.start())
            )

    def _is_name(self, word: str) -> bool:
        plain = _bare(word)
        return self._capital[plain] > 0 and self._can_be_name(word)

    def _names(self, story: Story, facts: Iterable[Fact]) -> Iterator[tuple[int, str]]:
        """Names of the cast, with the number of the term that each stands for."""
        false: dict[str, list[str]] = {}
        for fact in facts:
            if fact.attribute == GOES_BY:
                false.setdefault(fact.who, []).extend(fact.values)
        for member in story.cast():
            character = member.character
            taken = {word for name in false.get(character.name, ()) for word in WORD.findall(name)}
            public, hidden = len(self._people), len(self._people) + 1
            is_loose = member.lines < FEW_LINES and self._is_english and self._is_common(character.name)
            self._people += [Term("person", character.name, is_loose), Term("true name", character.name)]
            for name in _all_names(character):
                if self.is_proper_name(name):
                    is_hidden = bool(taken) and not taken.issuperset(_without_titles(name))
                    yield hidden if is_hidden else public, name

    def _can_be_name(self, word: str) -> bool:
        plain = _bare(word)
        return plain not in ADDRESSES and self._capital[plain] >= TIMES_CAPITAL * self._lower[plain]

    def _names_in(self, text: str) -> Iterator[Term]:
        for match in RUN.finditer(text):
            words = _without_possessive(match[0]).split()
            while words and not (self._is_name(words[0]) or " ".join(words) in self._runs):
                del words[0]
            while words and not (self._is_name(words[-1]) or " ".join(words) in self._runs):
                del words[-1]
            name = " ".join(words)
            if not words or words[-1].lower() in NUMBERS or not self._cast_words.isdisjoint(_plain_forms(name)):
                continue
            is_common = self._is_common(name)
            if len(words) > 1 or (not is_common and len(name) >= SHORTEST_NAME):
                yield Term("name", name, is_common)

    def _is_common(self, name: str) -> bool:
        return all(not _vocabulary().isdisjoint(_plain_forms(word.lower())) for word in name.split())

    def _phrases_of(self, facts: Iterable[Fact]) -> dict[tuple[str, ...], tuple[Fact, ...]]:
        """What somebody has is named as it is; in the sentence of a secret, things have an article before them."""
        phrases: dict[tuple[str, ...], tuple[Fact, ...]] = {}
        for fact in facts:
            if fact.attribute in OWNED and (fact.known_to is not None or fact.found is not None):
                is_sentence = fact.attribute == SECRET
                texts = (
                    [match[1] for value in fact.values for match in THING.finditer(value)]
                    if is_sentence
                    else fact.values
                )
                for phrase in {phrase for text in texts for phrase in self._phrases(CAPITALISED.sub("-", text))}:
                    phrases[phrase] = (*phrases.get(phrase, ()), fact)
        return phrases

    def _phrases(self, text: str) -> Iterator[tuple[str, str]]:
        """Pairs of words with nothing but a space between them, small words and people's names left out."""
        for first, second in pairwise(WORD.finditer(text)):
            pair = first[0].lower(), _bare(second[0])
            if text[first.end() : second.start()] == " " and all(
                len(word) >= SHORTEST_WORD and word not in self._left_out for word in pair
            ):
                yield pair

    def _things_in(self, text: str) -> Iterator[Term]:
        if not self._things or self._thing_words.isdisjoint(WORD.findall(text.lower())):
            return
        yield from (Term("thing", " ".join(pair)) for pair in self._phrases(text) if pair in self._things)


def _all_names(character: Character) -> tuple[str, ...]:
    return character.name, *character.aliases


def _is_within(text: str, position: int) -> bool:
    """Does a word stand within a sentence, where a capital says something?"""
    return position > 1 and text[position - 1] not in OPENS and text[position - 2] not in OPENS


def _without_possessive(name: str) -> str:
    return re.sub(r"['’]s$", "", name)


def _plain_forms(name: str) -> list[str]:
    """Its words, also without a plural's ending."""
    words = WORD.findall(name)
    return [*words, *(re.sub(r"s$", "", word) for word in words), *(re.sub(r"ies$", "y", word) for word in words)]


def _without_titles(name: str) -> list[str]:
    return [word for word in WORD.findall(name) if word.lower() not in TITLES]


def _bare(word: str) -> str:
    return re.sub(r"['’]s$", "", word.lower())


@cache
def _vocabulary() -> frozenset[str]:
    """Words that English has anyway."""
    tokenizer = files("understudy").joinpath("models", "encoder", "tokenizer.json").read_text(encoding="utf-8")
    return frozenset(word for word in json.loads(tokenizer)["model"]["vocab"] if word.isalpha())
