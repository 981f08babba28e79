"""The levels of a text's headings and the numbers they have there.

The divisions there are fewer of hold the others: ('volume', 'chapter'). Numbers are taken as they are written as long
as they grow, else counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from understudy.quotations.chapters import RANK, NumberedHeading

__all__ = ["numbered"]


def numbered(divisions: Sequence[NumberedHeading]) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    """(levels, the numbers of each heading): numbers of a level always grow within what holds it.

    Where the deepest level begins again at one, what holds it goes on by one, with or without a heading of its own.
    """
    counts = Counter(division.kind for division in divisions)
    levels = sorted(counts, key=lambda kind: (counts[kind], RANK[kind]))
    restarts = _restarts(divisions, levels[-1]) if levels else set()
    if len(levels) == 1 and restarts:
        levels.insert(0, "part" if levels[0] != "part" else "book")
    depths = [levels.index(division.kind) for division in divisions]
    outermost = {depth: division.number or 1 for division, depth in reversed(list(zip(divisions, depths)))}
    following: list[int | None] = _following(divisions)
    position: list[int] = []
    numbers: list[tuple[int, ...]] = []
    for index, (division, depth) in enumerate(zip(divisions, depths)):
        if index in restarts and len(position) > depth:
            position = [*position[: depth - 1], position[depth - 1] + 1]
        del position[depth + 1 :]
        while len(position) < depth:  # no heading of the level above yet
            above = outermost.get(len(position), 2)
            position.append(max(above - 1, 0))
        last = position[depth] if depth < len(position) else -1 if division.number == 0 else 0
        written = division.number
        if written is None or written <= last or (written > last + 1 and following[index] in (last + 2, last + 1)):
            written = last + 1
        position[depth:] = [written]
        numbers.append(tuple(position))
    return tuple(levels), numbers


def _restarts(divisions: Sequence[NumberedHeading], kind: str) -> set[int]:
    """Headings numbered one that come after a third or later one, and before a second one."""
    own = [(index, division.number) for index, division in enumerate(divisions) if division.kind == kind]
    return {
        index
        for (before, earlier), (index, number), (_, later) in zip(own, own[1:], own[2:])
        if number == 1 and later == 2 and (earlier or 0) >= 3 and index == before + 1
    }


def _following(divisions: Sequence[NumberedHeading]) -> list[int | None]:
    """The number of the next heading of the same kind."""
    following: list[int | None] = [None] * len(divisions)
    latest: dict[str, int | None] = {}
    for index in range(len(divisions) - 1, -1, -1):
        following[index] = latest.get(divisions[index].kind)
        latest[divisions[index].kind] = divisions[index].number
    return following
