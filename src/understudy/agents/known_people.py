"""Whom a character knows, each person once, and what it feels about them now.

A person may be the one faced under one name and an acquaintance under another ('the Prior', Casimir Ould), and a tie
may be to either. Two are one person where a name of one is a name of the other and of nobody else.

Of ties to one person that say the opposite the newest holds: who became an enemy is no friend any more, whatever kind
of tie it was that began first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from understudy.agents.pools import KeyedCache
from understudy.dialogue import Situation
from understudy.persona import Other
from understudy.story import Relation
from understudy.text import fold

__all__ = ["KnownPeople", "tie_sign", "uncontradicted"]

FRIENDLY = frozenset({"friend", "lover", "teammate", "family", "confidant", "teacher"})
HOSTILE = frozenset({"enemy", "opponent"})

_PEOPLE = KeyedCache["KnownPeople"](64)


@dataclass(frozen=True, slots=True)
class KnownPeople:
    """The one faced, those present, and everybody else the character has met or heard named."""

    people: tuple[Other, ...]
    _names: Mapping[str, str]

    @classmethod
    def of(cls, situation: Situation) -> KnownPeople:
        """Made once for a situation: there can be thousands of acquaintances."""
        return _PEOPLE.get_or_create(id(situation), situation, lambda: _joined(situation))

    def name_of(self, name: str) -> str:
        """The name that a person is listed by here, whatever they are called; of strangers the name itself."""
        return self._names.get(fold(name), name)

    def is_same(self, one: str, other: str) -> bool:
        return self.name_of(one) == self.name_of(other)

    def ties(self, situation: Situation, name: str) -> list[Relation]:
        """What the character feels about somebody now."""
        faced = situation.faced
        own = [tie for tie in situation.persona.relations if self.is_same(tie.to, name)]
        if faced is not None and self.is_same(faced.name, name):
            own = [*faced.relations, *own]
        return uncontradicted(dict.fromkeys(own))


def _joined(situation: Situation) -> KnownPeople:
    listed = [*situation.acquaintances]
    for other in (*((situation.faced,) if situation.faced else ()), *situation.present):
        listed.append(other)
    owners: dict[str, set[str]] = {}
    for other in listed:
        for name in (other.name, *other.aliases):
            owners.setdefault(fold(name), set()).add(other.name)
    joined: dict[str, Other] = {}
    for other in listed:
        # Under the name of whoever alone has this one as an alias.
        others = owners[fold(other.name)] - {other.name}
        name = next(iter(others)) if len(others) == 1 and next(iter(others)) in joined else other.name
        joined[name] = _merged(joined[name], other) if name in joined else other
    names = dict[str, str]()
    for other in joined.values():
        for name in (other.name, *other.aliases):
            folded = fold(name)
            names[folded] = other.name if names.get(folded, other.name) == other.name else name
    return KnownPeople(tuple(joined.values()), names)


def _merged(first: Other, second: Other) -> Other:
    aliases = dict.fromkeys((*first.aliases, second.name, *second.aliases))
    return replace(
        first,
        profile=tuple(dict.fromkeys((*first.profile, *second.profile))),
        relations=tuple(dict.fromkeys((*first.relations, *second.relations))),
        aliases=tuple(alias for alias in aliases if alias != first.name),
        told=tuple(dict.fromkeys((*first.told, *second.told))),
    )


def tie_sign(tie: Relation) -> int:
    """1 where a tie is for somebody, -1 where it is against them, 0 where it is neither."""
    if tie.kind == "affection" and tie.level is not None:
        return (tie.level > 1) - (tie.level < -1)
    return (tie.kind in FRIENDLY) - (tie.kind in HOSTILE)


def uncontradicted(ties: Iterable[Relation]) -> list[Relation]:
    """Ties to one person without those of which a newer one says the opposite; of two at a moment affection counts."""
    listed = list(ties)
    return [tie for tie in listed if tie_sign(tie) * _newest_sign(listed) >= 0]


def _newest_sign(ties: Sequence[Relation]) -> int:
    signed = [tie for tie in ties if tie_sign(tie)]
    newest = max(signed, key=lambda tie: (tie.since, tie.kind == "affection"), default=None)
    return 0 if newest is None else tie_sign(newest)
