"""A cast.toml of what was annotated: facts and ties from the moment they begin or change.

Annotators say of each chapter what is so; what was so already is no change, and is written once. Several values of one
attribute from the same moment are one fact.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from understudy.people.draft import claim_lines
from understudy.story.storyfile.toml_tables import toml_value
from understudy.story.types import PROFILE, SECRET, Character, Fact, Moment, Relation, Schema
from understudy.studies.annotations.rows import NONE, OVER, AnnotatedFact, AnnotatedTie
from understudy.text import fold

__all__ = ["cast_text", "facts_of", "ties_of"]

Value = TypeVar("Value", str, tuple[str, ...])


def facts_of(claims: Iterable[AnnotatedFact]) -> list[Fact]:
    """The facts that begin or change, in the order of their subjects."""
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
