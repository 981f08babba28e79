"""How well the cast found in a novel agrees with an annotated one.

    found       the share of annotated people with somebody of ours who has one of their names and none of another's
    pure        the share of ours, of those who have an annotated name, who have names of one person only
    split       the share of annotated people found who are several of ours
    gender      the share of ours with the annotated gender, of those who are one annotated man or woman
    somebody    the share of ours who have a name that the annotation has at all

Names are compared without case, full stops and a leading article. A name that two annotated people share is neither's.
The annotation also lists names that are only talked of and that nobody reviewed; they are no people to be found, but
what has one of them is somebody.
"""

from __future__ import annotations

import ast
import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from understudy.novels.prose import NovelCharacter

__all__ = ["AnnotatedCharacter", "CastFigures", "annotated_cast", "cast_figures"]

LEADING = ("the ", "a ", "an ", "my dear ", "my dearest ")
NARRATOR = "_narr"
NOBODY = ("_", "Unknowable")
MINOR = "minor"


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


def _share(outcomes: Sequence[bool]) -> float | None:
    return sum(outcomes) / len(outcomes) if outcomes else None
