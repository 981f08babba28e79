"""What the file of a play says of its people, as facts and ties that hold from the play's start.

    <person xml:id="nora" sex="FEMALE">                             gender: female
    <castItem>Nora, his wife.</castItem>                            cast list: 'Nora, his wife'
    <relation name="parent_of" active="#ann" passive="#nora"/>      a tie each way, with the word for a man or a woman

An entry of the cast list is for whom it names by identifier, else for the only one who is called as it begins. What it
says in English of kin, lovers and friends are ties too, where no <relation> tells of the two. Children of one parent
are siblings.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import permutations, product
from typing import NamedTuple

from understudy.sources import FactEntry, RelationEntry
from understudy.sources.names import fold
from understudy.story.types import Fact, Moment, Relation, Source
from understudy.story.wording import gender_of, plain_term, terms

CAST_LIST = "cast list"
"""The attribute that holds a person's description in the cast list."""
SEXES = {"male": "male", "m": "male", "1": "male", "female": "female", "f": "female", "2": "female"}
LOVES = "lover_of"
BELOVED = "beloved"  # loved, perhaps without loving back
KINDS = {
    # what the passive is to the active, and the other way round
    "parent_of": ("child", "parent"),
    "parent": ("child", "parent"),
    "child_of": ("parent", "child"),
    "spouses": ("spouse", "spouse"),
    "spouse": ("spouse", "spouse"),
    "siblings": ("sibling", "sibling"),
    "sibling": ("sibling", "sibling"),
    "friends": ("friend", "friend"),
    "friend": ("friend", "friend"),
    "related_with": ("family", "family"),
    "associated_with": ("associate", "associate"),
}
INVERSE = {"parent": "child", "child": "parent", "grandparent": "grandchild", "grandchild": "grandparent"}


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A <relation>, with the line it stands on."""

    line: int
    name: str
    active: tuple[str, ...] = ()
    passive: tuple[str, ...] = ()
    mutual: tuple[str, ...] = ()


@dataclass(slots=True)
class StatedPeople:
    """What the file says, by identifier. `names` has those who are characters; the first is what they are called."""

    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sexes: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """Where a <person> stands."""
    entries: list[CastItem] = field(default_factory=list)
    relations: list[StatedRelation] = field(default_factory=list)


class _StatedTie(NamedTuple):
    line: int
    of: str
    to: str
    kind: str
    term: str = ""


def facts_and_ties(
    stated: StatedPeople, file: str, since: Moment, is_english: bool
) -> Iterator[FactEntry | RelationEntry]:
    """All that holds from `since` on; of a play in another language than English, sentences about it are English."""
    lookup = PersonNames(stated.names)
    sexes = dict(stated.sexes)
    entries = [_with_referent(entry, stated.names, sexes) for entry in stated.entries]
    people = [_person(entry, stated.names, lookup) for entry in entries]
    ties = {(tie.of, tie.to, tie.kind): tie for tie in _related(stated)}
    for tie in _listed(listed_ties(entries, people, lookup, sexes), {tie[:2] for tie in ties}):
        ties.setdefault((tie.of, tie.to, tie.kind), tie)
        if (sex := gender_of(tie.term)) is not None:
            sexes.setdefault(tie.to, sex)
    for tie in [*_siblings(ties.values())]:
        ties.setdefault((tie.of, tie.to, tie.kind), tie)
    for who, sex in sexes.items():
        if who in stated.names:
            at = Source(file, stated.lines.get(who, 1))
            yield FactEntry(at, Fact(stated.names[who][0], "gender", (sex,), since))
    for who, own in _entries_by_person(entries, people, stated.names).items():
        texts = tuple(dict.fromkeys(entry.text for entry in own))
        yield FactEntry(Source(file, own[0].line), Fact(stated.names[who][0], CAST_LIST, texts, since))
    for tie in ties.values():
        at = Source(file, tie.line)
        term = tie.term or (plain_term(tie.kind, sexes.get(tie.to)) if is_english else "")
        of, to = stated.names[tie.of][0], stated.names[tie.to][0]
        yield RelationEntry(at, Relation(of, to, tie.kind, None, since, source=at, term=term))


def _related(stated: StatedPeople) -> Iterator[_StatedTie]:
    loves = {pair for relation in stated.relations if relation.name == LOVES for pair in _pairs(relation, stated)}
    for relation in stated.relations:
        for of, to in _pairs(relation, stated):
            if relation.name == LOVES:
                yield _StatedTie(relation.line, of, to, "lover", "" if (to, of) in loves else BELOVED)
            elif relation.name in KINDS:
                there, back = KINDS[relation.name]
                yield _StatedTie(relation.line, of, to, there)
                yield _StatedTie(relation.line, to, of, back)


def _pairs(relation: StatedRelation, stated: StatedPeople) -> Iterator[tuple[str, str]]:
    pairs = [*permutations(relation.mutual, 2), *product(relation.active, relation.passive)]
    return ((of, to) for of, to in pairs if of in stated.names and to in stated.names and of != to)


def _siblings(ties: Collection[_StatedTie]) -> Iterator[_StatedTie]:
    """The children of one parent, where nothing else is stated of two of them."""
    stated = {(tie.of, tie.to) for tie in ties}
    children = defaultdict[str, dict[str, int]](dict)
    for tie in ties:
        if tie.kind == "child":
            children[tie.of][tie.to] = tie.line
    for of_parent in children.values():
        for of, to in permutations(of_parent, 2):
            if (of, to) not in stated:
                yield _StatedTie(of_parent[to], of, to, "sibling")


def _with_referent(entry: CastItem, names: Mapping[str, Sequence[str]], sexes: dict[str, str]) -> CastItem:
    """'her brother', where it is marked who she is: 'Ophelia's brother'. Her sex follows from it too."""
    pronoun, _, rest = entry.description.partition(" ")
    sex = OF_SEX.get(pronoun.lower())
    if sex is None or not entry.refers_to or (referent := entry.refers_to[0]) not in names:
        return entry
    sexes.setdefault(referent, sex)
    return replace(entry, description=f"{names[referent][0]}'s {rest}")


def _listed(ties: Iterable[ListedTie], stated: Collection[tuple[str, str]]) -> Iterator[_StatedTie]:
    for line, who, whose, kind, term in ties:
        if (who, whose) not in stated:
            yield _StatedTie(line, whose, who, kind, term)
            yield _StatedTie(line, who, whose, INVERSE.get(kind, kind))


def _person(entry: CastItem, people: Mapping[str, object], lookup: PersonNames) -> str | None:
    if entry.identifiers:
        return next((who for who in entry.identifiers if who in people), None)
    return lookup.listed(entry.name)


def _entries_by_person(
    entries: Sequence[CastItem], people: Sequence[str | None], names: Mapping[str, Sequence[str]]
) -> dict[str, list[CastItem]]:
    """Entries with a description besides the name."""
    by_person = defaultdict[str, list[CastItem]](list)
    for who, entry in zip(people, entries):
        if who is not None and fold(entry.text) not in map(fold, names[who]):
            by_person[who].append(entry)
    return by_person


# The cast list of a play: descriptions of people, and the ties that they name in English.
#
#     Hermann, Fürst der Cherusker             what stands there of Hermann
#     Gertrude, widow of King Hamlet           nothing: ties to the dead are not marked as such
#     Polonius, father of Ophelia and Laertes  two ties
#     Malcolm, his elder son                   a tie to the last before him who is not described by somebody else
#
# A tie is taken only where its words mean exactly one person of the play.


LISTED_KINDS = frozenset(
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
        """The person an entry is about: the only one with that name, or with a part of it."""
        if whole := self._whole.get(fold(name)):
            return _only(whole)
        said = set(fold(name).split())
        return _only(
            {who for who, own in self._names.items() if any(words and said.issuperset(words) for words in own)}
        )


def listed_ties(
    items: Sequence[CastItem], people: Sequence[str | None], names: PersonNames, sexes: Mapping[str, str]
) -> Iterator[ListedTie]:
    """The ties that the descriptions name; `people` are those that the entries are about."""
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
    words = sorted((word for word, term in terms().items() if term.kind in LISTED_KINDS), key=len, reverse=True)
    term = rf"(?P<term>{'|'.join(map(re.escape, [*words, MARRIED]))})"
    return (
        re.compile(rf"\b{term} (?:to|of) (?P<names>[^,;.:()\[\]]+)", re.IGNORECASE),
        re.compile(rf"(?P<name>[A-Z][\w-]*(?: [A-Z][\w-]*)*)['’]s? (?:[\w-]+,? ){{0,2}}?{term}\b"),
        re.compile(rf"(?:his|her) (?:[\w-]+,? ){{0,2}}?{term}\b", re.IGNORECASE),
    )


def _only(people: Iterable[str]) -> str | None:
    distinct = set(people)
    return distinct.pop() if len(distinct) == 1 else None
