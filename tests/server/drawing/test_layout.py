from __future__ import annotations

from itertools import combinations
from math import atan2, hypot

from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.server.drawing.layout import Place, Size, placed, turned

MIDDLE = Size(36, 36, 65)
PERSON = Size(38, 26, 55)
sizes = st.builds(Size, st.floats(30, 60), st.floats(26, 27), st.floats(40, 70))
people = st.lists(st.tuples(sizes, st.floats(0, 1)), min_size=1, max_size=40)


def numbered(around: list[tuple[Size, float]]) -> list[tuple[int, Size, float]]:
    return [(number, size, near) for number, (size, near) in enumerate(around)]


def overlap(one: tuple[Place, Size], other: tuple[Place, Size]) -> bool:
    (a, size), (b, theirs) = one, other
    return (
        abs(a.x - b.x) < size.side + theirs.side - 1e-6
        and a.y - size.above < b.y + theirs.below - 1e-6
        and b.y - theirs.above < a.y + size.below - 1e-6
    )


@settings(max_examples=60, deadline=None)
@given(people)
def test_nobody_stands_in_anybodys_way(around: list[tuple[Size, float]]) -> None:
    places = placed(MIDDLE, numbered(around), 104, 172)
    boxes = [
        (Place(0, 0), MIDDLE),
        *((place, turned(size, place)) for place, (size, _) in zip(places, around, strict=True)),
    ]
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]


def test_forty_equally_near_find_a_place_each() -> None:
    places = placed(MIDDLE, numbered([(PERSON, 1.0)] * 40), 104, 172)
    assert max(hypot(*place) for place in places) < 700


def test_those_who_come_later_move_nobody() -> None:
    some = [(PERSON, near / 10) for near in (3, 9, 5, 0, 7)]
    few, more = (placed(MIDDLE, numbered(all_of), 104, 172) for all_of in (some, [*some, (PERSON, 0.4)]))
    assert more[: len(few)] == few


def test_who_is_better_known_is_nearer_in_the_same_direction() -> None:
    (far,), (near,) = (placed(MIDDLE, [(3, PERSON, nearness)], 104, 172) for nearness in (0.1, 0.9))
    assert hypot(*near) < hypot(*far)
    assert abs(atan2(near.y, near.x) - atan2(far.y, far.x)) < 1e-9


def test_who_has_no_tie_any_more_leaves_a_gap_and_nobody_moves() -> None:
    three = placed(MIDDLE, [(number, PERSON, 0.5) for number in (0, 1, 2)], 104, 172)
    two = placed(MIDDLE, [(number, PERSON, 0.5) for number in (0, 2)], 104, 172)
    assert two == [three[0], three[2]]
