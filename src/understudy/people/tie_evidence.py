"""Evidence for ties, gathered in one pass over a story: who is claimed to be what to whom, in which lines.

Claims name people, the speaker or whoever is spoken to; here they become people. A line is said to somebody with a
probability, and evidence is weighed by it. Kinds that run one way are kept in one direction (a child's parent), the
others under the pair in order.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from understudy.people.names import MarkedText, NameIndex, is_generic
from understudy.people.tie_patterns import (
    ADDRESSEE,
    SPEAKER,
    TieClaim,
    claims,
    label_claim,
    may_claim,
    unspaced_claims,
    weights,
)
from understudy.progress import Progress
from understudy.story.storyfile import Story
from understudy.story.types import Line, Moment, Scene
from understudy.story.wording import gender_of
from understudy.text import UNSPACED_LANGUAGES

TieKey = tuple[str, str, str]
"""(of, to, kind): of a kind that runs one way as in INVERSE, else with the two names in order."""
INVERSE = {"child": "parent", "grandchild": "grandparent"}
ONE_WAY = frozenset(("parent", "grandparent", "teacher"))
ASIDE = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]")
CALLED = re.compile(
    r"(?:^|[,.!?;:…\"、。！？，「-] ?"
    r"|\b(?:hey|hi|hello|oh|ok|okay|thanks|you|yes|yeah|no|bye|well|please|sorry|dear|and|but|so) )"
    r"@(\d+)(?=\s?[,.!?;:…\"、。！？，」-]|$)"
)
TOWARDS = re.compile(r"\bto @(\d+)")
QUOTED = re.compile(r"(?<=\S )[\"“][^\"“”]{3,}[\"”]|(?<=\S )‘[^‘]{3,}?’(?!\w)")
"""What is told that others said."""
PRONOUN = re.compile(r"\b(?:s?he)(?:'s| is| was) (?:my|your|his|her|our|@)")
SHORT = 200  # characters: in a long speech a name may be far from a word
BEFORE, AFTER = 4, 3  # lines in which a partner in talk is looked for
VOCATIVE, BOTH_SIDES, ONE_SIDE, OPEN_END = 0.9, 0.85, 0.4, 0.55
REMEMBERED = 3  # lines for which a name may be who 'she' is


@dataclass(frozen=True, slots=True)
class TieEvidence:
    """One line that speaks for a tie. `index` counts the story's lines."""

    index: int
    moment: Moment
    pattern: str
    share: float
    """How surely the line is about these two and says so."""
    term_of_to: str
    """The word for what the second of the key is to the first; empty where the line has none."""
    term_of_of: str
    has_ended: bool
    speaker: str | None = None

    @property
    def height(self) -> float:
        """What the line weighs by itself."""
        return self.share * weights()[self.pattern]

    def turned(self) -> TieEvidence:
        """The same of a tie whose two people have changed places."""
        return replace(self, term_of_to=self.term_of_of, term_of_of=self.term_of_to)


@dataclass(slots=True)
class Gathered:
    """All evidence of a story."""

    evidence: dict[TieKey, list[TieEvidence]] = field(default_factory=lambda: defaultdict(list))
    unnamed: dict[str, list[tuple[TieClaim, TieEvidence]]] = field(default_factory=lambda: defaultdict(list))
    """Claims of somebody that name nobody: 'my wife'."""
    exchanges: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often one of two, in order, spoke right after the other."""
    lines: int = 0


def gather(story: Story, progress: Progress) -> Gathered:
    """One pass; memory grows with the evidence, not with the story."""
    cast = [member.character for member in story.cast()]
    names = NameIndex(cast, story.language)
    labels = _Labels(names, [character.name for character in cast])
    gathered = Gathered()
    total = story.count()[1]
    for scene in story.scenes():
        progress("finding ties", gathered.lines, total)
        _exchanges(scene, gathered.exchanges)
        for index, line in enumerate(scene.lines):
            for claim in labels.claims_at_first_words(line.speaker):
                _add(gathered, claim, line, gathered.lines + index, {}, line.speaker)
            if story.language in UNSPACED_LANGUAGES:
                _read_unspaced(gathered, names, scene, index, story.language)
            elif may_claim(line.text):
                _read(gathered, names, scene, index)
        gathered.lines += len(scene.lines)
    progress("finding ties", total, total)
    return gathered


class _Labels:
    """What a script's names for people tell, from their first words on: 'Pam's Mom'; Mr. and Mrs. of one surname."""

    def __init__(self, names: NameIndex, cast: Sequence[str]) -> None:
        self._claims = {name: claim for name in cast if (claim := label_claim(name, names)) is not None}
        self._couples = _couples(cast)
        self._heard: set[str] = set()

    def claims_at_first_words(self, speaker: str | None) -> Iterator[TieClaim]:
        if speaker is None or speaker in self._heard:
            return
        self._heard.add(speaker)
        if speaker in self._claims:
            yield self._claims[speaker]
        for couple in self._couples:
            if speaker in couple and self._heard.issuperset(couple):
                yield TieClaim("spouse", *couple, "", "couple")


def _exchanges(scene: Scene, counts: Counter[tuple[str, str]]) -> None:
    speakers = [line.speaker for line in scene.lines if line.speaker is not None]
    for first, second in pairwise(speakers):
        if first != second:
            counts[min(first, second), max(first, second)] += 1


def _read(gathered: Gathered, names: NameIndex, scene: Scene, index: int) -> None:
    line = scene.lines[index]
    number = gathered.lines + index
    asides = ["".join(groups) for groups in ASIDE.findall(line.text)]
    said = names.mark(QUOTED.sub(" ", ASIDE.sub(" ", line.text)).strip())
    if line.speaker is None:
        partners = _partners(scene.lines, index)
        speaker, partner = (partners[0], {partners[1]: 1.0}) if len(partners) > 1 else (None, {})
        for claim in claims(said, is_direction=True):
            _add(gathered, claim, line, number, partner, speaker)
        return
    faced = addressees(scene.lines, index, said, [names.mark(aside) for aside in asides])
    last_named = _last_named(scene.lines, index, names) if PRONOUN.search(said.text) else None
    for claim in claims(said, is_direction=False, last_named=last_named):
        _add(gathered, claim, line, number, faced, line.speaker)
        if claim.to is None:
            named = _named_near(scene.lines, index, said, names)
            for name in named - set(faced):
                near = replace(claim, to=name, pattern="near", factor=claim.factor / len(named))
                _add(gathered, near, line, number, faced, line.speaker)
    for aside in asides:
        if may_claim(aside):
            for claim in claims(names.mark(aside), is_direction=True):
                _add(gathered, claim, line, number, faced, line.speaker)


def _read_unspaced(gathered: Gathered, names: NameIndex, scene: Scene, index: int, language: str) -> None:
    line = scene.lines[index]
    said = names.mark(line.text)
    faced = addressees(scene.lines, index, said, ()) if line.speaker is not None else {}
    for claim in unspaced_claims(language)(said):
        _add(gathered, claim, line, gathered.lines + index, faced, line.speaker)


def addressees(lines: Sequence[Line], index: int, said: MarkedText, asides: Sequence[MarkedText]) -> dict[str, float]:
    """Whom a line is said to, as probabilities: who is called by name, else who spoke before and speaks next."""
    speaker = lines[index].speaker
    if any("phone" in aside.text for aside in asides):
        return {}
    for aside in asides:
        if match := TOWARDS.search(aside.text):
            return {aside.people[int(match[1])]: VOCATIVE}
    called = {said.people[int(number)] for number in CALLED.findall(said.text)} - {speaker}
    if called:
        return {name: VOCATIVE / len(called) for name in called}
    before = _other(lines[max(0, index - BEFORE) : index][::-1], speaker)
    after = _other(lines[index + 1 : index + 1 + AFTER], speaker)
    if before is not None and before == after:
        return {before: BOTH_SIDES}
    if before is None or after is None:
        return {name: OPEN_END for name in (before, after) if name is not None}
    return {before: ONE_SIDE, after: ONE_SIDE}


def _other(lines: Sequence[Line], speaker: str | None) -> str | None:
    return next((line.speaker for line in lines if line.speaker is not None and line.speaker != speaker), None)


def _partners(lines: Sequence[Line], index: int) -> list[str]:
    """The two who spoke last before a direction."""
    spoke = [line.speaker for line in lines[max(0, index - BEFORE) : index][::-1] if line.speaker is not None]
    return list(dict.fromkeys(spoke))[:2]


def _last_named(lines: Sequence[Line], index: int, names: NameIndex) -> str | None:
    """Whom 'she' may mean: the only one named shortly before."""
    named: set[str] = set()
    for line in lines[max(0, index - REMEMBERED) : index]:
        marked = names.mark(line.text)
        called = {marked.people[int(number)] for number in CALLED.findall(marked.text)}
        named |= set(marked.people) - called
    named -= {lines[index].speaker or ""}
    return named.pop() if len(named) == 1 else None


def _named_near(lines: Sequence[Line], index: int, said: MarkedText, names: NameIndex) -> set[str]:
    """Who is spoken of, not to, in a line and the lines beside it."""
    named: set[str] = set()
    for line in lines[max(0, index - 1) : index + 2]:
        if line.speaker is not None and len(line.text) <= SHORT:
            marked = said if line is lines[index] else names.mark(line.text)
            named |= set(marked.people) - {marked.people[int(number)] for number in CALLED.findall(marked.text)}
    return named - {lines[index].speaker or ""}


def _couples(names: Iterable[str]) -> list[tuple[str, str]]:
    """Mr. and Mrs. of one surname."""
    by_surname: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name in names:
        title, _, surname = name.replace(".", "").partition(" ")
        if title in ("Mr", "Mrs", "Dr") and surname:
            by_surname[surname]["Mr" if title == "Dr" else title] = name
    return [(titled["Mr"], titled["Mrs"]) for titled in by_surname.values() if len(titled) > 1]


def _add(
    gathered: Gathered, claim: TieClaim, line: Line, index: int, faced: Mapping[str, float], speaker: str | None
) -> None:
    said = TieEvidence(index, line.moment, claim.pattern, claim.factor, claim.term, "", claim.has_ended, speaker)
    for of, of_share in _people(claim.of, speaker, faced):
        if claim.to is None:
            gathered.unnamed[of].append((claim, replace(said, share=of_share * claim.factor)))
            continue
        for to, to_share in _people(claim.to, speaker, faced):
            if of != to and not is_generic(of) and not is_generic(to):
                key, is_turned = _key(of, to, claim.kind)
                evidence = said.turned() if is_turned else said
                gathered.evidence[key].append(replace(evidence, share=min(of_share, to_share) * claim.factor))


def _people(who: str, speaker: str | None, faced: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    if who == SPEAKER:
        if speaker is not None:
            yield speaker, 1.0
    elif who == ADDRESSEE:
        yield from faced.items()
    else:
        yield who, 1.0


def _key(of: str, to: str, kind: str) -> tuple[TieKey, bool]:
    """The tie as it is kept, and whether the two changed places."""
    if kind in INVERSE:
        return (to, of, INVERSE[kind]), True
    key = (of, to, kind) if kind in ONE_WAY else in_order(of, to, kind)
    return key, key[0] != of


def in_order(one: str, other: str, kind: str) -> TieKey:
    """A tie that runs both ways, as it is kept."""
    return (one, other, kind) if one < other else (other, one, kind)


# What the evidence for a tie weighs.
#
#     mass = sum over patterns of  weight * log2(1 + sum over lines of share)
#
# It grows with repetition, but ever more slowly, and by pattern: one joke told often does not win. Before it is taken:
#
# - lines that call a man a mother are left out; who is a man is told by titles and by what people are called most;
# - 'my wife' counts for whoever is spoken of as the speaker's lover around that time, and so do 'we' and 'our wedding'
#   where they are said to somebody else;
# - 'Mom', and 'my sister' near a name, count by how much of what a speaker says so goes to the same person.


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
    for position, entry in enumerate(entries):
        if entry.pattern in TELL_LITTLE:
            continue
        soon = sum(later.height for later in entries[position:] if later.index - entry.index < WINDOW)
        if entry.height >= EXPLICIT or soon >= ENOUGH:
            return position
    return 0


def genders_of(evidence: EvidenceByTie) -> dict[str, str | None]:
    """Who is called mostly husband, brother, Dad, and who wife, sister, Mom."""
    votes: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (of, to, _), entries in evidence.items():
        for entry in entries:
            for who, term in ((to, entry.term_of_to), (of, entry.term_of_of)):
                if (gender := gender_of(term)) is not None:
                    votes[who][gender] += entry.height
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

    fitting = {key: [entry for entry in entries if fits(key, entry)] for key, entries in evidence.items()}
    return {key: entries for key, entries in fitting.items() if entries}


def _with_unnamed(evidence: EvidenceByTie, gathered: Gathered) -> dict[TieKey, list[TieEvidence]]:
    romances: defaultdict[str, list[tuple[str, list[TieEvidence]]]] = defaultdict(list)
    for (of, to, kind), entries in evidence.items():
        if kind in ROMANCE and (named := [entry for entry in entries if entry.pattern not in OF_US]):
            romances[of].append((to, named))
            romances[to].append((of, named))
    assigned: defaultdict[TieKey, list[TieEvidence]] = defaultdict(list)
    for key, entries in evidence.items():
        for entry in entries:
            who = entry.speaker
            is_of_us = who is not None and key[2] in ROMANCE and entry.pattern in OF_US
            other = _lover_at(entry.index, romances[who]) if who is not None and is_of_us else None
            assigned[key if who is None or other is None else in_order(who, other, key[2])].append(entry)
    for who, said in gathered.unnamed.items():
        for claim, entry in said:
            is_romance = claim.kind in ROMANCE and not entry.has_ended
            if is_romance and (other := _lover_at(entry.index, romances[who])) is not None:
                assigned[in_order(who, other, claim.kind)].append(entry if who < other else entry.turned())
    return {key: sorted(entries, key=lambda entry: entry.index) for key, entries in assigned.items()}


def _lover_at(index: int, romances: Sequence[tuple[str, Sequence[TieEvidence]]]) -> str | None:
    """Whom most evidence around a line is about, if it is twice as much as for anybody else."""
    near: defaultdict[str, float] = defaultdict(float)
    for other, entries in romances:
        near[other] += sum(entry.height for entry in entries if abs(index - entry.index) < LATELY)
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
