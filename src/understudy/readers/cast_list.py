"""The cast of a story: collects speaker labels while files are read, then resolves them to characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from understudy.errors import InputError
from understudy.readers.names import display_name, fold, is_group, merge_labels
from understudy.readers.source import SourceFile
from understudy.story import Character

__all__ = ["CastList", "ResolvedCast"]


@dataclass(frozen=True, slots=True)
class ResolvedCast:
    """The cast; the groups ('All'), which are no characters; and the index into cast + groups of each label id."""

    cast: list[Character]
    groups: list[str]
    indexes: Mapping[int, int]
    names: Mapping[str, str]
    """Folded name -> the name of the character it means."""

    def name_of(self, label: str) -> str:
        """The character that a dated fact or tie is about."""
        try:
            return self.names[fold(label)]
        except KeyError:
            raise InputError(f"'{label}' may be more than one person: use the full name") from None


MAX_SHARED_SCENES = 0.1
"""Share of the rarer label's scenes that two spellings of one name may have in common."""


class CastList:
    """Collects labels while a source is read. What the source declares wins over what frequency suggests."""

    def __init__(self) -> None:
        self._label_ids: dict[str, int] = {}
        self._speech_counts: dict[str, int] = {}
        self._first_speeches: dict[str, tuple[SourceFile, int]] = {}
        self._scene_speakers: set[str] = set()
        self._scenes: Counter[str] = Counter()
        self._shared_scenes: Counter[tuple[str, str]] = Counter()
        self._declared: dict[str, Character] = {}
        self._declared_as: dict[str, str] = {}

    def label_id(self, label: str) -> int:
        return self._label_ids.setdefault(label, len(self._label_ids) + 1)

    def add_speech(self, label: str, source: SourceFile, line: int) -> int:
        self._speech_counts[label] = self._speech_counts.get(label, 0) + 1
        self._first_speeches.setdefault(label, (source, line))
        self._scene_speakers.add(label)
        return self.label_id(label)

    def end_scene(self) -> None:
        self._scenes.update(self._scene_speakers)
        self._shared_scenes.update(combinations(sorted(self._scene_speakers), 2))
        self._scene_speakers.clear()

    def declare(self, character: Character) -> None:
        """Add a character that the source names itself; a second declaration adds aliases and profile to the first."""
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

    def resolve(self) -> ResolvedCast:
        people = {label: count for label, count in self._speech_counts.items() if not is_group(label)}
        cast = merge_labels(people, self._are_two_people, list(self._declared.values()))
        group_names = {display_name(label) for label in self._label_ids if is_group(label)}
        groups = sorted(group_names - {character.name for character in cast})
        indexes_by_name = _indexes_by_name(cast, groups)
        for label, (source, line) in self._first_speeches.items():
            if len(indexes_by_name.get(fold(label), ())) != 1:
                choices = _choices(indexes_by_name.get(fold(label), set()), cast)
                raise source.error(f"'{label}' may be {choices}: label the line with the full name", line)
        return ResolvedCast(
            cast,
            groups,
            {
                label_id: next(iter(indexes_by_name[fold(label)]))
                for label, label_id in self._label_ids.items()
                if len(indexes_by_name.get(fold(label), ())) == 1  # a name in a direction may be nobody's
            },
            {
                folded: cast[next(iter(indexes))].name
                for folded, indexes in indexes_by_name.items()
                if len(indexes) == 1 and next(iter(indexes)) < len(cast)
            },
        )

    def _are_two_people(self, first: str, second: str) -> bool:
        """Two labels that keep turning up in the same scenes are two people; once may be a transcriber's slip."""
        shared = self._shared_scenes[min(first, second), max(first, second)]
        return shared > MAX_SHARED_SCENES * min(self._scenes[first], self._scenes[second])


def _indexes_by_name(cast: list[Character], groups: list[str]) -> dict[str, set[int]]:
    indexes: dict[str, set[int]] = {}
    for index, character in enumerate(cast):
        for name in (character.name, *character.aliases):
            indexes.setdefault(fold(name), set()).add(index)
    for index, character in enumerate(cast):
        indexes[fold(character.name)] = {index}  # a full name is never ambiguous
    for index, group in enumerate(groups, len(cast)):
        indexes.setdefault(fold(group), {index})
    return indexes


def _choices(indexes: set[int], cast: list[Character]) -> str:
    return " or ".join(cast[index].name for index in sorted(indexes)) or "anybody"
