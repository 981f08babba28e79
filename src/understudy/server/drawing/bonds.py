"""A character's ties gathered by person, in the order in which the character came to know them."""

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
    """Everything that ties the character to one other person at the moment."""

    name: str
    place: int
    """Who was known first has the lowest; it never changes, whoever comes later."""
    affection: Relation | None
    familiarity: Relation | None
    kinds: tuple[Relation, ...]
    """What they are to the character, the newest first."""
    sentences: tuple[str, ...]

    @property
    def feeling(self) -> int | None:
        return None if self.affection is None else self.affection.level

    @property
    def nearness(self) -> int | None:
        return None if self.familiarity is None else self.familiarity.level


def bonds_of(persona: Persona, known: dict[str, Moment]) -> list[Bond]:
    """Ties by person, in the order of acquaintance; somebody only stood before comes after all others."""
    ties: dict[str, list[Relation]] = {}
    for tie in persona.relations:
        ties.setdefault(tie.to, []).append(tie)
    places = {name: place for place, name in enumerate([*known, *(name for name in ties if name not in known)])}
    order = sorted(ties, key=lambda name: places[name])
    return [_bond(name, places[name], ties[name], persona.language) for name in order]


def _bond(name: str, place: int, ties: list[Relation], language: str) -> Bond:
    newest = {tie.kind: tie for tie in ties}
    return Bond(
        name,
        place,
        newest.get("affection"),
        newest.get("familiarity"),
        tuple(sorted((tie for tie in ties if tie.level is None), key=lambda tie: tie.since, reverse=True)),
        tuple(tie_sentence(tie, language) for tie in ties),
    )


def known_since(story: Story, persona: Persona) -> dict[str, Moment]:
    """In which scene the character met somebody or first heard them named, by the names they are shown by, in order.

    Whom one knows only ever grows, so where a stretch of scenes adds nobody there is nothing to look for in it.
    """
    scenes = [scene for scene, _, _ in story.outline() if scene < persona.moment]
    bounds = [*scenes, persona.moment]
    renamed = shown_names(story, persona.moment)
    return {renamed.get(name, name): scene for name, scene in _added(story, persona.name, bounds, 0, len(scenes))}


def _added(
    story: Story, who: str, bounds: list[Moment], first: int, last: int, *known: frozenset[str]
) -> Iterator[tuple[str, Moment]]:
    """Who became known between two places in the list of scenes, with the scene it was in, in order."""
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
