"""What two people are to each other, told from how they live and speak together: courses over a story.

With the evidence of `acquaintance`, both ways where it says 'both',

    k = ln(1 + close) + 1/2 ln(1 + named both) + 1/2 ln(1 + informal both) - 1/2 ln(1 + formal)
        + 3/2 [kin] - [strangers]
    familiarity = 10 (1 - exp(-max(k, 0) / 3))
    affection   = 10 tanh((k + 1/2 ln(1 + informal both) + 1/2 ln((warm + 1) / (cold + 1))) / 8)

Words of warmth tell little by themselves, what people call each other and how much they seek each other's company tell
more; so affection leans on the same evidence, and is told only where one has said at least five lines to the other.
Its uncertainty is that of the two counts of words, and shrinks with the lines:

    deviation of the argument of tanh = 1/8 sqrt(1/4 (1 / (warm + 1) + 1 / (cold + 1)) + 9 / lines)

Feelings are judged when a scene has ended, from what was said until then, and hold from there until they are judged
otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from understudy.people.acquaintance import Acquaintance, DirectedLine
from understudy.progress import Progress, ignore_progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.found import line_after
from understudy.story.types import Finding, Relation, Scene

__all__ = [
    "AFFECTION",
    "ENOUGH_LINES",
    "FAMILIARITY",
    "Feeling",
    "affection",
    "familiarity",
    "feeling_courses",
    "feelings",
]

AFFECTION, FAMILIARITY = "affection", "familiarity"
MOST = 10
ENOUGH_LINES = {AFFECTION: 5.0, FAMILIARITY: 2.0}
LEAST_CHANGE = {AFFECTION: 2, FAMILIARITY: 1}  # smaller changes of level are not told
SATURATION, AFFECTION_SCALE = 3.0, 8.0
UNCERTAINTY = 9.0  # the variance that one line leaves
TWO_SIDED = 1.96
SOURCES = 3
SURE_LINES = 40.0  # at which confidence is half of the most it can be
MOST_SURE = {AFFECTION: 0.7, FAMILIARITY: 0.8}


@dataclass(frozen=True, slots=True)
class Feeling:
    """A level from a moment on, with its 95% interval."""

    relation: Relation
    low: float
    high: float


def feelings(story: Story, progress: Progress = ignore_progress) -> list[Relation]:
    """The courses of affection and familiarity of everybody towards everybody."""
    return [feeling.relation for feeling in feeling_courses(story, progress)]


def feeling_courses(story: Story, progress: Progress = ignore_progress) -> Iterator[Feeling]:
    """The same with intervals, in story order."""
    acquaintance = Acquaintance(story)
    told: dict[tuple[str, str, str], int] = {}
    total = story.count()[0]
    for number, scene in enumerate(story.scenes()):
        progress("Feelings", number, total)
        if not scene.lines:
            continue
        directed = acquaintance.add(scene)
        for of, to in dict.fromkeys(pair for line in directed for pair in _both_ways(line)):
            for kind in (FAMILIARITY, AFFECTION):
                feeling = _judged(acquaintance, scene, directed, of, to, kind)
                if feeling is None or feeling.relation.level is None:
                    continue
                level, before = feeling.relation.level, told.get(feeling.relation.key)
                if before is None or abs(level - before) >= LEAST_CHANGE[kind]:
                    told[feeling.relation.key] = level
                    yield feeling


def _both_ways(line: DirectedLine) -> tuple[tuple[str, str], tuple[str, str]]:
    return (line.speaker, line.to), (line.to, line.speaker)


def _judged(
    acquaintance: Acquaintance, scene: Scene, directed: list[DirectedLine], of: str, to: str, kind: str
) -> Feeling | None:
    towards, back = acquaintance.towards[of, to], acquaintance.towards[to, of]
    lines = towards.lines if kind == AFFECTION else towards.lines + back.lines
    if lines < ENOUGH_LINES[kind]:
        return None
    level, low, high = affection(acquaintance, of, to) if kind == AFFECTION else familiarity(acquaintance, of, to)
    between = [line for line in directed if {line.speaker, line.to} == {of, to}]
    telling = [line for line in between if line.speaker == of] or between
    strongest = sorted(telling, key=lambda line: -line.probability * (1 + abs(line.tone.value)))[:SOURCES]
    sources = tuple(sorted({line.line.moment for line in strongest}))
    confidence = MOST_SURE[kind] * lines / (lines + SURE_LINES)
    finding = Finding(round(confidence, 3), sources, tuple(dict.fromkeys((of, to, *scene.present))))
    return Feeling(Relation(of, to, kind, round(level), line_after(scene.lines[-1].moment), found=finding), low, high)


def _knowing(acquaintance: Acquaintance, of: str, to: str) -> tuple[float, float]:
    """k, and ln(1 + informal both)."""
    towards, back, together = acquaintance.towards[of, to], acquaintance.towards[to, of], acquaintance.together(of, to)
    informal = math.log1p(towards.informal + back.informal)
    k = math.log1p(together.close) + math.log1p(towards.named + back.named) / 2
    k += informal / 2 - math.log1p(towards.formal) / 2
    return k + 1.5 * acquaintance.are_kin(of, to) - together.strangers, informal


def familiarity(acquaintance: Acquaintance, of: str, to: str) -> tuple[float, float, float]:
    """The level, and the interval that the number of lines leaves."""
    k, _ = _knowing(acquaintance, of, to)
    lines = acquaintance.towards[of, to].lines + acquaintance.towards[to, of].lines
    margin = TWO_SIDED * math.sqrt(UNCERTAINTY / max(lines, 1.0))
    level, low, high = (MOST * (1 - math.exp(-max(value, 0.0) / SATURATION)) for value in (k, k - margin, k + margin))
    return level, low, high


def affection(acquaintance: Acquaintance, of: str, to: str) -> tuple[float, float, float]:
    towards = acquaintance.towards[of, to]
    k, informal = _knowing(acquaintance, of, to)
    warmth = math.log((towards.warm + 1) / (towards.cold + 1)) / 2
    variance = (1 / (towards.warm + 1) + 1 / (towards.cold + 1)) / 4 + UNCERTAINTY / max(towards.lines, 1.0)
    value, margin = k + informal / 2 + warmth, TWO_SIDED * math.sqrt(variance)
    level, low, high = (MOST * math.tanh(each / AFFECTION_SCALE) for each in (value, value - margin, value + margin))
    return level, low, high
