"""Who is who in a situation: the names of the one faced, of those present and of the absent; who heard a line.

company(l) = who else was there for line l
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from understudy.agents.addressing import gender_of
from understudy.agents.dialogue_context import KnownPeople, heard_turns
from understudy.agents.pools import KeyedCache
from understudy.agents.prompting import introduced_names
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Past
from understudy.story.types import Moment
from understudy.text import find_name

__all__ = ["PeopleNames", "company_at", "gender_of", "line_at", "own_names", "people_met", "people_named"]


def own_names(situation: Situation) -> tuple[str, ...]:
    attributes = situation.persona.attributes
    return (situation.persona.name, *attributes.get("goes by", ()), *attributes.get("nickname", ()))


@dataclass(frozen=True, slots=True)
class PeopleNames:
    """Names of the one faced, of the others who are there, and of those the character knows who are not."""

    faced: tuple[str, ...]
    present: tuple[str, ...]
    absent: tuple[str, ...]

    @classmethod
    def of(cls, situation: Situation, history: Sequence[Turn] = ()) -> PeopleNames:
        known = KnownPeople.of(situation)
        here = {known.name_of(other.name) for other in situation.present}
        faced, there, away = list[str](), list[str](), list[str]()
        if situation.faced is not None:
            faced += _names(situation.faced)
        for other in situation.present:
            there += _names(other)
        for other in situation.acquaintances:
            name = known.name_of(other.name)
            is_faced = situation.faced is not None and name == known.name_of(situation.faced.name)
            (faced if is_faced else there if name in here else away).extend(_names(other))
        for name in introduced_names(heard_turns(situation.persona, history), situation.persona.language):
            faced += (name, *name.split())
        own = set(own_names(situation))
        clear = {name for name in away if name not in faced and name not in there and name not in own}
        return cls(tuple(dict.fromkeys(faced)), tuple(dict.fromkeys(there)), tuple(sorted(clear)))


def _names(other: Other) -> list[str]:
    """All names of somebody, and the parts of a name of several words; 'the Prior' also without its article."""
    names = [other.name, *other.aliases]
    parts = [part for part in other.name.split() if len(part) > 2 and part[:1].isupper()]
    bare = [name[4:] for name in names if name.startswith("the ")]
    return [*names, *parts, *bare]


def people_named(text: str, people: Iterable[Other]) -> set[str]:
    """Whom of these a text names, by name or alias; a name that several share names them all."""
    return {other.name for other in people if find_name(text, _names(other)) is not None}


_COMPANY = KeyedCache[dict[tuple[int, ...], frozenset[str]]](64)
_LINES = KeyedCache[dict[tuple[int, ...], str]](64)


def line_at(past: Past, moment: Moment) -> str:
    """The whole line that was said at a moment, where the character heard it; else blank."""
    lines = _LINES.get_or_create(
        id(past), past, lambda: {line.moment.numbers: line.text for scene in past.scenes() for line in scene.lines}
    )
    return lines.get(moment.numbers, "")


def company_at(past: Past, moment: Moment) -> frozenset[str]:
    """Who else was there for a line that the character witnessed."""
    return past.company(moment)


def people_met(past: Past) -> frozenset[str]:
    """Who was ever in a scene with the character."""
    return frozenset().union(*_company(past).values())


def _company(past: Past) -> dict[tuple[int, ...], frozenset[str]]:
    return _COMPANY.get_or_create(
        id(past), past, lambda: {scene.moment.numbers: frozenset(scene.present) for scene in past.scenes()}
    )
