"""What the evidence for a tie weighs.

    mass = sum over patterns of  weight * log2(1 + sum over lines of share)

It grows with repetition, but ever more slowly, and by pattern: one joke told often does not win. Before it is taken:

- lines that call a man a mother are left out; who is a man is told by titles and by what people are called most;
- 'my wife' counts for whoever is spoken of as the speaker's lover around that time, and so do 'we' and 'our wedding'
  where they are said to somebody else;
- 'Mom', and 'my sister' near a name, count by how much of what a speaker says so goes to the same person.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from understudy.people.tie_evidence import Gathered, TieEvidence, TieKey, in_order
from understudy.people.tie_patterns import weights
from understudy.story.tie_terms import gender_of

__all__ = ["ROMANCE", "beginning", "genders_of", "mass_of", "weighed"]

ROMANCE = ("lover", "spouse")
SHARED = ("vocative", "called", "near")
OF_US = ("we", "ours")
TELL_LITTLE = ("unnamed", "near", "endearment")
MALE_TITLES, FEMALE_TITLES = ("mr ", "mr. ", "sir ", "lord "), ("mrs ", "mrs. ", "miss ", "ms. ", "lady ")
CLEAR = 3.0  # times as much evidence for one gender as for the other
LATELY = 4_000  # lines: how far off somebody may be spoken of as a lover
KNOWN_LOVER = 1.2  # weight of evidence from which on 'my wife' may mean a lover
WINDOW, ENOUGH, EXPLICIT = 4_000, 0.6, 0.5  # lines; evidence within them, or in one line, that dates a beginning

EvidenceByTie = Mapping[TieKey, Sequence[TieEvidence]]


def weighed(gathered: Gathered) -> Gathered:
    """All evidence that can be so, each line with the share that it counts with, in story order."""
    genders = genders_of(gathered.evidence)
    possible = _of_possible_gender(gathered.evidence, genders)
    evidence = _by_share_of_owner(_of_possible_gender(_with_unnamed(possible, gathered), genders))
    return Gathered(evidence, {}, gathered.exchanges, gathered.lines)


def mass_of(entries: Iterable[TieEvidence]) -> float:
    by_pattern: defaultdict[str, float] = defaultdict(float)
    for entry in entries:
        by_pattern[entry.pattern] += entry.share
    return sum(weights()[pattern] * math.log2(1 + total) for pattern, total in by_pattern.items())


def beginning(entries: Sequence[TieEvidence]) -> int:
    """Which entry a tie begins with: the first that is explicit or soon followed by enough others; else the first."""
    heights = [entry.share * weights()[entry.pattern] for entry in entries]
    for position, entry in enumerate(entries):
        if entry.pattern in TELL_LITTLE:
            continue
        soon = sum(
            height
            for height, later in zip(heights[position:], entries[position:])
            if later.index - entry.index < WINDOW
        )
        if heights[position] >= EXPLICIT or soon >= ENOUGH:
            return position
    return 0


def genders_of(evidence: EvidenceByTie) -> dict[str, str | None]:
    """Who is called mostly husband, brother, Dad, and who wife, sister, Mom."""
    votes: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (of, to, _), entries in evidence.items():
        for entry in entries:
            for who, term in ((to, entry.term_of_to), (of, entry.term_of_of)):
                if (gender := gender_of(term)) is not None:
                    votes[who][gender] += entry.share * weights()[entry.pattern]
    return {who: _gender(who, counts) for who, counts in votes.items()}


def _gender(who: str, votes: Mapping[str, float]) -> str | None:
    name = who.lower() + " "
    if name.startswith(MALE_TITLES):
        return "male"
    if name.startswith(FEMALE_TITLES):
        return "female"
    male, female = votes.get("male", 0.0), votes.get("female", 0.0)
    if max(male, female) < max(1.0, CLEAR * min(male, female)):
        return None
    return "male" if male > female else "female"


def _of_possible_gender(evidence: EvidenceByTie, genders: Mapping[str, str | None]) -> dict[TieKey, list[TieEvidence]]:
    def fits(key: TieKey, entry: TieEvidence) -> bool:
        return all(
            genders.get(who) is None or gender_of(term) in (None, genders[who])
            for who, term in ((key[1], entry.term_of_to), (key[0], entry.term_of_of))
        )

    kept = {key: [entry for entry in entries if fits(key, entry)] for key, entries in evidence.items()}
    return {key: entries for key, entries in kept.items() if entries}


def _with_unnamed(evidence: EvidenceByTie, gathered: Gathered) -> dict[TieKey, list[TieEvidence]]:
    romances: defaultdict[str, list[tuple[str, list[TieEvidence]]]] = defaultdict(list)
    for (of, to, kind), entries in evidence.items():
        if kind in ROMANCE and (named := [entry for entry in entries if entry.pattern not in OF_US]):
            romances[of].append((to, named))
            romances[to].append((of, named))
    found: defaultdict[TieKey, list[TieEvidence]] = defaultdict(list)
    for key, entries in evidence.items():
        for entry in entries:
            who = entry.speaker
            is_of_us = who is not None and key[2] in ROMANCE and entry.pattern in OF_US
            other = _lover_at(entry.index, romances[who]) if who is not None and is_of_us else None
            found[key if who is None or other is None else in_order(who, other, key[2])].append(entry)
    for who, said in gathered.unnamed.items():
        for claim, entry in said:
            if claim.kind in ROMANCE and not entry.has_ended:
                other = _lover_at(entry.index, romances[who])
                if other is not None and who < other:
                    found[who, other, claim.kind].append(entry)
                elif other is not None:
                    found[other, who, claim.kind].append(replace(entry, term_of_to="", term_of_of=claim.term))
    return {key: sorted(entries, key=lambda entry: entry.index) for key, entries in found.items()}


def _lover_at(index: int, romances: Sequence[tuple[str, Sequence[TieEvidence]]]) -> str | None:
    """Whom most evidence around a line is about, if it is twice as much as for anybody else."""
    near: defaultdict[str, float] = defaultdict(float)
    for other, entries in romances:
        near[other] += sum(
            entry.share * weights()[entry.pattern] for entry in entries if abs(index - entry.index) < LATELY
        )
    ranked = sorted(near.items(), key=lambda item: -item[1])
    if not ranked or ranked[0][1] < KNOWN_LOVER or (len(ranked) > 1 and ranked[0][1] < 2 * ranked[1][1]):
        return None
    return ranked[0][0]


def _by_share_of_owner(evidence: EvidenceByTie) -> dict[TieKey, list[TieEvidence]]:
    totals: defaultdict[tuple[str, str, str], float] = defaultdict(float)
    own: defaultdict[tuple[TieKey, tuple[str, str, str]], float] = defaultdict(float)
    for key, entries in evidence.items():
        for entry in entries:
            if entry.pattern in SHARED:
                totals[_slot(key, entry)] += entry.share
                own[key, _slot(key, entry)] += entry.share

    def by_share(key: TieKey, entry: TieEvidence) -> TieEvidence:
        slot = _slot(key, entry)
        if entry.pattern not in SHARED or not totals[slot]:
            return entry
        return replace(entry, share=entry.share * own[key, slot] / totals[slot])

    return {key: [by_share(key, entry) for entry in entries] for key, entries in evidence.items()}


def _slot(key: TieKey, entry: TieEvidence) -> tuple[str, str, str]:
    """Whose mother, or whose sister, a line speaks of, and how."""
    owner, term = (key[0], entry.term_of_to) if entry.term_of_to else (key[1], entry.term_of_of)
    return owner, f"{key[2]} {gender_of(term)}", entry.pattern
