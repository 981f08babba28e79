"""What a scene shows of each mask, as bags of terms by where they stand.

own       words and pairs of words that the mask says, whom it calls, what it does meanwhile
heard     what others say just before the mask speaks; which supporting character says it
answer    what others say just after
shape     how much it says, in what length of lines, when it comes in
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from understudy.guessing.reading import ReadLine, ReadScene, words_of
from understudy.guessing.terms import Bag

__all__ = ["SPACES", "bags_of"]

SPACES = ("own", "heard", "answer", "shape")
BEGIN, END = "<", ">"


def bags_of(scene: ReadScene, speakers: Sequence[str], language: str) -> dict[str, Bag]:
    """A bag for each of `speakers`, who are masks (or, in told scenes, main characters)."""
    spoken = scene.spoken()
    bags: dict[str, dict[str, Counter[str]]] = {who: {space: Counter() for space in SPACES} for who in speakers}
    for place, line in enumerate(spoken):
        if line.speaker not in bags:
            continue
        bag = bags[line.speaker]
        bag["own"].update(_said(line, language))
        bag["own"].update(f"{a} {b}" for a, b in pairwise((BEGIN, *line.words, END)))
        if place:
            bag["heard"].update(_from_other(spoken[place - 1], line, bags, language))
        if place + 1 < len(spoken):
            bag["answer"].update(_from_other(spoken[place + 1], line, bags, language))
    counts = Counter(line.speaker for line in spoken)
    order = [who for who in counts if who in bags]
    by_share = sorted(order, key=lambda who: -counts[who])
    for who, bag in bags.items():
        if who in counts:
            bag["shape"].update(_shape(bag["own"], counts[who], order.index(who), by_share.index(who), len(order)))
    return {who: dict(bag) for who, bag in bags.items()}


def _said(line: ReadLine, language: str) -> list[str]:
    found = [*line.words, *(f"call:{one.word}" for one in line.mentions if one.kind == "called")]
    found += [f"aside:{word}" for aside in line.asides for word in words_of(aside, language)]
    return found


def _from_other(other: ReadLine, line: ReadLine, masks: Mapping[str, object], language: str) -> list[str]:
    if other.speaker == line.speaker:
        return []
    return [*_said(other, language), *([] if other.speaker in masks else [f"by:{other.speaker}"])]


def _shape(own: Counter[str], lines: int, place: int, rank: int, masks: int) -> list[str]:
    said = sum(count for term, count in own.items() if " " not in term)
    return [
        "always",
        f"rank {rank} of {masks}",
        f"comes {min(place, 3)}",
        f"length {min(int(math.log2(1 + said / lines) * 2), 12)}",
        f"lines {min(int(math.log2(lines) * 1.5), 8)}",
    ]
