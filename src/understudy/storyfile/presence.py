"""Who witnessed which lines of a scene.

Somebody is there if they spoke, were listed, or entered and had not left. Who is listed, or speaks before any
direction brings them in, was there from the scene's first line; who enters is there from that line on; who leaves
hears the line that says so and nothing after, until they enter or speak again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

__all__ = ["Cue", "Spell", "spells_of_scene"]


class Cue(NamedTuple):
    """Something that tells of somebody's presence, at a line. `character` None with 'leave': everybody goes."""

    line: int
    kind: Literal["listed", "speaks", "enter", "leave"]
    character: int | None


class Spell(NamedTuple):
    """A stretch of a scene, first and last line included, that a character was there for."""

    character: int
    first: int
    last: int


def spells_of_scene(cues: Iterable[Cue], first: int, last: int) -> Sequence[Spell]:
    """The spells of everybody in a scene whose lines run from `first` to `last`. Cues come in order of their lines."""
    since: dict[int, int] = {}
    spells: dict[int, list[Spell]] = {}  # those that have ended, by whose they are; somebody who is here has a key

    def leave(character: int, line: int) -> None:
        if character not in spells:  # was there all along, unmentioned, and only the leaving is told
            since[character] = first
        if character in since:
            spells.setdefault(character, []).append(Spell(character, since.pop(character), line))

    for cue in cues:
        if cue.kind == "leave":
            for character in list(since) if cue.character is None else [cue.character]:
                leave(character, cue.line)
            continue
        assert cue.character is not None
        if cue.character not in since:
            earlier = spells.get(cue.character)
            if earlier and earlier[-1].last >= cue.line:  # out and in again within one line: never away
                since[cue.character] = earlier.pop().first
                continue
            from_start = cue.kind == "listed" or (cue.kind == "speaks" and earlier is None)
            since[cue.character] = first if from_start else cue.line
            spells.setdefault(cue.character, [])
    for character, start in since.items():
        spells[character].append(Spell(character, start, last))
    return [spell for ended in spells.values() for spell in ended if spell.first <= spell.last]
