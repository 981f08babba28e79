"""The people that an author declares in a cast.toml, joined with those found in the text."""

from __future__ import annotations

from collections.abc import Sequence

from understudy.quotations.prose import NovelCharacter
from understudy.readers.names import fold
from understudy.story import Character

__all__ = ["with_declared"]


def with_declared(found: Sequence[NovelCharacter], declared: Sequence[Character]) -> tuple[NovelCharacter, ...]:
    """Declared people keep their names; whoever was found under one of these is the same person.

    A declared name is nobody else's: where two declared people share somebody found, the one with the full name has it.
    """
    owners: dict[str, int] = {}
    for index, person in enumerate(declared):
        owners[fold(person.name)] = index
    for index, person in enumerate(declared):
        for alias in person.aliases:
            owners.setdefault(fold(alias), index)
    same: dict[int, list[NovelCharacter]] = {}
    others: list[NovelCharacter] = []
    for character in found:
        named = [owners[key] for name in (character.name, *character.aliases) if (key := fold(name)) in owners]
        if named:
            same.setdefault(named[0], []).append(character)
        else:
            others.append(character)
    people = [_joined(index, person, same.get(index, []), owners) for index, person in enumerate(declared)]
    return (*people, *others)


def _joined(index: int, person: Character, found: Sequence[NovelCharacter], owners: dict[str, int]) -> NovelCharacter:
    aliases = {fold(alias): alias for alias in person.aliases}
    for character in found:
        for name in (character.name, *character.aliases):
            if owners.get(fold(name), index) == index and fold(name) != fold(person.name):
                aliases.setdefault(fold(name), name)
    gender = next((character.gender for character in found if character.gender), "")
    return NovelCharacter(
        person.name, tuple(aliases.values()), gender, any(character.is_narrator for character in found)
    )
