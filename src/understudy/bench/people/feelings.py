"""Familiarity and affection against the levels that authors gave.

The embedded stories are judged at the start of every scene, for everybody present towards everybody else present, and
at the end, for all: the annotated level that holds there against the one told from the lines before.

    familiarity     spearman      over all those; somebody who has not met the other yet counts as 0
    affection       concordance   of two others whom the same speaker feels differently about at the same moment, how
                                  often the one annotated higher is the one told higher; equal ones count half; null .5
    affection-hpd   concordance   of sessions with two different characters who feel differently about Harry (and Harry
                                  about them), the same; after the session, from it and all before it; first the mean
                                  over the sessions of two characters, then over pairs of characters

The condition 'told' takes those where as many lines were said as `feelings` asks for; 'pooled' counts every pair of
sessions alike. Nothing is fitted to these levels, so that no two characters have to be left out; how often they were
looked at when the formula was chosen is said in docs/notes/people-bench.md. Intervals are bootstraps over pairs of
people, over speakers, and over characters. 'lines' tells by the number of lines alone, 'familiarity' by familiarity
alone: what a measure of affection has to beat.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from understudy.bench.run import Figure, Row, figure_row
from understudy.formats import EMBEDDED, read
from understudy.metrics.statistics import RESAMPLES, Interval, interval, spearman, spearman_interval
from understudy.people.feelings import AFFECTION, ENOUGH_LINES, FAMILIARITY, Acquaintance, affection, familiarity
from understudy.story.storyfile import Story
from understudy.story.types import Moment, Relation, Scene, holding_at

if TYPE_CHECKING:
    from understudy.bench.people import BenchInputs


HPD_FILES = ("hpd/en_test_set*.json",)
HERO = "Harry"

Level = Callable[[Acquaintance, str, str], float]


def _lines(acquaintance: Acquaintance, of: str, to: str) -> float:
    return acquaintance.towards[of, to].lines


LEVELS: dict[str, Level] = {
    "feelings": lambda known, of, to: affection(known, of, to)[0],
    "familiarity": lambda known, of, to: familiarity(known, of, to)[0],
    "lines": _lines,
}


@dataclass(frozen=True, slots=True)
class JudgedTie:
    """An annotated level at a moment, and what each measure tells there."""

    story: str
    scene: int
    of: str
    to: str
    level: int
    told: dict[str, float]
    lines: float


def familiarity_embedded(inputs: BenchInputs) -> list[Row]:
    items = _items(inputs, FAMILIARITY)
    if not items:
        return [figure_row({"task": "familiarity"}, "spearman", "no story has annotated levels of familiarity")]

    def row(model: str, condition: str | None, figure: Figure) -> Row:
        return figure_row({"task": "familiarity", "model": model, "condition": condition}, "spearman", figure)

    rows = [row("familiarity", None, (_spearman_interval(items, "familiarity", inputs.seed), len(items)))]
    for story in dict.fromkeys(item.story for item in items):
        own = [item for item in items if item.story == story]
        value = spearman([item.told["familiarity"] for item in own], [item.level for item in own])
        rows.append(row("familiarity", story, (value, len(own))))
    return [*rows, row("lines", None, (_spearman_interval(items, "lines", inputs.seed), len(items)))]


def affection_embedded(inputs: BenchInputs) -> list[Row]:
    task = "affection"
    together: defaultdict[tuple[str, int, str], list[JudgedTie]] = defaultdict(list)
    for item in _items(inputs, AFFECTION):
        together[item.story, item.scene, item.of].append(item)
    pairs = [pair for own in together.values() for pair in combinations(own, 2) if pair[0].level != pair[1].level]
    if not pairs:
        return [figure_row({"task": task}, "concordance", "nobody feels differently about two others")]
    rows = []
    for model in LEVELS:
        for condition, some in ((None, pairs), ("told", [pair for pair in pairs if _are_told(pair)])):
            figure: Figure = "no pair has lines enough"
            if some:
                marks = [_concordant(first, second, model) for first, second in some]
                figure = interval(marks, [(first.story, first.of) for first, _ in some], inputs.seed), len(some)
            rows.append(_concordance(task, model, condition, figure))
        by_speaker: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for first, second in pairs:
            by_speaker[first.story, first.of].append(_concordant(first, second, model))
        means = [float(np.mean(marks)) for marks in by_speaker.values()]
        mean = interval(means, seed=inputs.seed), len(means)
        rows.append(_concordance(task, model, "mean over speakers", mean))
    return rows


def affection_hpd(inputs: BenchInputs) -> list[Row]:
    task = "affection-hpd"
    files = sorted(inputs.judged.glob(HPD_FILES[0]))
    items = [item for file in files for item in _after_sessions(read(file), file.name)]
    rows = []
    for model in LEVELS:
        for towards in (True, False):
            who = f"towards {HERO}" if towards else f"of {HERO}"
            own = [item for item in items if (item.to == HERO) == towards]
            by_pair: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
            for first, second in combinations(own, 2):
                if first.level != second.level and _other(first) != _other(second):
                    first_name, second_name = sorted((_other(first), _other(second)))
                    by_pair[first_name, second_name].append(_concordant(first, second, model))
            if not by_pair:
                rows.append(_concordance(task, model, who, "nobody feels differently"))
                continue
            means = {pair: float(np.mean(marks)) for pair, marks in by_pair.items()}
            rows.append(_concordance(task, model, who, (_character_interval(means, inputs.seed), len(means))))
            pooled = [mark for marks in by_pair.values() for mark in marks]
            rows.append(_concordance(task, model, f"{who}, pooled", (float(np.mean(pooled)), len(pooled))))
    return rows


def _concordance(task: str, model: str, condition: str | None, figure: Figure) -> Row:
    return figure_row({"task": task, "model": model, "condition": condition}, "concordance", figure)


def _stories(inputs: BenchInputs) -> Iterator[tuple[str, Story]]:
    """Story folders of one's own, in stories/; else the embedded ones."""
    own = [] if inputs.judge is None else sorted((inputs.judge / "stories").glob("*/cast.toml"))
    yield from ((path.parent.name, read(path.parent)) for path in own)
    if not own:
        yield from ((name, read(name)) for name in EMBEDDED)


def _items(inputs: BenchInputs, kind: str) -> list[JudgedTie]:
    return [item for name, story in _stories(inputs) for item in _at_scenes(name, story, kind)]


def _at_scenes(name: str, story: Story, kind: str) -> Iterator[JudgedTie]:
    annotated = [tie for tie in story.relations() if tie.kind == kind]
    known, number = Acquaintance(story), 0
    for number, scene in enumerate(story.scenes()):
        yield from _present(name, number, scene, annotated, known)
        known.add(scene)
    yield from (_item(name, number + 1, tie, known) for tie in holding_at(annotated, Moment.end()))


def _after_sessions(story: Story, name: str) -> Iterator[JudgedTie]:
    annotated = [tie for tie in story.relations() if tie.kind == AFFECTION and HERO in (tie.of, tie.to)]
    known = Acquaintance(story)
    for number, scene in enumerate(story.scenes()):
        known.add(scene)
        yield from _present(name, number, scene, annotated, known)


def _present(
    name: str, number: int, scene: Scene, annotated: Sequence[Relation], known: Acquaintance
) -> Iterator[JudgedTie]:
    """The annotated ties between people of a scene, as they are at it."""
    for tie in holding_at(annotated, scene.moment):
        if tie.of in scene.present and tie.to in scene.present:
            yield _item(name, number, tie, known)


def _item(story: str, scene: int, tie: Relation, known: Acquaintance) -> JudgedTie:
    assert tie.level is not None
    lines = known.towards[tie.of, tie.to].lines
    told = {name: level(known, tie.of, tie.to) for name, level in LEVELS.items()}
    return JudgedTie(story, scene, tie.of, tie.to, tie.level, told, lines)


def _are_told(pair: tuple[JudgedTie, JudgedTie]) -> bool:
    return all(item.lines >= ENOUGH_LINES[AFFECTION] for item in pair)


def _other(item: JudgedTie) -> str:
    return item.of if item.to == HERO else item.to


def _concordant(first: JudgedTie, second: JudgedTie, model: str) -> float:
    difference = (first.told[model] - second.told[model]) * (first.level - second.level)
    return 1.0 if difference > 0 else 0.5 if difference == 0 else 0.0


def _spearman_interval(items: Sequence[JudgedTie], model: str, seed: int) -> Interval:
    """Resampled are pairs of people, with all their moments."""
    told, levels = [item.told[model] for item in items], [item.level for item in items]
    return spearman_interval(told, levels, [(item.story, item.of, item.to) for item in items], seed)


def _character_interval(means: dict[tuple[str, str], float], seed: int) -> Interval:
    """Resampled are characters: a pair counts as often as both were drawn."""
    people = sorted({who for pair in means for who in pair})
    index = {who: number for number, who in enumerate(people)}
    first, second = (np.array([index[pair[side]] for pair in means]) for side in (0, 1))
    values = np.array(list(means.values()))
    drawn = np.random.default_rng(seed).multinomial(len(people), np.full(len(people), 1 / len(people)), RESAMPLES)
    weights = drawn[:, first] * drawn[:, second]
    used = weights.sum(axis=1) > 0
    resampled = (weights[used] @ values) / weights[used].sum(axis=1)
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Interval(float(values.mean()), float(low), float(high))
