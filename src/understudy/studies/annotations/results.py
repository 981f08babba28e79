"""What a study of annotators gives: the claims that stand, the scenes, and how far people agreed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from understudy.story.storyfile.toml_tables import replace_text
from understudy.studies.annotations.agreement import ChapterClaims, annotation_rows
from understudy.studies.annotations.integration import majority
from understudy.studies.annotations.rows import SCENES, AnnotatedChapter, AnnotatedRow, AnnotatedScene, claims_of
from understudy.studies.item import Item
from understudy.studies.kind import GivenAnswer
from understudy.studies.study import Study

__all__ = ["annotated_claims", "annotation_figures", "write_scenes"]


def annotated_claims(given: Sequence[GivenAnswer], table: str) -> Iterator[AnnotatedRow]:
    """What was integrated of each chapter or, where nobody has integrated it, what most annotators say."""
    for chapter_answers in _by_chapter(given).values():
        chapter = AnnotatedChapter.from_document(chapter_answers[0].item.context["chapter"])
        integrated = [each.answer for each in chapter_answers if each.item.after]
        annotated = [each.answer for each in chapter_answers if not each.item.after]
        yield from majority(table, integrated or annotated, chapter)


def _by_chapter(given: Sequence[GivenAnswer]) -> dict[str, list[GivenAnswer]]:
    """Answers by chapter, in the order of the story."""
    chapters: dict[str, list[GivenAnswer]] = {}
    for each in sorted(given, key=lambda each: _numbers(each.item)):
        chapters.setdefault(each.item.name.partition(".")[0], []).append(each)
    return chapters


def _numbers(item: Item) -> list[int]:
    return [int(number) for number in item.name.partition(".")[0].split("-")]


def annotation_figures(study: Study, given: Sequence[GivenAnswer]) -> list[dict[str, Any]]:
    by_table: dict[str, list[ChapterClaims]] = {}
    for answers in _by_chapter(given).values():
        item = answers[0].item
        chapter = AnnotatedChapter.from_document(item.context["chapter"])
        for question in item.questions:
            table = question.name
            annotators = {
                each.person: claims_of(table, each.answer, chapter) for each in answers if not each.item.after
            }
            integrated = [claims_of(table, each.answer, chapter) for each in answers if each.item.after]
            author = claims_of(table, item.context["author"], chapter)
            claims = ChapterClaims(chapter, annotators, integrated[0] if integrated else None, author)
            by_table.setdefault(table, []).append(claims)
    return annotation_rows(by_table, study.seed)


def write_scenes(_: Study, given: Sequence[GivenAnswer], path: Path) -> None:
    lines = []
    for claim in annotated_claims(given, SCENES):
        if isinstance(claim, AnnotatedScene):
            lines.append(json.dumps({**claim.row(), "present": list(claim.present)}, ensure_ascii=False))
    replace_text(path, "".join(f"{line}\n" for line in lines))
