"""Ties of a kind found in a story's text: who is whose sister, wife, friend, since when, and in which lines it is said.

    tie_terms.toml      words for ties
    tie_patterns.toml   the words around them, and how sure a pattern is
    names               names put aside
    tie_patterns        what one line claims
    tie_evidence        claims about people, over the whole story, and what they weigh
    ties                ties that can all be so together, each with a confidence; as dated relations, both ways

A tie begins after the first line that carries it. One that begins within a story (friend, lover, spouse) ends where a
later one takes its place, or where the last line that speaks of an end stands and little is said for it afterwards.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from understudy.people.tie_evidence import (
    ROMANCE,
    Gathered,
    TieEvidence,
    TieKey,
    beginning,
    gather,
    genders_of,
    in_order,
    mass_of,
    weighed,
)
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import line_after
from understudy.story.types import Finding, Moment, Relation
from understudy.story.wording import gender_of, plain_term, terms

# Ties that can all be so together, each with a confidence.
#
#     z           slope * (mass * share of the pair's mass - bound - per_talk * log10(1 + exchanges))
#     confidence  1 / (1 + exp(-z))
#
# Two who talk all the time have said everything to each other once: they need more evidence than two who meet in one
# scene (and friends need less). Then:
#
# - two people are siblings, or parent and child, or lovers, as the heavier evidence says; kin are no lovers
# - of several mothers, or fathers, of one person the less founded are doubted
# - siblings share their parents, and children of one parent are siblings
# - a parent's parent is a grandparent, a parent's sibling is family, a spouse's parent or sibling an in-law
# - two who often talk and have two friends in common are friends


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
class WeighedTie:
    """A tie that fits with the others; `evidence` in story order."""

    key: TieKey
    confidence: float
    evidence: tuple[TieEvidence, ...]


Ties = dict[TieKey, WeighedTie]


def consistent_ties(weighed: Gathered, bounds: Mapping[str, Bounds] = BOUNDS) -> list[WeighedTie]:
    """All ties that weighed evidence speaks for, and what follows from them."""
    evidence = weighed.evidence
    masses = {key: mass_of(entries) for key, entries in evidence.items()}
    shares = _shares_in_pair(masses)
    ties: Ties = {}
    for key, entries in evidence.items():
        exchanges = weighed.exchanges[min(key[:2]), max(key[:2])]
        confidence = _confidence(masses[key] * shares[key], exchanges, bounds[_group(key[2])])
        first = beginning(entries) if key[2] in BEGINS_WITHIN else 0
        ties[key] = WeighedTie(key, confidence, tuple(entries[first:]))
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
    rivals: defaultdict[tuple[str, str | None], list[WeighedTie]] = defaultdict(list)
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


def _following(ties: Ties) -> Iterator[tuple[TieKey, WeighedTie, WeighedTie]]:
    sure = [tie for tie in ties.values() if tie.confidence >= SURE]
    parents: defaultdict[str, list[tuple[str, WeighedTie]]] = defaultdict(list)
    children: defaultdict[str, list[tuple[str, WeighedTie]]] = defaultdict(list)
    siblings: defaultdict[str, list[tuple[str, WeighedTie]]] = defaultdict(list)
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
    friends: defaultdict[str, dict[str, WeighedTie]] = defaultdict(dict)
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


def _strengthen(ties: Ties, key: TieKey, confidence: float, later: WeighedTie) -> None:
    """Take a tie that follows from others, unless there is something surer; it is known once both others are."""
    old = ties.get(key)
    if confidence < LEAST_DERIVED or (old is not None and old.confidence >= confidence) or _excluded(ties, key):
        return
    ties[key] = WeighedTie(key, confidence, later.evidence[:1] if old is None else old.evidence)


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


# Ties as dated relations, both ways.

DatedTie = tuple[WeighedTie, Moment, Moment | None]
"""A tie, and where it begins and ends."""

LEAST = 0.4
"""Less confidence than this is not worth an author's look."""
MOST_SOURCES = 8
CLOSER_SURE = 0.8  # how sure a closer tie must be to take a friendship's place
STILL = 0.5  # mass after the last line that speaks of an end from which on a tie goes on
INVERSE_KIND = {"parent": "child", "grandparent": "grandchild"}
ONE_WAY = frozenset(("teacher",))


def ties(story: Story, progress: Progress = ignore_progress) -> list[Relation]:
    """All ties above `LEAST`, both ways, in the order in which they begin."""
    gathered = gather(story, progress)
    genders = genders_of(gathered.evidence)
    relations: list[Relation] = []
    for tie, since, until in dated_ties(weighed(gathered), story.schema.kinds):
        witnesses = {who for entry in _sources(tie.evidence) for who in story.present_at(entry.moment)}
        relations.extend(_both_ways(tie, since, until, witnesses, genders))
    return sorted(_one_love_at_a_time(relations), key=lambda relation: relation.since)


def _one_love_at_a_time(relations: Sequence[Relation]) -> Iterator[Relation]:
    """Lovers are so until one of them surely loves, or marries, somebody else: a script seldom says that it ended."""
    begun: defaultdict[str, list[tuple[Moment, frozenset[str]]]] = defaultdict(list)
    for tie in relations:
        if tie.kind in ("lover", "spouse") and tie.found is not None and tie.found.confidence >= CLOSER_SURE:
            begun[tie.of].append((tie.since, frozenset((tie.of, tie.to))))
    for tie in relations:
        if tie.kind != "lover":
            yield tie
            continue
        later = [
            since
            for who in (tie.of, tie.to)
            for since, pair in begun[who]
            if since > tie.since and pair != {tie.of, tie.to}
        ]
        yield replace(tie, until=min(filter(None, (tie.until, *later)), default=None))


def dated_ties(
    evidence: Gathered, kinds: Collection[str], bounds: Mapping[str, Bounds] = BOUNDS, least: float = LEAST
) -> Iterator[DatedTie]:
    """Ties of these kinds that weighed evidence speaks for, each once, with the moments where it begins and ends."""
    by_pair: defaultdict[frozenset[str], list[WeighedTie]] = defaultdict(list)
    for tie in consistent_ties(evidence, bounds):
        if tie.confidence >= least and tie.key[2] in kinds:
            by_pair[frozenset(tie.key[:2])].append(tie)
    for pair in by_pair.values():
        yield from _course(pair)


def _course(pair: Sequence[WeighedTie]) -> Iterator[DatedTie]:
    """The ties of two people with their beginnings and ends: friend, then lover, then spouse."""
    by_kind = {tie.key[2]: tie for tie in pair}
    spouse, lover, friend = (by_kind.pop(kind, None) for kind in ("spouse", "lover", "friend"))
    for tie in by_kind.values():
        yield tie, line_after(tie.evidence[0].moment), None
    taken: list[tuple[Moment, Moment | None]] = []
    if spouse is not None:
        past = all(entry.has_ended for entry in spouse.evidence)
        since, until = line_after(spouse.evidence[0].moment), _end(spouse.evidence)
        if past:  # an 'ex-wife' was one before the story told
            yield replace(spouse, key=(*spouse.key[:2], "family")), since, None
        else:
            yield spouse, since, until
        taken.append((since, None if past else until))
    if lover is not None and not all(entry.has_ended for entry in lover.evidence):
        since, until = line_after(lover.evidence[0].moment), _end(lover.evidence)
        if spouse is not None:
            until = min(filter(None, (until, taken[0][0])))
        if until is None or since < until:
            yield lover, since, until
            if lover.confidence >= CLOSER_SURE:
                taken.insert(0, (since, until))
    if friend is not None and not any(kind in NEAR_KIN for kind in by_kind):
        yield from _between(friend, taken)


def _between(friend: WeighedTie, taken: Sequence[tuple[Moment, Moment | None]]) -> Iterator[DatedTie]:
    """Friendship where nothing closer holds: before it, and after it has ended."""
    since = line_after(friend.evidence[0].moment)
    for begins, ends in taken:
        if since < begins:
            yield friend, since, begins
        if ends is None:
            return
        since = max(since, ends)
    later = tuple(entry for entry in friend.evidence if not taken or line_after(entry.moment) >= since)
    if later:
        yield replace(friend, evidence=later), line_after(later[0].moment), None


def _end(evidence: Sequence[TieEvidence]) -> Moment | None:
    ends = [position for position, entry in enumerate(evidence) if entry.has_ended]
    if not ends or mass_of(entry for entry in evidence[ends[-1] + 1 :] if not entry.has_ended) >= STILL:
        return None
    return line_after(evidence[ends[-1]].moment)


def _sources(evidence: Sequence[TieEvidence]) -> list[TieEvidence]:
    """The first line, and those that say most."""
    first, *others = evidence
    best = sorted(others, key=lambda entry: -mass_of((entry,)))[: MOST_SOURCES - 1]
    by_moment = {entry.moment: entry for entry in (first, *best)}
    return sorted(by_moment.values(), key=lambda entry: entry.index)


def _both_ways(
    tie: WeighedTie, since: Moment, until: Moment | None, witnesses: set[str], genders: dict[str, str | None]
) -> Iterator[Relation]:
    of, to, kind = tie.key
    finding = Finding(
        round(tie.confidence, 2),
        tuple(entry.moment for entry in _sources(tie.evidence)),
        tuple(sorted(witnesses | {of, to})),
    )
    back = INVERSE_KIND.get(kind, kind)
    there_term = _term(((entry.term_of_to, entry) for entry in tie.evidence), kind, genders.get(to))
    back_term = _term(((entry.term_of_of, entry) for entry in tie.evidence), back, genders.get(of))
    yield Relation(of, to, kind, None, since, until, term=there_term, found=finding)
    if kind not in ONE_WAY:
        yield Relation(to, of, back, None, since, until, term=back_term, found=finding)


def _term(said: Iterable[tuple[str, TieEvidence]], kind: str, gender: str | None) -> str:
    """The word with most evidence, else the plain one: 'my wife' is evidence of an in-law too, but no word for him."""
    heights: defaultdict[str, float] = defaultdict(float)
    for term, entry in said:
        known = terms().get(term.removeprefix("ex-"))
        if term and (known is None or kind in (known.kind, "family")):
            heights[term] += mass_of((entry,))
    return max(heights, key=heights.__getitem__) if heights else plain_term(kind, gender)
