"""The cast list of a play: what it says of whom, and which ties that names in English.

    Hermann, Fürst der Cherusker             what stands there of Hermann
    Gertrude, widow of King Hamlet           nothing: the late and the widowed are not told apart from the living
    Polonius, father of Ophelia and Laertes  two ties
    Malcolm, his elder son                   a tie to the last before him who is not described by somebody else

A tie is told only where a word means one person of the play alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from understudy.sources.names import fold
from understudy.story.tie_terms import terms

__all__ = ["OF_SEX", "CastItem", "ListedTie", "PersonNames", "listed_ties"]

KINDS = frozenset(
    ("spouse", "parent", "child", "sibling", "grandparent", "grandchild", "in-law", "family", "lover", "friend")
)
MARRIED = "married"
NOT_LIVING = re.compile(r"\b(?:late|dead|deceased)\b", re.IGNORECASE)
POSSESSIVE = re.compile(r"(?:his|her|their)\b", re.IGNORECASE)
OF_SEX = {"his": "male", "her": "female"}
AND = re.compile(r",? and ")


@dataclass(frozen=True, slots=True)
class CastItem:
    """An entry of a cast list; `groups` are what is said of all in the groups that it is in."""

    line: int
    name: str
    description: str
    identifiers: tuple[str, ...] = ()
    """Whom it is for, where it says so."""
    refers_to: tuple[str, ...] = ()
    """Whom its description names by identifier."""
    groups: tuple[Sequence[str], ...] = ()

    @property
    def text(self) -> str:
        """As it stands in the list: 'Nora, his wife'."""
        groups = dict.fromkeys(text for group in self.groups for text in group)
        entry = f"{self.name}, {self.description}" if self.description else self.name
        return "; ".join((entry, *groups))

    @property
    def descriptions(self) -> tuple[str, ...]:
        return (*filter(None, (self.description,)), *(text for group in self.groups for text in group))


class ListedTie(NamedTuple):
    """`who` is the `term` (a kind, in the list's own word) of `whose`; both are identifiers."""

    line: int
    who: str
    whose: str
    kind: str
    term: str


class PersonNames:
    """Whom a name, or a part of one that only one person has, means."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        self._whole: defaultdict[str, set[str]] = defaultdict(set)
        self._words: defaultdict[str, set[str]] = defaultdict(set)
        self._names = {who: [fold(name).split() for name in own] for who, own in names.items()}
        for who, own in self._names.items():
            for words in own:
                self._whole[" ".join(words)].add(who)
                for word in words:
                    self._words[word].add(who)

    def named(self, text: str) -> str | None:
        """By the whole name, else by the words of it that one person alone has, where all of these mean the same."""
        if whole := self._whole.get(fold(text)):
            return _only(whole)
        return _only({who for word in fold(text).split() if (who := _only(self._words.get(word, ())))})

    def listed(self, name: str) -> str | None:
        """Whom an entry is for: somebody who is called like that, or by a part of it, as nobody else is."""
        if whole := self._whole.get(fold(name)):
            return _only(whole)
        said = set(fold(name).split())
        return _only(
            {who for who, own in self._names.items() if any(words and said.issuperset(words) for words in own)}
        )


def listed_ties(
    items: Sequence[CastItem], people: Sequence[str | None], names: PersonNames, sexes: Mapping[str, str]
) -> Iterator[ListedTie]:
    """The ties that the descriptions name; `people` are those whom the entries are for."""
    for number, (item, who) in enumerate(zip(items, people)):
        if who is None:
            continue
        for text in item.descriptions:
            for whose, term in _stated(text, names, _antecedent(number, text, items, people, sexes)):
                if whose != who:
                    kind = "spouse" if term == MARRIED else terms()[term].kind
                    is_of_one = term != MARRIED and not terms()[term].is_plural
                    yield ListedTie(item.line, who, whose, kind, term if is_of_one else "")


def _stated(text: str, names: PersonNames, antecedent: str | None) -> Iterator[tuple[str, str]]:
    """(whose, term) of every tie in a description."""
    of_name, names_of, pronoun = _patterns()
    for match in of_name.finditer(text):
        for part in AND.split(match["names"]):
            if not NOT_LIVING.search(part) and (whose := names.named(part)) is not None:
                yield whose, match["term"].lower()
    for match in names_of.finditer(text):
        if (whose := names.named(match["name"])) is not None:
            yield whose, match["term"].lower()
    if antecedent is not None and (owned := pronoun.match(text)) is not None:
        yield antecedent, owned["term"].lower()


def _antecedent(
    number: int, text: str, items: Sequence[CastItem], people: Sequence[str | None], sexes: Mapping[str, str]
) -> str | None:
    """Whom 'his' and 'her' mean at the start of a description."""
    sex = OF_SEX.get(text.partition(" ")[0].lower())
    if sex is None:
        return None
    for item, who in zip(items[:number][::-1], people[:number][::-1]):
        own = sexes.get(who or "")
        if not any(map(POSSESSIVE.match, item.descriptions)) and own in (None, sex):
            return who
    return None


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    words = sorted((word for word, term in terms().items() if term.kind in KINDS), key=len, reverse=True)
    term = rf"(?P<term>{'|'.join(map(re.escape, [*words, MARRIED]))})"
    return (
        re.compile(rf"\b{term} (?:to|of) (?P<names>[^,;.:()\[\]]+)", re.IGNORECASE),
        re.compile(rf"(?P<name>[A-Z][\w-]*(?: [A-Z][\w-]*)*)['’]s? (?:[\w-]+,? ){{0,2}}?{term}\b"),
        re.compile(rf"(?:his|her) (?:[\w-]+,? ){{0,2}}?{term}\b", re.IGNORECASE),
    )


def _only(people: Iterable[str]) -> str | None:
    found = set(people)
    return found.pop() if len(found) == 1 else None
