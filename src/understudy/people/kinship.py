"""Ties that can all be so together, each with a confidence.

    z           slope * (mass * share of the pair's mass - bound - per_talk * log10(1 + exchanges))
    confidence  1 / (1 + exp(-z))

Two who talk all the time have said everything to each other once: they need more evidence than two who meet in one
scene (and friends need less). Then:

- two people are siblings, or parent and child, or lovers, as the heavier evidence says; kin are no lovers
- of several mothers, or fathers, of one person the less founded are doubted
- siblings share their parents, and children of one parent are siblings
- a parent's parent is a grandparent, a parent's sibling is family, a spouse's parent or sibling an in-law
- two who often talk and have two friends in common are friends
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from understudy.people.tie_evidence import ROMANCE, Gathered, TieEvidence, TieKey, beginning, in_order, mass_of
from understudy.story.tie_terms import gender_of

__all__ = ["BOUNDS", "Bounds", "Tie", "consistent_ties"]

NEAR_KIN = ("parent", "sibling", "grandparent")
BEGINS_WITHIN = (*ROMANCE, "friend", "enemy", "opponent")
"""Kinds that begin and end within a story: an early joke must not date them."""
FRIENDS_KISS = 0.5  # how much of the evidence for friends speaks against lovers
SURE = 0.5  # from which confidence on others follow from a tie
DERIVED = 0.9  # how surely a tie follows from two others
LEAST_DERIVED = 0.3
OFTEN = 100  # exchanges of two who belong to one circle
CIRCLE = 0.8  # how surely they are friends


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much evidence a group of kinds needs."""

    bound: float
    per_talk: float
    slope: float


BOUNDS = {
    "kin": Bounds(0.6, 0.1, 4.0),
    "lover": Bounds(0.5, 0.15, 3.0),
    "spouse": Bounds(0.4, 0.1, 3.0),
    "friend": Bounds(0.8, -0.2, 3.0),
}
"""Set by hand, in round numbers; `bench people` chooses others on four shows to judge the fifth."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A tie that fits with the others; `evidence` in story order."""

    key: TieKey
    confidence: float
    evidence: tuple[TieEvidence, ...]


Ties = dict[TieKey, Tie]


def consistent_ties(weighed: Gathered, bounds: Mapping[str, Bounds] = BOUNDS) -> list[Tie]:
    """All ties that weighed evidence speaks for, and what follows from them."""
    evidence = weighed.evidence
    masses = {key: mass_of(entries) for key, entries in evidence.items()}
    shares = _shares_in_pair(masses)
    ties: Ties = {}
    for key, entries in evidence.items():
        exchanges = weighed.exchanges[min(key[:2]), max(key[:2])]
        confidence = _confidence(masses[key] * shares[key], exchanges, bounds[_group(key[2])])
        first = beginning(entries) if key[2] in BEGINS_WITHIN else 0
        ties[key] = Tie(key, confidence, tuple(entries[first:]))
    _doubt_second_parents(ties)
    _doubt_lovers_among_kin(ties)
    for _ in range(2):  # what follows from what followed
        _add_following(ties)
    _close_circles(ties, weighed.exchanges)
    return list(ties.values())


def _group(kind: str) -> str:
    if kind in ROMANCE:
        return kind
    return "kin" if kind in (*NEAR_KIN, "in-law", "family") else "friend"


def _confidence(mass: float, exchanges: int, bounds: Bounds) -> float:
    z = bounds.slope * (mass - bounds.bound - bounds.per_talk * math.log10(1 + exchanges))
    return 1 / (1 + math.exp(-z))


def _shares_in_pair(masses: Mapping[TieKey, float]) -> dict[TieKey, float]:
    """What of the evidence on two people is for this kind, among kinds that exclude each other."""
    totals: defaultdict[frozenset[str], defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for key, mass in masses.items():
        totals[frozenset(key[:2])][_rival(key)] += mass
    shares = {}
    for key in masses:
        rivals, own = totals[frozenset(key[:2])], _rival(key)
        if own in ("friend", "other"):
            shares[key] = 1.0
            continue
        against = sum(mass for rival, mass in rivals.items() if rival not in (own, "friend", "other"))
        if own == "romance":
            against += FRIENDS_KISS * rivals["friend"]
        shares[key] = rivals[own] / (rivals[own] + against)
    return shares


def _rival(key: TieKey) -> str:
    _, to, kind = key
    if kind in ROMANCE:
        return "romance"
    if kind in ("sibling", "friend"):
        return kind
    return f"{kind} {to}" if kind in NEAR_KIN else "other"


def _doubt_second_parents(ties: Ties) -> None:
    """A second mother keeps her confidence only with as much evidence as the first (one person under two names)."""
    rivals: defaultdict[tuple[str, str | None], list[Tie]] = defaultdict(list)
    for (of, _, kind), tie in ties.items():
        if kind == "parent":
            genders = Counter(gender for entry in tie.evidence if (gender := gender_of(entry.term_of_to)))
            rivals[of, genders.most_common(1)[0][0] if genders else None].append(tie)
    for group in rivals.values():
        most = max(mass_of(tie.evidence) for tie in group)
        for tie in group:
            mass = mass_of(tie.evidence)
            ties[tie.key] = replace(tie, confidence=tie.confidence * 2 * mass / (mass + most) if most else 0.0)


def _doubt_lovers_among_kin(ties: Ties) -> None:
    kin: defaultdict[frozenset[str], float] = defaultdict(float)
    for key, tie in ties.items():
        if key[2] in NEAR_KIN:
            kin[frozenset(key[:2])] = max(kin[frozenset(key[:2])], tie.confidence)
    for key, tie in ties.items():
        if key[2] in ROMANCE:
            ties[key] = replace(tie, confidence=tie.confidence * (1 - kin[frozenset(key[:2])]))


def _add_following(ties: Ties) -> None:
    """Ties that follow from two others, where nothing surer speaks against them."""
    for key, first, second in list(_following(ties)):
        later = max(first, second, key=lambda tie: tie.evidence[0].index)
        _strengthen(ties, key, DERIVED * first.confidence * second.confidence, later)


def _following(ties: Ties) -> Iterator[tuple[TieKey, Tie, Tie]]:
    sure = [tie for tie in ties.values() if tie.confidence >= SURE]
    parents: defaultdict[str, list[tuple[str, Tie]]] = defaultdict(list)
    children: defaultdict[str, list[tuple[str, Tie]]] = defaultdict(list)
    siblings: defaultdict[str, list[tuple[str, Tie]]] = defaultdict(list)
    for tie in sure:
        of, to, kind = tie.key
        if kind == "parent":
            parents[of].append((to, tie))
            children[to].append((of, tie))
        elif kind == "sibling":
            siblings[of].append((to, tie))
            siblings[to].append((of, tie))
    for born in children.values():
        for (one, first), (other, second) in combinations(born, 2):
            yield in_order(one, other, "sibling"), first, second
    for tie in sure:
        of, to, kind = tie.key
        for one, other in ((of, to), (to, of)):
            for relative, further in parents[one] if kind == "sibling" else ():
                yield (other, relative, "parent"), tie, further
            for relative, further in (*parents[one], *siblings[one]) if kind == "spouse" else ():
                yield in_order(other, relative, "in-law"), tie, further
        for relative, further in parents[to] if kind == "parent" else ():
            yield (of, relative, "grandparent"), tie, further
        for relative, further in siblings[to] if kind == "parent" else ():
            yield in_order(of, relative, "family"), tie, further


def _close_circles(ties: Ties, exchanges: Mapping[tuple[str, str], int]) -> None:
    friends: defaultdict[str, dict[str, Tie]] = defaultdict(dict)
    for tie in ties.values():
        if tie.key[2] == "friend" and tie.confidence >= SURE:
            friends[tie.key[0]][tie.key[1]] = friends[tie.key[1]][tie.key[0]] = tie
    for one, other in combinations(sorted(friends), 2):
        common = friends[one].keys() & friends[other].keys()
        if other in friends[one] or len(common) < 2 or exchanges.get((one, other), 0) < OFTEN:
            continue
        doubts = sorted(1 - friends[one][who].confidence * friends[other][who].confidence for who in common)
        shared = (friends[person][who] for person in (one, other) for who in sorted(common))
        later = max(shared, key=lambda tie: tie.evidence[0].index)
        _strengthen(ties, (one, other, "friend"), CIRCLE * (1 - doubts[0] * doubts[1]), later)


def _strengthen(ties: Ties, key: TieKey, confidence: float, later: Tie) -> None:
    """Take a tie that follows from others, unless there is something surer; it is known once both others are."""
    old = ties.get(key)
    if confidence < LEAST_DERIVED or (old is not None and old.confidence >= confidence) or _excluded(ties, key):
        return
    ties[key] = Tie(key, confidence, later.evidence[:1] if old is None else old.evidence)


def _excluded(ties: Ties, key: TieKey) -> bool:
    """Are these two something else already, or are both parents known?"""
    of, to, kind = key
    if of == to or any(
        tie.confidence >= SURE and tie.key != key and {*tie.key[:2]} == {of, to} and _group(tie.key[2]) != "friend"
        for tie in ties.values()
    ):
        return True
    known = [tie for tie in ties.values() if tie.key[0] == of and tie.key[2] == "parent" and tie.confidence >= SURE]
    return kind == "parent" and len(known) > 1
