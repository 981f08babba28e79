"""What is wrong with an annotator's answer, row by row, as it is typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from understudy.errors import InputError
from understudy.story.types import Moment
from understudy.studies.annotations.integration import BY, is_undecided
from understudy.studies.annotations.rows import (
    AnnotatedChapter,
    AnnotatedRow,
    AnnotatedScene,
    AnnotatedTie,
    claims_in,
)
from understudy.studies.item import Answer, Item, Problem

__all__ = ["annotation_problems"]


def annotation_problems(item: Item, answer: Answer) -> list[Problem]:
    chapter = AnnotatedChapter.from_document(item.context["chapter"])
    problems: list[Problem] = []
    for question in item.questions:
        stated: list[tuple[int, AnnotatedRow]] = []
        for index, row in enumerate(answer.get(question.name) or ()):
            try:
                stated += [(index, claim) for claim in claims_in(question.name, row, chapter)]
            except InputError as error:
                problems.append(Problem(question.name, str(error), index))
            else:
                if is_undecided(row):
                    message = f"Not everybody says so ({row[BY]} did): empty the mark to take the row, or delete it."
                    problems.append(Problem(question.name, message, index))
        problems += _contradictions(question.name, stated)
    return problems


def _contradictions(table: str, stated: Sequence[tuple[int, AnnotatedRow]]) -> Iterator[Problem]:
    seen: dict[tuple[str, Moment], AnnotatedRow] = {}
    for index, claim in stated:
        if isinstance(claim, AnnotatedTie) and seen.setdefault((claim.subject, claim.since), claim) != claim:
            yield Problem(table, f"{claim.subject} has two levels from {claim.since.dotted}: keep one", index)
    scenes = sorted(((index, claim) for index, claim in stated if isinstance(claim, AnnotatedScene)), key=_first_line)
    for (_, before), (index, after) in pairwise(scenes):
        if after.first <= before.last:
            yield Problem(table, f"This scene begins before the one from {before.first.dotted} is over.", index)


def _first_line(pair: tuple[int, AnnotatedScene]) -> Moment:
    return pair[1].first
