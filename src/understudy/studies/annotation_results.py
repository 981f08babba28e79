"""What a study of annotators gives: the claims that stand, as a cast.toml and as scenes, and how far people agree.

    f1       2 |a & b| / (|a| + |b|) of what two annotators state, their pairs and chapters taken together; `match`
             'whole' is everything that a row says, 'undated' all but its moment, 'subject' only of whom and what it is
    kappa    Cohen's, of whether a subject is annotated at all, over the subjects that a chapter could have: everybody
             whom somebody names in it with every attribute, every two of them with every kind of tie
    alpha    Krippendorff's (interval), of the levels of affection and familiarity that two or more annotators state

`with` says with whom: each other, what was integrated, or what the story's author had written. Intervals draw chapters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from understudy.language.lexical.rows import Reals
from understudy.metrics.agreement import kappa_interval, krippendorff_alpha
from understudy.metrics.ratings import Rating, Scale, rating_tables
from understudy.metrics.statistics import Estimate, Interval, totals_interval
from understudy.people.draft import claim_lines
from understudy.story.storyfile.toml_tables import toml_value
from understudy.story.types import PROFILE, SECRET, Character, Fact, Moment, Relation, Schema
from understudy.studies import Study
from understudy.studies.annotations import (
    FACTS,
    NONE,
    OVER,
    SCENES,
    TIES,
    AnnotatedChapter,
    AnnotatedFact,
    AnnotatedRow,
    AnnotatedScene,
    AnnotatedTie,
    claims_of,
    majority,
)
from understudy.studies.kind import GivenAnswer, answers_by, write_json_lines
from understudy.text import fold

Value = TypeVar("Value", str, tuple[str, ...])
Row = dict[str, Any]
EACH_OTHER, INTEGRATED, AUTHOR = "each other", "integrated", "author"


def annotated_claims(answers: Sequence[GivenAnswer], table: str) -> Iterator[AnnotatedRow]:
    """What was integrated of each chapter or, where nobody has integrated it, what most annotators say."""
    for chapter_answers in _by_chapter(answers).values():
        chapter = AnnotatedChapter.from_document(chapter_answers[0].item.context["chapter"])
        integrated = [each.answer for each in chapter_answers if each.item.after]
        annotated = [each.answer for each in chapter_answers if not each.item.after]
        yield from majority(table, integrated or annotated, chapter)


def _by_chapter(answers: Sequence[GivenAnswer]) -> dict[str, list[GivenAnswer]]:
    """Answers by chapter, in the order of the story."""
    chapters = answers_by(lambda each: each.item.name.partition(".")[0], answers)
    return dict(sorted(chapters.items(), key=lambda chapter: [int(number) for number in chapter[0].split("-")]))


def annotation_figures(study: Study, answers: Sequence[GivenAnswer]) -> list[dict[str, Any]]:
    by_table: dict[str, list[ChapterClaims]] = {}
    for of_chapter in _by_chapter(answers).values():
        item = of_chapter[0].item
        chapter = AnnotatedChapter.from_document(item.context["chapter"])
        for question in item.questions:
            table = question.name
            annotators = {
                each.person: claims_of(table, each.answer, chapter) for each in of_chapter if not each.item.after
            }
            integrated = [claims_of(table, each.answer, chapter) for each in of_chapter if each.item.after]
            author = claims_of(table, item.context["author"], chapter)
            claims = ChapterClaims(chapter, annotators, integrated[0] if integrated else None, author)
            by_table.setdefault(table, []).append(claims)
    return annotation_rows(by_table, study.seed)


def write_scenes(_: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    claims = (claim for claim in annotated_claims(answers, SCENES) if isinstance(claim, AnnotatedScene))
    write_json_lines(path, ({**claim.row(), "present": list(claim.present)} for claim in claims))


def facts_of(claims: Iterable[AnnotatedFact]) -> list[Fact]:
    """The facts that begin or change, in the order of their subjects.

    Annotators say of each chapter what is so; what was so already is no change, and is written once. Several values of
    one attribute from the same moment are one fact.
    """
    timelines: dict[tuple[str, ...], dict[Moment, list[str]]] = {}
    for claim in claims:
        own = (claim.value,) if claim.attribute in (SECRET, PROFILE) else ()
        values = timelines.setdefault((claim.who, claim.attribute, *own), {}).setdefault(claim.since, [])
        if fold(claim.value) not in map(fold, values):
            values.append(claim.value)
    facts: list[Fact] = []
    for (who, attribute, *_), timeline in timelines.items():
        known_to = () if attribute == SECRET else None
        spans = _spans({since: tuple(values) for since, values in timeline.items()}, _in_any_order)
        facts += [
            Fact(who, attribute, values, since, until, known_to) for since, until, values in spans if values != (NONE,)
        ]
    return facts


def ties_of(claims: Iterable[AnnotatedTie]) -> list[Relation]:
    timelines: dict[tuple[str, str, str], dict[Moment, str]] = {}
    for claim in claims:
        timelines.setdefault((claim.of, claim.to, claim.kind), {})[claim.since] = claim.level
    return [
        Relation(*key, int(level) if level else None, since, until)
        for key, timeline in timelines.items()
        for since, until, level in _spans(timeline, str)
        if level != OVER
    ]


def _in_any_order(values: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(fold, values))


def _spans(
    timeline: Mapping[Moment, Value], identity: Callable[[Value], Hashable]
) -> Iterator[tuple[Moment, Moment | None, Value]]:
    """(from, until, value) for each change; what ends is followed by a span of its end."""
    changes: list[tuple[Moment, Value]] = []
    for since in sorted(timeline):
        if not changes or identity(changes[-1][1]) != identity(timeline[since]):
            changes.append((since, timeline[since]))
    for index, (since, value) in enumerate(changes):
        following = changes[index + 1] if index + 1 < len(changes) else None
        ends = following is not None and following[1] in (OVER, (NONE,))
        yield since, following[0] if following is not None and ends else None, value


def cast_text(
    title: str,
    language: str,
    levels: Sequence[str],
    schema: Schema,
    people: Iterable[Character],
    facts: Iterable[Fact],
    ties: Iterable[Relation],
) -> str:
    lines = [f"title = {toml_value(title)}", f"language = {toml_value(language)}", f"levels = {toml_value(levels)}"]
    own_attributes = [word for word in schema.attributes if word not in Schema().attributes]
    own_kinds = [word for word in schema.kinds if word not in Schema().kinds]
    if own_attributes or own_kinds:
        lines += ["", "[schema]", f"attributes = {toml_value(own_attributes)}", f"kinds = {toml_value(own_kinds)}"]
    for character in people:
        lines += ["", "[[character]]", f"name = {toml_value(character.name)}"]
        lines += [f"aliases = {toml_value(character.aliases)}"] if character.aliases else []
        lines += [f"profile = {toml_value(character.profile)}"] if character.profile else []
    claims: list[Fact | Relation] = [*facts, *ties]
    lines += [line for claim in claims for line in claim_lines(claim)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class ChapterClaims:
    """All that was stated of one chapter in one table: by each annotator, by the integrator, and by the author."""

    chapter: AnnotatedChapter
    annotators: Mapping[str, Sequence[AnnotatedRow]]
    integrated: Sequence[AnnotatedRow] | None
    author: Sequence[AnnotatedRow]

    def pairs(self, with_whom: str) -> Iterator[tuple[Sequence[AnnotatedRow], Sequence[AnnotatedRow]]]:
        if with_whom == EACH_OTHER:
            yield from combinations(self.annotators.values(), 2)
        reference = self.integrated if with_whom == INTEGRATED else self.author if with_whom == AUTHOR else None
        if reference:
            yield from ((claims, reference) for claims in self.annotators.values())


def _undated(claim: AnnotatedRow) -> Hashable:
    if isinstance(claim, AnnotatedFact):
        return claim.who, claim.attribute, fold(claim.value)
    return (claim.of, claim.to, claim.kind, claim.level) if isinstance(claim, AnnotatedTie) else claim.key[:2]


Part = Callable[[AnnotatedRow], Hashable]
OF_SCENES: Mapping[str, Part] = {"whole": attrgetter("key"), "subject": attrgetter("subject")}
OF_CLAIMS: Mapping[str, Part] = {"whole": attrgetter("key"), "undated": _undated, "subject": attrgetter("subject")}
MATCHES = {FACTS: OF_CLAIMS, TIES: OF_CLAIMS, SCENES: OF_SCENES}


def annotation_rows(by_table: Mapping[str, Sequence[ChapterClaims]], seed: int = 0) -> list[Row]:
    rows: list[Row] = []
    for table, chapters in by_table.items():
        for with_whom, (match, part) in product((EACH_OTHER, INTEGRATED, AUTHOR), MATCHES[table].items()):
            pairs = [(number, *pair) for number, each in enumerate(chapters) for pair in each.pairs(with_whom)]
            if pairs or with_whom == EACH_OTHER:
                rows.append({"table": table, "with": with_whom, "match": match, **_f1(pairs, part, seed).row()})
        if table != SCENES:
            rows.append({"table": table, "with": EACH_OTHER, "match": "subject", **_kappa(chapters, table, seed).row()})
    levels = _level_alpha(by_table.get(TIES, ()), seed)
    return [*rows, *levels]


def _f1(pairs: Sequence[tuple[int, Sequence[AnnotatedRow], Sequence[AnnotatedRow]]], part: Part, seed: int) -> Estimate:
    counts = []
    for _, ours, theirs in pairs:
        a, b = ({part(claim) for claim in claims} for claims in (ours, theirs))
        counts.append((2 * len(a & b), len(a) + len(b)))
    if not counts or not sum(total for _, total in counts):
        return Estimate.missing("f1", len(counts), "no chapter was annotated by two people")

    def ratio(totals: Reals) -> Reals:
        stated = totals[..., 1]
        return np.where(stated > 0, totals[..., 0] / np.where(stated > 0, stated, 1.0), np.nan)

    chapters = [number for number, _, _ in pairs]
    return _estimate("f1", totals_interval(counts, ratio, chapters, seed), len(counts), chapters)


def _kappa(chapters: Sequence[ChapterClaims], table: str, seed: int) -> Estimate:
    tables, numbers = [], []
    for number, each in enumerate(chapters):
        possible = _possible_subjects(each, table)
        for ours, theirs in combinations(each.annotators.values(), 2):
            a, b = ({claim.subject for claim in claims} for claims in (ours, theirs))
            both, only_a, only_b = len(a & b), len(a - b), len(b - a)
            tables.append([[both, only_a], [only_b, possible - both - only_a - only_b]])
            numbers.append(number)
    if not tables:
        return Estimate.missing("kappa", 0, "no chapter was annotated by two people")
    return _estimate("kappa", kappa_interval(tables, numbers, seed), len(tables), numbers)


def _possible_subjects(each: ChapterClaims, table: str) -> int:
    people: set[str] = set()
    for claims in each.annotators.values():
        for claim in claims:
            if isinstance(claim, AnnotatedFact):
                people.add(claim.who)
            elif isinstance(claim, AnnotatedTie):
                people |= {claim.of, claim.to}
    schema = each.chapter.schema
    if table == FACTS:
        return len(people) * len(schema.attributes)
    return len(list(permutations(people, 2))) * (len(schema.kinds) + len(schema.levels))


def _level_alpha(chapters: Sequence[ChapterClaims], seed: int) -> Iterator[Row]:
    """Of the last level that an annotator states for two people in a chapter."""
    ratings: dict[tuple[str, str, str], Rating] = {}
    for number, person, claim in _levels(chapters):
        item = f"{number}.{claim.subject}"
        ratings[item, person, claim.kind] = Rating(item, person, claim.kind, float(claim.level))
    kinds = dict.fromkeys(rating.question for rating in ratings.values())
    tables = rating_tables(ratings.values(), dict.fromkeys(kinds, Scale("interval")))
    for kind, table in tables.items():
        groups = {item: item.partition(".")[0] for item in table.items}
        alpha = krippendorff_alpha(table, groups, seed)
        yield {"table": TIES, "with": EACH_OTHER, "match": kind, **alpha.row()}


def _levels(chapters: Iterable[ChapterClaims]) -> Iterator[tuple[int, str, AnnotatedTie]]:
    for number, each in enumerate(chapters):
        bounded = {name for name, _, _ in each.chapter.schema.levels}
        for person, claims in each.annotators.items():
            ties = [claim for claim in claims if isinstance(claim, AnnotatedTie) and claim.kind in bounded]
            for claim in sorted(ties, key=lambda claim: claim.since):
                yield number, person, claim


def _estimate(name: str, figure: Interval, n: int, chapters: Sequence[int]) -> Estimate:
    estimate = Estimate.of(name, figure, n, "everybody says the same of everything, which chance explains as well")
    if len(set(chapters)) > 1:
        return estimate
    return Estimate(name, estimate.value, None, None, n, estimate.reason)  # one chapter has no interval
