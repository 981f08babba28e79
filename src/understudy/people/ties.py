"""Ties of a kind found in a story's text: who is whose sister, wife, friend, since when, and in which lines it is said.

    tie_terms           words for ties
    tie_patterns.toml   the words around them, and how sure a pattern is
    marked_names        names put aside
    tie_patterns        what one line claims
    tie_evidence        claims about people, over the whole story
    tie_weighing        what the evidence weighs
    kinship             ties that can all be so together, each with a confidence
    ties                ties as dated relations, both ways

A tie begins after the first line that carries it. One that begins within a story (friend, lover, spouse) ends where a
later one takes its place, or where the last line that speaks of an end stands and little is said for it afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from understudy.people.kinship import BOUNDS, Bounds, Tie, consistent_ties
from understudy.people.tie_evidence import Gathered, TieEvidence, gather, genders_of, mass_of, weighed
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import line_after
from understudy.story.tie_terms import plain_term, terms
from understudy.story.types import Finding, Moment, Relation

__all__ = ["LEAST", "dated_ties", "ties"]

LEAST = 0.4
"""Less confidence than this is not worth an author's look."""
MOST_SOURCES = 8
SURE = 0.8  # how sure a closer tie must be to take a friendship's place
NEAREST = ("parent", "sibling", "grandparent")
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
        if tie.kind in ("lover", "spouse") and tie.found is not None and tie.found.confidence >= SURE:
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
) -> Iterator[tuple[Tie, Moment, Moment | None]]:
    """Ties of these kinds that weighed evidence speaks for, each once, with the moments where it begins and ends."""
    by_pair: defaultdict[frozenset[str], list[Tie]] = defaultdict(list)
    for tie in consistent_ties(evidence, bounds):
        if tie.confidence >= least and tie.key[2] in kinds:
            by_pair[frozenset(tie.key[:2])].append(tie)
    for pair in by_pair.values():
        yield from _course(pair)


def _course(pair: Sequence[Tie]) -> Iterator[tuple[Tie, Moment, Moment | None]]:
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
            if lover.confidence >= SURE:
                taken.insert(0, (since, until))
    if friend is not None and not any(kind in NEAREST for kind in by_kind):
        yield from _between(friend, taken)


def _between(friend: Tie, taken: Sequence[tuple[Moment, Moment | None]]) -> Iterator[tuple[Tie, Moment, Moment | None]]:
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
    tie: Tie, since: Moment, until: Moment | None, witnesses: set[str], genders: dict[str, str | None]
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
