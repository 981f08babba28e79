"""Who is who: labels as they come, and, when all have been heard, the people behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from understudy.errors import InputError
from understudy.readers.names import fold, is_group, merge_labels, nice
from understudy.readers.source import SourceFile
from understudy.story import Character

__all__ = ["RollCall", "Settled", "person"]


@dataclass(frozen=True, slots=True)
class Settled:
    """The cast, the groups ('All') kept apart from it, and which place in cast + groups each label number has."""

    cast: list[Character]
    groups: list[str]
    places: Mapping[int, int]
    names: Mapping[str, str]
    """folded name -> the name of the one it means"""


SLIPS = 0.1
"""Share of the rarer label's scenes that two spellings of one name may have in common."""


class RollCall:
    """Gathers labels while a source is read. What the source declares wins over what is worked out."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._spoken: dict[str, int] = {}
        self._first_spoken: dict[str, tuple[SourceFile, int]] = {}
        self._heard: set[str] = set()
        self._scenes: Counter[str] = Counter()
        self._together: Counter[tuple[str, str]] = Counter()
        self._declared: dict[str, Character] = {}
        self._declared_as: dict[str, str] = {}

    def number(self, label: str) -> int:
        return self._numbers.setdefault(label, len(self._numbers) + 1)

    def speaks(self, label: str, source: SourceFile, line: int) -> int:
        self._spoken[label] = self._spoken.get(label, 0) + 1
        self._first_spoken.setdefault(label, (source, line))
        self._heard.add(label)
        return self.number(label)

    def end_scene(self) -> None:
        self._scenes.update(self._heard)
        self._together.update(combinations(sorted(self._heard), 2))
        self._heard.clear()

    def declare(self, character: Character) -> None:
        """Somebody is named by the source itself; said again, the fuller word stands."""
        key = self._declared_as.get(fold(character.name))
        if key is not None:
            known = self._declared[key]
            aliases = tuple(dict.fromkeys((*known.aliases, *character.aliases)))
            profile = tuple(dict.fromkeys((*known.profile, *character.profile)))
            character = Character(known.name, aliases, profile)
        self._declared[fold(character.name)] = character
        self._declared_as[fold(character.name)] = fold(character.name)
        for alias in character.aliases:
            self._declared_as.setdefault(fold(alias), fold(character.name))

    def settle(self) -> Settled:
        people = {label: count for label, count in self._spoken.items() if not is_group(label)}
        cast = merge_labels(people, self._were_together, list(self._declared.values()))
        groups = sorted({nice(label) for label in self._numbers if is_group(label)} - {one.name for one in cast})
        found = _places(cast, groups)
        for label, (source, line) in self._first_spoken.items():
            if len(found.get(fold(label), ())) != 1:
                choices = _choices(found.get(fold(label), set()), cast)
                raise source.error(f"'{label}' may be {choices}: label the line with the full name", line)
        return Settled(
            cast,
            groups,
            {
                number: next(iter(found[fold(label)]))
                for label, number in self._numbers.items()
                if len(found.get(fold(label), ())) == 1  # a name in a direction may be nobody's
            },
            {
                folded: cast[next(iter(places))].name
                for folded, places in found.items()
                if len(places) == 1 and next(iter(places)) < len(cast)
            },
        )

    def _were_together(self, one: str, other: str) -> bool:
        """Two labels that keep turning up in the same scenes are two people; once may be a transcriber's slip."""
        shared = self._together[min(one, other), max(one, other)]
        return shared > SLIPS * min(self._scenes[one], self._scenes[other])


def person(name: str, settled: Settled) -> str:
    """The one a dated fact or tie is about."""
    try:
        return settled.names[fold(name)]
    except KeyError:
        raise InputError(f"'{name}' may be more than one person: use the full name") from None


def _places(cast: list[Character], groups: list[str]) -> dict[str, set[int]]:
    places: dict[str, set[int]] = {}
    for place, character in enumerate(cast):
        for name in (character.name, *character.aliases):
            places.setdefault(fold(name), set()).add(place)
    for place, character in enumerate(cast):
        places[fold(character.name)] = {place}  # a full name is never ambiguous
    for place, group in enumerate(groups, len(cast)):
        places.setdefault(fold(group), {place})
    return places


def _choices(places: set[int], cast: list[Character]) -> str:
    return " or ".join(cast[place].name for place in sorted(places)) or "anybody"
