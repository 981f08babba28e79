"""Annotators read a story chapter by chapter and write down who is what, who stands how to whom, and the scenes.

As HPD was annotated: several people annotate each chapter, then somebody who annotated none of it integrates what they
say, with their differences side by side. `--format cast` writes the cast.toml that a story folder reads, `--format
scenes` the scenes as JSON lines. Chapters that nobody has integrated go in with what most of their annotators say.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from understudy.errors import InputError
from understudy.progress import Progress
from understudy.story.storyfile import Story
from understudy.story.storyfile.toml_tables import replace_text
from understudy.story.types import Character, Moment, Scene
from understudy.studies import Study, open_story
from understudy.studies.annotation_results import (
    annotated_claims,
    annotation_figures,
    cast_text,
    facts_of,
    ties_of,
    write_scenes,
)
from understudy.studies.annotations import (
    BY,
    COLUMNS,
    FACTS,
    SCENES,
    TIES,
    AnnotatedChapter,
    AnnotatedFact,
    AnnotatedRow,
    AnnotatedScene,
    AnnotatedTie,
    annotation_problems,
    differences,
    integrated_draft,
    is_undecided,
)
from understudy.studies.item import Block, Option, Question, ShownLine, StudyItem
from understudy.studies.kind import GivenAnswer, Kind
from understudy.text import fold

INTEGRATED = "integrated"
TABLES = (FACTS, TIES, SCENES)
LABELS = {FACTS: "Who is what, and from when on?", TIES: "Who stands how to whom?", SCENES: "Which scenes are there?"}
HELP = {
    FACTS: "One attribute a row; several values with ; between them. Leave From blank for the chapter's beginning, or "
    "copy the number of a scene or line. Write none where something is no longer so. Attributes: {attributes}.",
    TIES: "What the first is to the second or feels for them. Kind is affection (level -10 to 10) or familiarity (0 to "
    "10), or one of these, without a level: {kinds}. Level 'over' says that such a tie ends.",
    SCENES: "Copy the numbers of a scene's first and last line; names with ; between them.",
}
TEMPLATE = """\
kind = "annotate"
title = "Who is what to whom?"
instructions = \"\"\"
Read a chapter, then write down what it tells of its people: what they are and have, and how they stand to each other.
Write only what this chapter tells, or what changes in it, and from which line on it is so.
\"\"\"
consent = "I am at least 18 and take part of my own will. I can stop at any time and have my answers deleted."
people_per_item = 3         # annotators of each chapter
items_per_person = 10
hours = 72
seed = 0

[material]
story = "demo"              # a story file or folder, or demo
by = "chapter"              # what is annotated at once: chapter or scene
within = "1"                # only this part, chapter or episode; leave it out for the whole story
tables = ["facts", "ties", "scenes"]   # what is asked; some of these
integrators = 1             # people who integrate each chapter when its annotators are done; 0 for none
people = []                 # names of people who are in the story but never speak
attributes = []             # attributes besides the usual ones
kinds = []                  # kinds of tie besides the usual ones
"""


@dataclass(frozen=True, slots=True)
class _Material:
    story: Story
    tables: tuple[str, ...]
    people: tuple[Character, ...]
    attributes: tuple[str, ...]
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, study: Study) -> _Material:
        story = open_story(study)
        tables = study.texts("tables", TABLES)
        for table in tables:
            if table not in TABLES:
                raise InputError(f"`tables` under [material] has '{table}': use {', '.join(TABLES)}")
        cast = [member.character for member in story.cast()]
        known = {fold(character.name) for character in cast}
        extra = [Character(name) for name in study.listed("people") if fold(name) not in known]
        return cls(story, tables, (*cast, *extra), study.listed("attributes"), study.listed("kinds"))

    def chapter(self, moment: Moment, scenes: Iterable[Scene]) -> AnnotatedChapter:
        names: dict[str, dict[str, None]] = {}
        for character in self.people:
            for name in (character.name, *character.aliases):
                names.setdefault(fold(name), {})[character.name] = None
        for character in self.people:
            names[fold(character.name)] = {character.name: None}  # a full name is never ambiguous
        schema = self.story.schema.extended(self.attributes, self.kinds)
        lines = {scene.moment.dotted: len(scene.lines) for scene in scenes}
        return AnnotatedChapter(moment, {name: list(people) for name, people in names.items()}, schema, lines)


def _items(study: Study, progress: Progress) -> list[StudyItem]:
    study.only("story", "by", "within", "tables", "integrators", "people", "attributes", "kinds")
    material = _Material.of(study)
    story = material.story
    by = study.choice("by", ("chapter", "scene"))
    within = story.moment(study.text("within")) if study.material.get("within") else None
    scenes = [scene for scene in story.scenes() if within is None or scene.moment.within(within)]
    integrators = study.number("integrators", 1, least=0)
    chapters: list[StudyItem] = []
    integrations: list[StudyItem] = []
    for numbers, group in groupby(scenes, lambda scene: _chapter_numbers(scene, by)):
        own = list(group)
        progress("Items", len(chapters), len(scenes))
        item = _chapter_item(material, Moment(numbers, story.levels), own)
        chapters.append(item)
        if integrators:
            name = f"{item.name}.{INTEGRATED}"
            marked = tuple(_with_mark(question) for question in item.questions)
            integrations.append(replace(item, name=name, questions=marked, people=integrators, after=(item.name,)))
    return chapters + integrations


def _chapter_numbers(scene: Scene, by: str) -> tuple[int, ...]:
    numbers = scene.moment.numbers
    return numbers if by == "scene" else numbers[:-1] or numbers


def _chapter_item(material: _Material, moment: Moment, scenes: Sequence[Scene]) -> StudyItem:
    chapter = material.chapter(moment, scenes)
    questions = tuple(_question(table, chapter) for table in material.tables)
    blocks = tuple(
        Block(
            f"{scene.moment.dotted} {scene.setting}".strip(),
            tuple(ShownLine(line.speaker, f"[{line.moment.dotted}] {line.text}") for line in scene.lines),
        )
        for scene in scenes
    )
    written = {table: [claim.row() for claim in _author(material.story, table, chapter, scenes)] for table in TABLES}
    name = "-".join(map(str, moment.numbers))  # a dot would make chapters of one part a group
    return StudyItem(name, blocks, questions, context={"chapter": chapter.document(), "author": written})


def _question(table: str, chapter: AnnotatedChapter) -> Question:
    levels = [name for name, _, _ in chapter.schema.levels]
    kinds = [kind for kind in chapter.schema.kinds if kind not in levels]
    text = HELP[table].format(attributes=", ".join(chapter.schema.attributes), kinds=", ".join(kinds))
    columns = tuple(Option(column, label) for column, label in COLUMNS[table].items())
    return Question(table, "table", LABELS[table], columns, is_required=False, help=text)


def _with_mark(question: Question) -> Question:
    label = "Said by (empty it to take the row)"
    return replace(question, options=(*question.options, Option(BY, label)))


def _author(story: Story, table: str, chapter: AnnotatedChapter, scenes: Sequence[Scene]) -> Iterator[AnnotatedRow]:
    """What the story's author has written of the chapter, where anything is."""
    if table == FACTS:
        for fact in story.annotated_facts():
            if fact.since.within(chapter.moment):
                yield from (
                    AnnotatedFact(fact.who, fact.attribute, value, fact.since) for value in fact.values if value
                )
    elif table == TIES:
        for tie in story.annotated_relations():
            if tie.since.within(chapter.moment):
                level = "" if tie.level is None else str(tie.level)
                yield AnnotatedTie(tie.of, tie.to, tie.kind, level, tie.since)
    else:
        known = chapter.people
        for scene in scenes:
            if scene.lines:
                present = tuple(name for name in scene.present if name in known)
                yield AnnotatedScene(scene.lines[0].moment, scene.lines[-1].moment, scene.setting, present)


def _prepared(item: StudyItem, answers: Mapping[str, Sequence[GivenAnswer]]) -> StudyItem:
    """The integrator's item: the chapter, where its annotators differ, and their rows with who said them."""
    chapter = AnnotatedChapter.from_document(item.context["chapter"])
    annotated = [each.answer for name in item.after for each in sorted(answers[name], key=lambda each: each.person)]
    tables = [question.name for question in item.questions]
    differing = (differences(table, annotated, chapter) for table in tables)
    blocks = (*item.blocks, *(block for block in differing if block is not None))
    return replace(item, blocks=blocks, default=integrated_draft(tables, annotated, chapter))


def _write_cast(study: Study, answers: Sequence[GivenAnswer], path: Path) -> None:
    material = _Material.of(study)
    story = material.story
    facts = facts_of(claim for claim in annotated_claims(answers, FACTS) if isinstance(claim, AnnotatedFact))
    ties = ties_of(claim for claim in annotated_claims(answers, TIES) if isinstance(claim, AnnotatedTie))
    schema = story.schema.extended(material.attributes, material.kinds)
    replace_text(path, cast_text(story.title, story.language, story.levels, schema, material.people, facts, ties))


def _simulated(item: StudyItem, skill: float, rng: random.Random) -> dict[str, Any]:
    """Annotators state what the author wrote, as far as they are skilled; the integrator takes what most say."""
    if item.default is not None:
        return {
            table: [{**row, BY: ""} for row in rows if not is_undecided(row) or "," in row[BY]]
            for table, rows in item.default.items()
        }
    answer: dict[str, Any] = {}
    chapter = AnnotatedChapter.from_document(item.context["chapter"])
    for question in item.questions:
        rows = [row for row in item.context["author"][question.name] if rng.random() < skill]
        if question.name == FACTS and rng.random() >= skill:
            guessed = {"who": rng.choice(chapter.people), "attribute": "character", "value": "quiet", "from": ""}
            rows = [*rows, guessed]
        answer[question.name] = rows
    return answer


ANNOTATE = Kind(
    "annotate",
    "writes down a chapter's facts, ties and scenes",
    TEMPLATE,
    _items,
    _simulated,
    annotation_problems,
    _prepared,
    outputs={"cast": _write_cast, "scenes": write_scenes},
    figures=annotation_figures,
)
