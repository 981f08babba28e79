"""One finding for all claims of a person that say the same, in order of how much they tell.

Two say the same where their words do, or where their vectors are near and they agree in 'not' and in numbers. Each
further scene makes it more probable:

    confidence = 1 - (1 - p of the best) * product over further scenes of (1 - p / 3)

Of a job, a home, an age, a marital state one has one at a time (`[[slot]]` in statements.toml): a later claim of
another one ends the earlier, unless the earlier is said again after it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np

from understudy.language.encoding import Floats
from understudy.people.claims import Claim
from understudy.people.clauses import filled, pattern, table
from understudy.people.hearsay import TOLD
from understudy.people.plausibility import content_words
from understudy.story.types import Moment

__all__ = ["Found", "Merged", "merged"]

NEAR = 0.85  # cosine of sentences that say the same
AGAIN = 1 / 3  # how much a further scene counts
COUNTED = 5  # further scenes that count
SOURCES = 8  # lines that are kept with a finding
BY_CHANCE = 0.4  # rank of a kind that is said in passing as often as not
SURE = 0.5  # confidence from which on a claim ends another
NEGATION = re.compile(r"\b(?:not|never|no|cannot)\b", re.IGNORECASE)
NUMBER = pattern("number word")


@dataclass(frozen=True, slots=True)
class Found:
    """A claim at its place in the story, with how probable it is and its sentence's vector."""

    claim: Claim
    moment: Moment
    witnesses: tuple[str, ...]
    is_chat: bool
    confidence: float
    vector: Floats

    @property
    def who(self) -> str:
        return self.claim.who


@dataclass(frozen=True, slots=True)
class Merged:
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


@cache
def _slots() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((entry["name"], re.compile(filled(entry["pattern"]), re.IGNORECASE)) for entry in table()["slot"])


def merged(items: Iterable[Found]) -> list[Merged]:
    """The findings of one person, what tells most first."""
    judged = (item if item.is_chat else _in_script(item) for item in items)
    best_first = sorted(judged, key=lambda item: (-item.confidence, item.moment))
    groups: list[list[Found]] = []
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
    return frozenset(match.lower() for match in NUMBER.findall(sentence))


def _agree(first: Found, second: Found) -> bool:
    one, other = first.claim.said.sentence, second.claim.said.sentence
    return bool(NEGATION.search(one)) == bool(NEGATION.search(other)) and _numbers(one) == _numbers(other)


def _merged(group: Sequence[Found]) -> Merged:
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
    return Merged(
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


def _in_script(item: Found) -> Found:
    """The claim as probable as it is in a script. The model knows chats, in which people make up homes and jobs that

    their profile lacks; in a script a plain statement of such a kind is mostly true: 1 - (1 - p) (1 - prior of kind).
    """
    prior = max(_ranks().get(item.claim.said.kind, 0.0) - BY_CHANCE, 0.0)
    return replace(item, confidence=1 - (1 - item.confidence) * (1 - prior))


def _one_at_a_time(findings: Sequence[Merged]) -> list[Merged]:
    ended = list(findings)
    by_slot = defaultdict[str, list[int]](list)
    for index, finding in enumerate(findings):
        slot = next((name for name, pattern in _slots() if pattern.match(finding.sentence)), None)
        if slot is not None:
            by_slot[slot].append(index)
    for indices in by_slot.values():
        in_order = sorted(indices, key=lambda index: findings[index].sources[0])
        for earlier, later in pairwise(in_order):
            begun = findings[later].sources[0]
            is_sure = findings[later].confidence >= min(SURE, findings[earlier].confidence)
            if is_sure and findings[earlier].last < begun and _head(findings[earlier]) != _head(findings[later]):
                ended[earlier] = replace(ended[earlier], until=begun)
    return ended


def _head(finding: Merged) -> str:
    """The last word: 'actor' of 'I am a terrific actor'."""
    return finding.sentence.split()[-1].lower()
