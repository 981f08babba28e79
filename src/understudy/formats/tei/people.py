"""What the file of a play says of its people, as facts and ties that hold from the play's start.

    <person xml:id="nora" sex="FEMALE">                             gender: female
    <castItem>Nora, his wife.</castItem>                            cast list: 'Nora, his wife'
    <relation name="parent_of" active="#ann" passive="#nora"/>      a tie each way, with the word for a man or a woman

An entry of the cast list is for whom it names by identifier, else for the only one who is called as it begins. What it
says in English of kin, lovers and friends are ties too, where no <relation> tells of the two. Children of one parent
are siblings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from typing import NamedTuple

from understudy.formats.tei.cast_list import OF_SEX, CastItem, ListedTie, PersonNames, listed_ties
from understudy.sources.events import FactEntry, RelationEntry
from understudy.sources.names import fold
from understudy.story.tie_terms import gender_of, plain_term
from understudy.story.types import Fact, Moment, Relation, Source

__all__ = ["CAST_LIST", "SEXES", "StatedPeople", "StatedRelation", "facts_and_ties"]

CAST_LIST = "cast list"
"""The attribute that is what the cast list says of somebody."""
SEXES = {"male": "male", "m": "male", "1": "male", "female": "female", "f": "female", "2": "female"}
LOVES = "lover_of"
BELOVED = "beloved"  # of whom it is not said that they love back
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


class _Tie(NamedTuple):
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


def _related(stated: StatedPeople) -> Iterator[_Tie]:
    loves = {pair for relation in stated.relations if relation.name == LOVES for pair in _pairs(relation, stated)}
    for relation in stated.relations:
        for of, to in _pairs(relation, stated):
            if relation.name == LOVES:
                yield _Tie(relation.line, of, to, "lover", "" if (to, of) in loves else BELOVED)
            elif relation.name in KINDS:
                there, back = KINDS[relation.name]
                yield _Tie(relation.line, of, to, there)
                yield _Tie(relation.line, to, of, back)


def _pairs(relation: StatedRelation, stated: StatedPeople) -> Iterator[tuple[str, str]]:
    pairs = [*permutations(relation.mutual, 2), *product(relation.active, relation.passive)]
    return ((of, to) for of, to in pairs if of in stated.names and to in stated.names and of != to)


def _siblings(ties: Collection[_Tie]) -> Iterator[_Tie]:
    """The children of one parent, where nothing else is told of two of them."""
    told = {(tie.of, tie.to) for tie in ties}
    children = defaultdict[str, dict[str, int]](dict)
    for tie in ties:
        if tie.kind == "child":
            children[tie.of][tie.to] = tie.line
    for of_parent in children.values():
        for of, to in permutations(of_parent, 2):
            if (of, to) not in told:
                yield _Tie(of_parent[to], of, to, "sibling")


def _with_referent(entry: CastItem, names: Mapping[str, Sequence[str]], sexes: dict[str, str]) -> CastItem:
    """'her brother', where it is marked who she is: 'Ophelia's brother'. Her sex is told by it too."""
    pronoun, _, rest = entry.description.partition(" ")
    sex = OF_SEX.get(pronoun.lower())
    if sex is None or not entry.refers_to or (referent := entry.refers_to[0]) not in names:
        return entry
    sexes.setdefault(referent, sex)
    return replace(entry, description=f"{names[referent][0]}'s {rest}")


def _listed(ties: Iterable[ListedTie], told: Collection[tuple[str, str]]) -> Iterator[_Tie]:
    for line, who, whose, kind, term in ties:
        if (who, whose) not in told:
            yield _Tie(line, whose, who, kind, term)
            yield _Tie(line, who, whose, INVERSE.get(kind, kind))


def _person(entry: CastItem, people: Mapping[str, object], lookup: PersonNames) -> str | None:
    if entry.identifiers:
        return next((who for who in entry.identifiers if who in people), None)
    return lookup.listed(entry.name)


def _entries_by_person(
    entries: Sequence[CastItem], people: Sequence[str | None], names: Mapping[str, Sequence[str]]
) -> dict[str, list[CastItem]]:
    """Entries that say more of somebody than a name."""
    by_person = defaultdict[str, list[CastItem]](list)
    for who, entry in zip(people, entries):
        if who is not None and fold(entry.text) not in map(fold, names[who]):
            by_person[who].append(entry)
    return by_person
