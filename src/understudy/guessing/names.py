"""How the main characters are called inside what is said and described: found, hidden, or swapped.

A name counts where it stands as a word of its own, the longest first: 'Rose Tyler' is not Rose, and Ann is not in
'Anna'. What two of them go by (a family name, a shared nickname) is a name, but says nothing about who is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from understudy.storyfile import Story

__all__ = ["HIDDEN", "Call", "Names", "derangement"]

HIDDEN = "[name]"
UNSPACED = frozenset({"ja", "zh"})
TITLES = frozenset({"a", "and", "captain", "dr", "lady", "lord", "miss", "mr", "mrs", "ms", "of", "old", "sir", "the"})
SHORTEST = 2  # letters of a name


class Call(NamedTuple):
    """A name in a text: where it stands, and whose it is (None: it may be several people's)."""

    start: int
    end: int
    who: str | None


class Names:
    """What each of some characters is called; `forms` has the ways for each, their full name first."""

    def __init__(self, forms: Mapping[str, Sequence[str]], language: str = "en") -> None:
        self.people = tuple(forms)
        self._language = language
        self._forms = {who: _ways(who, ways, language) for who, ways in forms.items()}
        owners: dict[str, list[str]] = {}
        for who, ways in self._forms.items():
            for way in ways:
                owners.setdefault(way, []).append(who)
        self._owner = {way: whose[0] if len(whose) == 1 else None for way, whose in owners.items()}
        # a name that is shouted is the same name
        self._written = {way.upper(): whose for way, whose in self._owner.items()} | self._owner
        self._pattern = _one_of(self._written, language)

    @classmethod
    def of_story(cls, story: Story, people: Sequence[str]) -> Names:
        """The names and aliases that a story's cast has."""
        cast = [story.character(name) for name in people]
        return cls({one.name: (one.name, *one.aliases) for one in cast}, story.language)

    def extended(self, more: Mapping[str, Sequence[str]]) -> Names:
        """The same people with further names."""
        return Names({who: (*ways, *more.get(who, ())) for who, ways in self._forms.items()}, self._language)

    def words(self) -> Iterator[tuple[str, str | None]]:
        """Names of one word, and whose each is (None: several people's)."""
        return ((way, who) for way, who in self._owner.items() if not re.search(r"\s", way))

    def calls(self, text: str) -> list[Call]:
        """Every name in a text, in order."""
        if self._pattern is None:
            return []
        return [Call(found.start(), found.end(), self._written[found[0]]) for found in self._pattern.finditer(text)]

    def hidden(self, text: str) -> str:
        """The text with every name covered."""
        return text if self._pattern is None else self._pattern.sub(HIDDEN, text)

    def swapped(self, text: str, instead: Mapping[str, str]) -> str:
        """The text with everybody called by another's name: full name for full name, first name for first name.

        A name that several share stays: nobody can tell whose place it would take.
        """

        def another(found: re.Match[str]) -> str:
            who = self._written[found[0]]
            return found[0] if who is None else self._like(found[0], who, instead[who])

        return text if self._pattern is None else self._pattern.sub(another, text)

    def _like(self, way: str, who: str, other: str) -> str:
        own, new = who.split(), other.split()
        if way.casefold() == who.casefold():
            return other
        if way.casefold() == own[-1].casefold() and len(own) > 1:
            return new[-1]
        return new[0]


def derangement(people: Sequence[str], seed: int) -> dict[str, str]:
    """Everybody gets another's name, nobody keeps their own: a seeded circle."""
    circle = list(people)
    np.random.default_rng(seed).shuffle(circle)
    return {one: circle[(place + 1) % len(circle)] for place, one in enumerate(circle)}


def _ways(who: str, ways: Iterable[str], language: str) -> tuple[str, ...]:
    """Names, and the parts of names that stand for a person by themselves."""
    whole = dict.fromkeys(way.strip() for way in (who, *ways) if way.strip())
    parts = (part for way in whole for part in re.split(r"[\s.]+", way) if language not in UNSPACED)
    kept = dict.fromkeys((*whole, *(part for part in parts if part.lower() not in TITLES)))
    return tuple(way for way in kept if len(way) >= SHORTEST and any(map(str.isalpha, way)))


def _one_of(ways: Iterable[str], language: str) -> re.Pattern[str] | None:
    longest_first = sorted(map(re.escape, ways), key=len, reverse=True)
    if not longest_first:
        return None
    either = "|".join(longest_first)
    return re.compile(either if language in UNSPACED else rf"(?<![\w])(?:{either})(?!\w)")
