"""How the main characters are called inside what is said and described: found, hidden, or swapped.

A name counts where it stands as a word of its own, the longest first: 'Rose Tyler' is not Rose, and Ann is not in
'Anna'. What two of them go by (a family name, a shared nickname) is a name, but says nothing about who is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from understudy.story.storyfile import Story
from understudy.story.types import Character
from understudy.text import TITLES, UNSPACED_LANGUAGES, either, stop_words

HIDDEN = "[name]"
NOT_NAMES = TITLES | frozenset({"a", "and", "of", "old", "the"})
SHORTEST = 2  # letters of a name
WORD = re.compile(r"\w+")


class NameMatch(NamedTuple):
    """A name in a text: where it stands, and whose it is (None: it may be several people's)."""

    start: int
    end: int
    who: str | None


class CharacterNames:
    """What each of some characters is called; `forms` has all names of each, the full name first."""

    def __init__(self, forms: Mapping[str, Sequence[str]], language: str = "en") -> None:
        self.people = tuple(forms)
        self._language = language
        self._forms = {who: _all_forms(who, given_forms, language) for who, given_forms in forms.items()}
        owners: dict[str, list[str]] = {}
        for who, own_forms in self._forms.items():
            for form in own_forms:
                owners.setdefault(form, []).append(who)
        self._owners = {form.upper(): tuple(whose) for form, whose in owners.items()}
        self._owners |= {form: tuple(whose) for form, whose in owners.items()}
        self._owner = {form: whose[0] if len(whose) == 1 else None for form, whose in owners.items()}
        # a name that is shouted is the same name
        self._written = {form.upper(): whose for form, whose in self._owner.items()} | self._owner
        is_unspaced = language in UNSPACED_LANGUAGES
        self._unspaced = re.compile(either(self._written)) if is_unspaced and self._written else None
        self._by_first_word = {} if is_unspaced else _by_first_word(self._written)

    @classmethod
    def of_story(cls, story: Story, people: Sequence[str] | None = None) -> CharacterNames:
        """The names and aliases of some people of a story, or of its whole cast."""
        cast = [member.character for member in story.cast()] if people is None else map(story.character, people)
        return cls({character.name: character.names for character in cast}, story.language)

    def extended(self, more: Mapping[str, Sequence[str]]) -> CharacterNames:
        """The same people with further names."""
        return CharacterNames({who: (*own, *more.get(who, ())) for who, own in self._forms.items()}, self._language)

    def words(self) -> Iterator[tuple[str, str | None]]:
        """Names of one word, and whose each is (None: several people's)."""
        return ((form, who) for form, who in self._owner.items() if not re.search(r"\s", form))

    def calls(self, text: str) -> list[NameMatch]:
        """Every name in a text, in order."""
        if self._unspaced is None:
            return list(self._looked_up(text))
        matches = self._unspaced.finditer(text)
        return [NameMatch(match.start(), match.end(), self._written[match[0]]) for match in matches]

    def _looked_up(self, text: str) -> Iterator[NameMatch]:
        """Word by word: with a cast of hundreds a pattern of all names is slow."""
        end = 0
        for word in WORD.finditer(text):
            for form, offset in self._by_first_word.get(word[0], ()):
                start = word.start() - offset
                after = start + len(form)
                is_whole = not (WORD.match(text, after) or (start > 0 and WORD.match(text, start - 1, start)))
                if start >= end and text.startswith(form, start) and is_whole:
                    end = after
                    yield NameMatch(start, end, self._written[form])
                    break

    def owners(self, written: str) -> tuple[str, ...]:
        """Everybody who is called by a name, as it is written in a text."""
        return self._owners.get(written, ())

    def hidden(self, text: str) -> str:
        """The text with every name covered."""
        return self._replaced(text, lambda _form, _who: HIDDEN)

    def swapped(self, text: str, instead: Mapping[str, str]) -> str:
        """The text with everybody called by another's name: full name for full name, first name for first name.

        A name that several share stays: nobody can tell whose place it would take.
        """

        return self._replaced(text, lambda form, who: form if who is None else _like(form, who, instead[who]))

    def _replaced(self, text: str, new: Callable[[str, str | None], str]) -> str:
        """The text with another in the place of each name, by what it is and whose."""
        pieces, end = list[str](), 0
        for match in self.calls(text):
            pieces += (text[end : match.start], new(text[match.start : match.end], match.who))
            end = match.end
        return "".join((*pieces, text[end:]))


def derangement(people: Sequence[str], seed: int) -> dict[str, str]:
    """Everybody gets another's name, nobody keeps their own: a seeded circle."""
    circle = list(people)
    np.random.default_rng(seed).shuffle(circle)
    return {who: circle[(index + 1) % len(circle)] for index, who in enumerate(circle)}


def _like(form: str, who: str, new_name: str) -> str:
    own, new = who.split(), new_name.split()
    if form.casefold() == who.casefold():
        return new_name
    if form.casefold() == own[-1].casefold() and len(own) > 1:
        return new[-1]
    return new[0]


def _all_forms(who: str, given_forms: Iterable[str], language: str) -> tuple[str, ...]:
    """Names, and the parts of names that stand for a person by themselves."""
    whole = dict.fromkeys(form.strip() for form in (who, *given_forms) if form.strip())
    parts = (part for form in whole for part in re.split(r"[\s.]+", form) if language not in UNSPACED_LANGUAGES)
    forms = dict.fromkeys((*whole, *(part for part in parts if part.lower() not in NOT_NAMES)))
    return tuple(form for form in forms if len(form) >= SHORTEST and any(map(str.isalpha, form)))


def _by_first_word(forms: Iterable[str]) -> dict[str, list[tuple[str, int]]]:
    """Names by their first words, the longest first, with how many marks stand before that word."""
    index: dict[str, list[tuple[str, int]]] = {}
    for form in sorted(forms, key=len, reverse=True):
        if first := WORD.search(form):
            index.setdefault(first[0], []).append((form, first.start()))
    return index


# Names in a text, put aside so that patterns can be written over what stands between them.
#
#   'This is my wife, Emily.'   ->   'this is my wife, @0.'   people = ('Emily Waltham',)
#
# A capital inside a sentence that is no name of the cast becomes '#': somebody or something that is not in the cast.

TOKEN = re.compile(r"(?<![\w'])[A-Z][\w-]*\.?(?:'(?!(?:s|m|ll|re|d|ve)\b)[A-Za-z]+)?")
STARTS_SENTENCE = re.compile(r"(?:^|[.!?:;\"(\[\-…]|\.\.)\s*\"?$")
PERSON_TITLES = TITLES | frozenset("doctor professor uncle aunt master".split())
PARTS_THAT_NAME_NOBODY = PERSON_TITLES | frozenset(
    "the a an and of old young little big fake past fat first second".split()
)
GENERIC = frozenset(
    """man men woman women boy girl guy lady gentleman kid child baby person people nurse doctor dr teacher waiter
    waitress director interviewer policeman cop officer guard clerk manager receptionist assistant announcer driver
    salesman bartender customer student principal headmaster professor judge lawyer maid reverend rabbi priest minister
    voice all both everyone crowd mother father mom dad grandma grandpa grandmother grandfather son daughter brother
    sister wife husband santa stripper agent host operator caller server attendant messenger servant lord soldier
    captain king queen prince duke first second third hdm mayor proprietor owner contractor""".split()
)
ALSO_WORDS = frozenset("will may can mark grant hope page tag chase rich art bill sue rob".split())
"""Names that begin sentences as other words do."""
KIN_CAPITALS = frozenset("mom mommy mother mum ma mama dad daddy father papa pop grandma grandpa god i".split())
LONGEST = 3  # words of a name


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in small letters with '@n' in the place of the n-th of `people`."""

    text: str
    people: tuple[str, ...]


def is_generic(name: str) -> bool:
    """Does a cast name say what somebody is, not who: 'Waiter', 'Girl 2', 'The Doctor'?"""
    words = re.findall(r"[^\W\d_]+", name.lower())
    return all(word in GENERIC or word in PARTS_THAT_NAME_NOBODY or len(word) < 2 for word in words)


class NameIndex:
    """Whose a name is: names and aliases, then words of them that only one person has."""

    def __init__(self, cast: Iterable[Character], language: str = "en") -> None:
        whole: dict[str, set[str]] = {}
        parts: dict[str, set[str]] = {}
        for character in cast:
            for name in character.names:
                if is_generic(name) or "'s " in name.replace("’", "'"):
                    continue
                words = _key(name).split()
                whole.setdefault(" ".join(words), set()).add(character.name)
                for word in words if len(words) > 1 and words[0] not in PERSON_TITLES else ():
                    if word not in PARTS_THAT_NAME_NOBODY | GENERIC | stop_words("en"):
                        parts.setdefault(word, set()).add(character.name)
        owners = parts | whole  # a name that stands on its own wins over a part of one
        self._owner = {name: next(iter(who)) for name, who in owners.items() if len(who) == 1 and len(name) > 1}
        is_unspaced = language in UNSPACED_LANGUAGES and self._owner
        self._unspaced = re.compile(either(self._owner)) if is_unspaced else None

    def owner(self, name: str) -> str | None:
        return self._owner.get(_key(name))

    def mark(self, text: str) -> MarkedText:
        """The text with names put aside. The longest name at a place wins."""
        if self._unspaced is not None:
            return self._mark_unspaced(self._unspaced, text)
        text = text.replace("’", "'").replace("“", '"').replace("”", '"')
        people: list[str] = []
        pieces: list[str] = []
        done = 0
        tokens = list(TOKEN.finditer(text))
        index = 0
        while index < len(tokens):
            token = tokens[index]
            used, who = self._longest(text, tokens, index)
            starts = STARTS_SENTENCE.search(text, 0, token.start()) is not None
            if who is not None and starts and used == 1 and token[0].lower() in ALSO_WORDS:
                who = None
            if who is not None:
                last = tokens[index + used - 1]
                end = last.end() - (last[0].endswith(".") and text[last.end() - 1] == ".")
                pieces += (text[done : token.start()], f"@{len(people)}")
                people.append(who)
                done = end
            elif not starts and token[0].lower().rstrip(".") not in KIN_CAPITALS and not token[0].isupper():
                pieces += (text[done : token.start()], "#")
                done = token.end() - token[0].endswith(".")
            index += used
        pieces.append(text[done:])
        return MarkedText("".join(pieces).lower(), tuple(people))

    def _mark_unspaced(self, names: re.Pattern[str], text: str) -> MarkedText:
        """Nothing tells where a word ends: the name itself has to."""
        people: list[str] = []

        def put_aside(match: re.Match[str]) -> str:
            people.append(self._owner[match[0]])
            return f"@{len(people) - 1}"

        return MarkedText(names.sub(put_aside, text), tuple(people))

    def _longest(self, text: str, tokens: list[re.Match[str]], index: int) -> tuple[int, str | None]:
        for count in range(min(LONGEST, len(tokens) - index), 0, -1):
            run = tokens[index : index + count]
            if any(text[a.end() : b.start()] != " " for a, b in pairwise(run)):
                continue
            if (who := self._owner.get(_key(" ".join(token[0] for token in run)))) is not None:
                return count, who
        return 1, None


def _key(name: str) -> str:
    return re.sub(r"[^\w\s'-]", "", name.replace("’", "'")).lower()
