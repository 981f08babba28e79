"""What is found in the text of a novel, against its annotation: quotations, cast, and who says what.

Of quotations, stretches are compared: what stands between one pair of marks. An annotation that leaves out a quotation
within a quotation, or the narrator's brackets in it, has several parts there; they are one stretch. Marks, blanks and
punctuation at the ends do not count.

    overlap(a, b) = |a and b| / |a or b|      in characters
    recall        the share of the annotated stretches for which one of ours has an overlap of 1/2 or more
    precision     the share of ours for which an annotated one has

Of the cast:

    found       the share of annotated people with somebody of ours who has one of their names and none of another's
    pure        the share of ours, of those who have an annotated name, who have names of one person only
    split       the share of annotated people found who are several of ours
    gender      the share of ours with the annotated gender, of those who are one annotated man or woman
    somebody    the share of ours who have a name that the annotation has at all

Names are compared without case, full stops and a leading article. A name that two annotated people share is neither's.
The annotation also lists names that are only talked of and that nobody reviewed; they are no people to be found, but
what has one of them is somebody.

An annotated quotation has the right speaker if the found quotation that shares most of its text has a speaker who has a
name of the annotated one.
"""

from __future__ import annotations

import ast
import csv
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from understudy.novels.attribution import QuotationModel, attribute
from understudy.novels.cast import find_cast
from understudy.novels.parsing import parse_prose
from understudy.novels.prose import NovelCharacter, Prose, Quotation, Span
from understudy.training.pdnc import AnnotatedNovel

MARKS = frozenset('"“”«»„「」『』')
ENOUGH = 0.5
LEADING = ("the ", "a ", "an ", "my dear ", "my dearest ")
NARRATOR = "_narr"
NOBODY = ("_", "Unknowable")
MINOR = "minor"


@dataclass(frozen=True, slots=True)
class QuotationFigures:
    """Shares 0..1, None where there is nothing to count."""

    precision: float | None
    recall: float | None


def quotation_figures(found: Prose, annotated: Prose) -> QuotationFigures:
    """Compare two analyses of the same text."""
    ours, theirs = _stretches(found), _stretches(annotated)
    return QuotationFigures(_share(_matched(ours, theirs)), _share(_matched(theirs, ours)))


def _share(outcomes: Sequence[bool]) -> float | None:
    return sum(outcomes) / len(outcomes) if outcomes else None


def _stretches(prose: Prose) -> list[Span]:
    """In order, each once."""
    united = (_trimmed(prose.text, span) for quotation in prose.quotations for span in _united(prose.text, quotation))
    return sorted({stretch for stretch in united if stretch.start < stretch.end})


def _united(text: str, quotation: Quotation) -> list[Span]:
    spans: list[Span] = []
    for part in sorted(quotation.parts):
        if (
            spans
            and MARKS.isdisjoint(text[spans[-1].end : part.start])
            and "\n\n" not in text[spans[-1].end : part.start]
        ):
            spans[-1] = Span(spans[-1].start, part.end)
        else:
            spans.append(part)
    return spans


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return Span(start, end)


def _matched(spans: Sequence[Span], others: Sequence[Span]) -> list[bool]:
    """Whether each has one of `others` that overlaps enough; both are in order."""
    starts = [other.start for other in others]
    matched = []
    for span in spans:
        first, last = max(bisect_right(starts, span.start) - 1, 0), bisect_left(starts, span.end)
        matched.append(any(_overlap(span, other) >= ENOUGH for other in others[first:last]))
    return matched


def _overlap(a: Span, b: Span) -> float:
    shared = min(a.end, b.end) - max(a.start, b.start)
    return max(shared, 0) / (max(a.end, b.end) - min(a.start, b.start))


@dataclass(frozen=True, slots=True)
class AnnotatedCharacter:
    """`category` is 'major', 'intermediate' or 'minor'; `gender` 'm', 'f' or ''."""

    name: str
    aliases: frozenset[str]
    gender: str
    category: str
    is_narrator: bool
    is_reviewed: bool


@dataclass(frozen=True, slots=True)
class CastFigures:
    """Shares 0..1, None where there is nothing to count; `missed` are major and intermediate people not found."""

    found: float | None
    found_minor: float | None
    pure: float | None
    split: float | None
    gender: float | None
    somebody: float | None
    size: int
    missed: tuple[str, ...]


def annotated_cast(folder: Path) -> list[AnnotatedCharacter]:
    """Reads a novel's character_info.csv; groups and speakers whom nobody can name are left out."""
    people = []
    with (folder / "character_info.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["Main Name"].startswith(NOBODY):
                continue
            aliases = {*ast.literal_eval(row["Aliases"]), row["Main Name"]}
            people.append(
                AnnotatedCharacter(
                    row["Main Name"],
                    frozenset(aliases - {NARRATOR}),
                    {"M": "m", "F": "f"}.get(row["Gender"], ""),
                    row["Category"],
                    NARRATOR in aliases,
                    row["Aliases"].startswith("{"),  # what nobody reviewed is written as a list
                )
            )
    return people


def cast_figures(found: Sequence[NovelCharacter], gold: Sequence[AnnotatedCharacter]) -> CastFigures:
    owners: dict[str, set[str]] = defaultdict(set)
    for person in gold:
        for alias in person.aliases if person.is_reviewed else ():
            owners[_plain(alias)].add(person.name)
    mentioned = {_plain(alias) for person in gold for alias in person.aliases}
    narrators = {person.name for person in gold if person.is_narrator}
    matches = [_matches(character, owners, narrators) for character in found]
    ours: dict[str, list[NovelCharacter]] = defaultdict(list)
    for character, matched in zip(found, matches):
        if len(matched) == 1:
            ours[next(iter(matched))].append(character)
    people = [person for person in gold if person.is_reviewed]
    leading = [person.name for person in people if person.category != MINOR]
    minor = [person.name for person in people if person.category == MINOR]
    genders = [
        character.gender == person.gender
        for person in people
        if person.gender
        for character in ours.get(person.name, ())
    ]
    return CastFigures(
        found=_share([name in ours for name in leading]),
        found_minor=_share([name in ours for name in minor]),
        pure=_share([len(each) == 1 for each in matches if each]),
        split=_share([len(each) > 1 for each in ours.values()]),
        gender=_share(genders),
        somebody=_share([bool(each) or not _names(c).isdisjoint(mentioned) for c, each in zip(found, matches)]),
        size=len(found),
        missed=tuple(name for name in leading if name not in ours),
    )


def _matches(character: NovelCharacter, owners: Mapping[str, set[str]], narrators: set[str]) -> set[str]:
    named = [owners[name] for name in _names(character) if len(owners.get(name, ())) == 1]
    return set[str]().union(*named, narrators if character.is_narrator else ())


def _names(character: NovelCharacter) -> set[str]:
    return {_plain(name) for name in (character.name, *character.aliases)}


def _plain(name: str) -> str:
    plain = " ".join(name.lower().replace(".", "").replace("’", "'").split())
    for word in LEADING:
        plain = plain.removeprefix(word)
    return plain


@dataclass(frozen=True)
class FoundNovel:
    """`is_right` has an entry for each annotated quotation: is its speaker the one who was found?"""

    quotations: QuotationFigures
    cast: CastFigures
    is_right: NDArray[np.bool_]


def read_found(novel: AnnotatedNovel, people: list[AnnotatedCharacter], model: QuotationModel) -> FoundNovel:
    prose = parse_prose(novel.prose.text, "en")
    cast = find_cast(prose)
    speakers = [each.speaker for each in attribute(prose, cast, model)]
    names = {who.name: _names_of((who.name, *who.aliases)) for who in cast}
    gold = [_names_of((who.name, *who.aliases)) for who in novel.cast]
    right = []
    for speaker, index in zip(novel.speakers, _overlapping(novel.prose, prose)):
        who = None if index is None else speakers[index]
        right.append(speaker >= 0 and who is not None and bool(names[who] & gold[speaker]))
    return FoundNovel(quotation_figures(prose, novel.prose), cast_figures(cast, people), np.array(right, np.bool_))


def _names_of(names: Iterable[str]) -> set[str]:
    return {" ".join(name.replace(".", " ").lower().removeprefix("the ").split()) for name in names}


def _overlapping(annotated: Prose, found: Prose) -> list[int | None]:
    """For each annotated quotation the found one that shares most of its characters."""
    owner = np.full(len(annotated.text) + 1, -1, np.int64)
    for index, quotation in enumerate(found.quotations):
        for part in quotation.parts:
            owner[part.start : part.end] = index
    result: list[int | None] = []
    for quotation in annotated.quotations:
        inside = np.concatenate([owner[part.start : part.end] for part in quotation.parts])
        inside = inside[inside >= 0]
        result.append(int(np.bincount(inside).argmax()) if len(inside) else None)
    return result
