"""Facts found in a story's text: profile sentences in the first person, and attributes where a sentence names one.

    claims of every scene and how probable each is (`claims`)  ->  one for all that say the same

Something is known from the line after the one that says it first, to those who were there. What can only be so one at
a time (where somebody lives, how old they are) ends where the next begins. Of somebody who says much, what tells most
is kept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np

from understudy.language.encoding import Encoder, Floats
from understudy.language.encoding.encoder import SentenceEncoder
from understudy.people.claims import (
    TOLD,
    TYPICAL_LIKENESS,
    Claim,
    SceneSpeech,
    claims_of,
    content_words,
    features,
    shipped_model,
)
from understudy.people.own_words import entries, pattern, table
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import line_after
from understudy.story.types import PROFILE, Fact, Finding, Moment, Scene
from understudy.text import sole_owners

SAME = 0.6  # cosine from which on two sentences are taken to tell of the same
ALIKE = 0.5  # cosine from which on a sentence supports another
MOST = 40  # findings that are kept of one person
LEAST = 0.1  # confidence of what is kept
AT_ONCE = 2_000  # claims that are encoded together


@dataclass(frozen=True, slots=True)
class WitnessedClaim:
    """A claim at its place in the story: after which moment it is known, and to whom."""

    claim: Claim
    moment: Moment
    witnesses: tuple[str, ...]
    is_chat: bool


def encoded(sentences: Sequence[str], encoder: Encoder) -> Floats:
    """Vectors of sentences of a profile, written as profiles are: with a full stop."""
    return encoder.encode([f"{sentence.rstrip('. ')}." for sentence in sentences], "own")


def rows_of(claims: Sequence[Claim], vectors: Floats, encoder: Encoder) -> list[list[float]]:
    """The model's features of the claims of one scene."""
    cosines = vectors @ vectors.T
    before = dict(_encoded_before(claims, encoder))
    rows = []
    for index, claim in enumerate(claims):
        others = [other for other, it in enumerate(claims) if it.who == claim.who and it.number != claim.number]
        support = cosines[index, others]
        likeness = max((float(before[text] @ vectors[index]) for text in claim.before), default=TYPICAL_LIKENESS)
        rows.append(features(claim, likeness, float(support.max(initial=0.0)), int((support > ALIKE).sum())))
    return rows


def _encoded_before(claims: Sequence[Claim], encoder: Encoder) -> Iterator[tuple[str, Floats]]:
    texts = list(dict.fromkeys(text for claim in claims for text in claim.before))
    return zip(texts, encoder.encode(texts, "own")) if texts else iter(())


def statements(story: Story, progress: Progress = ignore_progress, encoder: Encoder | None = None) -> list[Fact]:
    """The facts that the story's text states, each with `found`, in order of their dates."""
    if story.language != "en":
        return []
    encoder, people = encoder or SentenceEncoder(), _names(story)
    total, _ = story.count()
    judged, waiting = list[JudgedClaim](), list[list[WitnessedClaim]]()
    for number, scene in enumerate(story.scenes(), 1):
        if witnessed := _heard(story, scene, people):
            waiting.append(witnessed)
        if number == total or sum(map(len, waiting)) >= AT_ONCE:
            judged += _judged(waiting, encoder)
            waiting = []
        progress("finding facts", number, total)
    return sorted(_facts(_by_person(judged)), key=lambda fact: fact.since)


def statements_in_talk(speeches: Sequence[SceneSpeech], encoder: Encoder) -> dict[str, list[MergedClaims]]:
    """What two people who chat say of themselves, by speaker, what tells most first."""
    claims = claims_of(speeches, {}, is_chat=True)
    witnessed = [WitnessedClaim(claim, Moment((1, claim.number)), (), True) for claim in claims]
    return {who: merged(items) for who, items in _by_person(_judged([witnessed], encoder)).items()}


def _by_person(judged: Iterable[JudgedClaim]) -> dict[str, list[JudgedClaim]]:
    by_person = defaultdict[str, list[JudgedClaim]](list)
    for item in judged:
        by_person[item.claim.who].append(item)
    return by_person


def _names(story: Story) -> dict[str, str]:
    """Whose each name is, or part of a name, that only one person has."""
    people = [member.character for member in story.cast()]
    forms = sole_owners(
        (form, person.name) for person in people for name in person.names for form in (name, name.split()[0])
    )
    return {form: who for form, who in forms.items() if form[:1].isupper()}


def _heard(story: Story, scene: Scene, people: Mapping[str, str]) -> list[WitnessedClaim]:
    speeches = [SceneSpeech(line.speaker, line.text, number) for number, line in enumerate(scene.lines, 1)]
    is_chat = _is_chat(scene)
    claims = list(claims_of(speeches, people, is_chat))
    if not claims:
        return []
    intervals = story.presence_intervals(scene.moment)
    return [
        WitnessedClaim(claim, scene.lines[claim.number - 1].moment, _present(intervals, claim.number), is_chat)
        for claim in claims
    ]


def _present(intervals: Sequence[tuple[str, int, int]], number: int) -> tuple[str, ...]:
    """Who was there for a line of the scene."""
    return tuple(dict.fromkeys(name for name, first, last in intervals if first <= number <= last))


def _is_chat(scene: Scene) -> bool:
    """Do two people talk, with nothing described?"""
    speakers = {line.speaker for line in scene.lines}
    return not scene.setting and None not in speakers and len(speakers) == 2


def _judged(scenes: Sequence[Sequence[WitnessedClaim]], encoder: Encoder) -> Iterator[JudgedClaim]:
    model = shipped_model()
    vectors = encoded([witnessed.claim.said.sentence for scene in scenes for witnessed in scene], encoder)
    start = 0
    for scene in scenes:
        own = vectors[start : start + len(scene)]
        start += len(scene)
        probable = model.probabilities(rows_of([witnessed.claim for witnessed in scene], own, encoder), own)
        for witnessed, vector, confidence in zip(scene, own, probable.tolist()):
            yield JudgedClaim(
                witnessed.claim, witnessed.moment, witnessed.witnesses, witnessed.is_chat, confidence, vector
            )


def _facts(judged: Mapping[str, Iterable[JudgedClaim]]) -> Iterator[Fact]:
    for who, items in judged.items():
        findings = [item for item in merged(items) if item.confidence >= LEAST][:MOST]
        for item in findings:
            yield Fact(
                who, PROFILE, (item.sentence,), line_after(item.sources[0]),
                line_after(item.until) if item.until else None,
                found=Finding(round(item.confidence, 3), item.sources, item.witnesses),
            )  # fmt: skip
        yield from attribute_facts(who, findings, line_after)


# Attributes of a person, where a found sentence names one: 'I am a nurse' -> title 'a nurse'.

SURE = 0.5  # confidence from which on an attribute is named
MOST_VALUES = 3


def attribute_of(sentence: str) -> tuple[str, str] | None:
    """(attribute, value) that a sentence in the first person names."""
    for expression, entry in entries("attribute"):
        if match := expression.fullmatch(sentence):
            return entry["name"], entry.get("value") or next(filter(None, match.groups()))
    return None


def attribute_facts(who: str, findings: Sequence[MergedClaims], after: Callable[[Moment], Moment]) -> Iterator[Fact]:
    """One fact for each new value; of attributes that one can have several of it repeats those before it.

    Whoever is to know a fact must have heard all of its values.
    """
    by_attribute: dict[str, list[tuple[str, MergedClaims]]] = {}
    for item in findings:
        named = attribute_of(item.sentence)
        if named is not None and item.confidence >= SURE:
            values = by_attribute.setdefault(named[0], [])
            if len(values) < MOST_VALUES and named[1] not in {value for value, _ in values}:
                values.append((named[1], item))
    for attribute, values in by_attribute.items():
        values.sort(key=lambda value: value[1].sources[0])
        several = attribute in table()["several"]
        for nth, (value, item) in enumerate(values):
            together = values[: nth + 1] if several else [(value, item)]
            known = set(together[0][1].witnesses).intersection(*(each.witnesses for _, each in together))
            yield Fact(
                who,
                attribute,
                tuple(name for name, _ in together),
                after(item.sources[0]),
                found=Finding(
                    round(min(each.confidence for _, each in together), 3),
                    tuple(sorted(each.sources[0] for _, each in together)),
                    tuple(name for name in item.witnesses if name in known),
                ),
            )


# One finding for all claims of a person that say the same, in order of how much they tell.
#
# Two say the same where their words do, or where their vectors are near and they agree in 'not' and in numbers. Each
# further scene makes it more probable:
#
#     confidence = 1 - (1 - p of the best) * product over further scenes of (1 - p / 3)
#
# Of a job, a home, an age, a marital state one has one at a time (`[[slot]]` in statements.toml): a later claim of
# another one ends the earlier, unless the earlier is said again after it.


NEAR = 0.85  # cosine of sentences that say the same
AGAIN = 1 / 3  # how much a further scene counts
COUNTED = 5  # further scenes that count
SOURCES = 8  # lines that are kept with a finding
BY_CHANCE = 0.4  # rank of a kind that is said in passing as often as not
SURE_TO_END = 0.5  # confidence from which on a claim ends another
NEGATION = re.compile(r"\b(?:not|never|no|cannot)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JudgedClaim(WitnessedClaim):
    """The same with how probable it is, and its sentence's vector."""

    confidence: float
    vector: Floats


@dataclass(frozen=True, slots=True)
class MergedClaims:
    """What some claims say in one sentence."""

    sentence: str
    kind: str
    confidence: float
    sources: tuple[Moment, ...]
    witnesses: tuple[str, ...]
    telling: float
    """How much it tells of somebody, and how surely: findings are ordered by it."""
    last: Moment
    """The last line that says it."""
    until: Moment | None = None


@cache
def _ranks() -> dict[str, float]:
    return {entry["name"]: float(entry["rank"]) for entry in table()["kind"]}


def merged(items: Iterable[JudgedClaim]) -> list[MergedClaims]:
    """The findings of one person, what tells most first."""
    judged = (item if item.is_chat else _in_script(item) for item in items)
    best_first = sorted(judged, key=lambda item: (-item.confidence, item.moment))
    groups: list[list[JudgedClaim]] = []
    rows = np.zeros((len(best_first), len(best_first[0].vector) if best_first else 0), np.float32)
    by_words = dict[tuple[object, ...], int]()
    for item in best_first:
        key = _key(item.claim.said.sentence)
        group = by_words.get(key)
        if group is None and groups:
            near = rows[: len(groups)] @ item.vector
            closest = int(near.argmax())
            if near[closest] >= NEAR and _agree(item, groups[closest][0]):
                group = closest
        if group is None:
            by_words[key] = len(groups)
            rows[len(groups)] = item.vector
            groups.append([item])
        else:
            groups[group].append(item)
    findings = [_merged(group) for group in groups]
    return sorted(_one_at_a_time(findings), key=lambda finding: -finding.telling)


def _key(sentence: str) -> tuple[object, ...]:
    words = content_words(sentence)
    return (sentence.lower(),) if len(words) < 2 else (words, bool(NEGATION.search(sentence)), _numbers(sentence))


def _numbers(sentence: str) -> frozenset[str]:
    return frozenset(match.lower() for match in pattern("number word").findall(sentence))


def _agree(first: JudgedClaim, second: JudgedClaim) -> bool:
    one, other = first.claim.said.sentence, second.claim.said.sentence
    return bool(NEGATION.search(one)) == bool(NEGATION.search(other)) and _numbers(one) == _numbers(other)


def _merged(group: Sequence[JudgedClaim]) -> MergedClaims:
    best = group[0]
    lines = {item.moment: item for item in sorted(group, key=lambda item: item.confidence)}
    scenes = {item.moment.numbers[:-1]: item.confidence for item in lines.values()}  # the best of each
    further = sorted((sure for scene, sure in scenes.items() if scene != best.moment.numbers[:-1]), reverse=True)
    doubt = 1 - best.confidence
    for confidence in further[:COUNTED]:
        doubt *= 1 - confidence * AGAIN
    in_order = sorted(lines.values(), key=lambda item: item.moment)
    said = best.claim.said
    is_once = len(scenes) == 1 and not best.is_chat
    confidence = (1 - doubt) * (ONCE.get(said.form, 1.0) if is_once else 1.0)
    return MergedClaims(
        said.sentence,
        said.kind,
        confidence,
        tuple(item.moment for item in in_order[:SOURCES]),
        tuple(dict.fromkeys(name for item in in_order for name in item.witnesses)),
        confidence * (0.5 + _ranks().get(said.kind, 0.0)),
        in_order[-1].moment,
    )


ONCE = {TOLD: 0.8, "granted": 0.85}
"""What is left of the confidence of a script's sentence of this form that only one scene has."""


def _in_script(item: JudgedClaim) -> JudgedClaim:
    """The claim as probable as it is in a script. The model knows chats, in which people make up homes and jobs that

    their profile lacks; in a script a plain statement of such a kind is mostly true: 1 - (1 - p) (1 - prior of kind).
    """
    prior = max(_ranks().get(item.claim.said.kind, 0.0) - BY_CHANCE, 0.0)
    return replace(item, confidence=1 - (1 - item.confidence) * (1 - prior))


def _one_at_a_time(findings: Sequence[MergedClaims]) -> list[MergedClaims]:
    ended = list(findings)
    by_slot = defaultdict[str, list[int]](list)
    for index, finding in enumerate(findings):
        slot = next(
            (entry["name"] for expression, entry in entries("slot") if expression.match(finding.sentence)), None
        )
        if slot is not None:
            by_slot[slot].append(index)
    for indices in by_slot.values():
        in_order = sorted(indices, key=lambda index: findings[index].sources[0])
        for earlier, later in pairwise(in_order):
            begun = findings[later].sources[0]
            is_sure = findings[later].confidence >= min(SURE_TO_END, findings[earlier].confidence)
            if is_sure and findings[earlier].last < begun and _head(findings[earlier]) != _head(findings[later]):
                ended[earlier] = replace(ended[earlier], until=begun)
    return ended


def _head(finding: MergedClaims) -> str:
    """The last word: 'actor' of 'I am a terrific actor'."""
    return finding.sentence.split()[-1].lower()
