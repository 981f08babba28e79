"""A character's ties grouped by person, in the order in which the character came to know them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from understudy.persona import Persona
from understudy.server.lookup import shown_names
from understudy.story import Moment, Relation
from understudy.storyfile import Story
from understudy.wording import tie_sentence

__all__ = ["Bond", "bonds_of", "known_since"]


@dataclass(frozen=True, slots=True)
class Bond:
    """All ties of the character to one person at the moment."""

    name: str
    rank: int
    """0 for the person known first; it does not change when more people become known."""
    affection: Relation | None
    familiarity: Relation | None
    kinds: tuple[Relation, ...]
    """Ties without a level (friend, opponent ...), newest first."""
    sentences: tuple[str, ...]

    @property
    def feeling(self) -> int | None:
        return None if self.affection is None else self.affection.level

    @property
    def nearness(self) -> int | None:
        return None if self.familiarity is None else self.familiarity.level


def bonds_of(persona: Persona, known: dict[str, Moment]) -> list[Bond]:
    """Ties by person, in the order of acquaintance; a person who is faced without being known comes last."""
    ties: dict[str, list[Relation]] = {}
    for tie in persona.relations:
        ties.setdefault(tie.to, []).append(tie)
    ranks = {name: rank for rank, name in enumerate([*known, *(name for name in ties if name not in known)])}
    order = sorted(ties, key=lambda name: ranks[name])
    return [_bond(name, ranks[name], ties[name], persona.language) for name in order]


def _bond(name: str, rank: int, ties: list[Relation], language: str) -> Bond:
    newest = {tie.kind: tie for tie in ties}
    return Bond(
        name,
        rank,
        newest.get("affection"),
        newest.get("familiarity"),
        tuple(sorted((tie for tie in ties if tie.level is None), key=lambda tie: tie.since, reverse=True)),
        tuple(tie_sentence(tie, language) for tie in ties),
    )


def known_since(story: Story, persona: Persona) -> dict[str, Moment]:
    """The scene in which the character met or first heard of each person, by shown name, in story order.

    Found by bisection: the set of known people only grows, so a range with equal sets at both ends is skipped.
    """
    scenes = [scene for scene, _, _ in story.outline() if scene < persona.moment]
    bounds = [*scenes, persona.moment]
    renamed = shown_names(story, persona.moment)
    return {renamed.get(name, name): scene for name, scene in _added(story, persona.name, bounds, 0, len(scenes))}


def _added(
    story: Story, who: str, bounds: list[Moment], first: int, last: int, *known: frozenset[str]
) -> Iterator[tuple[str, Moment]]:
    """Who became known between two indices of `bounds`, each with the scene, in order."""
    before, after = known or (_known(story, who, bounds[first]), _known(story, who, bounds[last]))
    if before == after:
        return
    if last - first == 1:
        yield from ((name, bounds[first]) for name in sorted(after - before))
        return
    middle = (first + last) // 2
    between = _known(story, who, bounds[middle])
    yield from _added(story, who, bounds, first, middle, before, between)
    yield from _added(story, who, bounds, middle, last, between, after)


def _known(story: Story, who: str, at: Moment) -> frozenset[str]:
    return story.acquaintances(who, at)[1] - {who}
