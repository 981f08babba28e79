"""Attributes of a person, where a found sentence names one: 'I am a nurse' -> title 'a nurse'."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from understudy.people.merging import Merged
from understudy.people.patterns import filled, table
from understudy.story import Fact, Finding, Moment

__all__ = ["attribute_facts", "attribute_of"]

SURE = 0.5  # confidence from which on an attribute is named
MOST_VALUES = 3


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    return tuple(
        (
            entry["name"],
            re.compile(filled(entry["pattern"]), re.IGNORECASE),
            entry.get("value", ""),
        )
        for entry in table()["attribute"]
    )


def attribute_of(sentence: str) -> tuple[str, str] | None:
    """(attribute, value) that a sentence in the first person names."""
    for name, pattern, value in _patterns():
        if match := pattern.fullmatch(sentence):
            return name, value or next(filter(None, match.groups()))
    return None


def attribute_facts(who: str, found: Sequence[Merged], after: Callable[[Moment], Moment]) -> Iterator[Fact]:
    """One fact for each new value; of attributes that one can have several of it repeats those before it.

    Whoever is to know a fact must have heard all of its values.
    """
    by_attribute: dict[str, list[tuple[str, Merged]]] = {}
    for item in found:
        named = attribute_of(item.sentence)
        if named is not None and item.confidence >= SURE:
            values = by_attribute.setdefault(named[0], [])
            if len(values) < MOST_VALUES and named[1] not in {value for value, _ in values}:
                values.append((named[1], item))
    for attribute, values in by_attribute.items():
        values.sort(key=lambda value: value[1].sources[0])
        several = attribute in table()["several"]
        for nth, (value, item) in enumerate(values):
            together = values[: nth + 1] if several else [(value, item)]
            known = set(together[0][1].witnesses).intersection(*(each.witnesses for _, each in together))
            yield Fact(
                who,
                attribute,
                tuple(name for name, _ in together),
                after(item.sources[0]),
                found=Finding(
                    round(min(each.confidence for _, each in together), 3),
                    tuple(sorted(each.sources[0] for _, each in together)),
                    tuple(name for name in item.witnesses if name in known),
                ),
            )
