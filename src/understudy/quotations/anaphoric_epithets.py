"""'The girl', 'the old gentleman': somebody who has just been named, or a person of their own?

A noun that any man or woman may be called by is nobody of its own where people of its gender are usually named
shortly before it speaks: it stands for one of them, and for whom is for each quotation to show.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from understudy.quotations.epithets import Epithet
from understudy.quotations.lexicon import Lexicon

__all__ = ["NamedPlaces", "stands_for_others"]

REACH = 1_500  # characters before a place in which a name is near
USUALLY = 0.5  # of the places where an epithet speaks


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """Somebody's gender, and the offsets, in order, where narration names them."""

    gender: str
    places: Sequence[int]

    def is_near(self, place: int) -> bool:
        index = bisect_left(self.places, place)
        return index > 0 and place - self.places[index - 1] <= REACH


def stands_for_others(epithet: Epithet, people: Iterable[NamedPlaces], lexicon: Lexicon) -> bool:
    if epithet.noun.split()[-1].lower() not in lexicon.anybody:
        return False
    others = [each for each in people if "" in (epithet.gender, each.gender) or epithet.gender == each.gender]
    near = sum(any(each.is_near(place) for each in others) for place in epithet.places)
    return near >= USUALLY * len(epithet.places)
