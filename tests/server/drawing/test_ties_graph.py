"""The graph of ties: what it shows, and where people are placed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import atan2, hypot
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from understudy.server.drawing.ties_graph import (
    Bond,
    NodePosition,
    NodeSize,
    feeling_class,
    flip,
    layout,
    signed,
    ties_graph,
)
from understudy.story.types import Moment, Relation

SVG = "{http://www.w3.org/2000/svg}"
AT = Moment((1, 1))


def bond(name: str, affection: int | None = 5, familiarity: int | None = 5, kind: str = "") -> Bond:
    def tie(what: str, level: int | None) -> Relation:
        return Relation("Ines Vale", name, what, level, AT)

    return Bond(
        name,
        0,
        None if affection is None else tie("affection", affection),
        None if familiarity is None else tie("familiarity", familiarity),
        (tie(kind, None),) if kind else (),
        (f"How I feel about {name}.",),
    )


def drawn(*bonds: Bond) -> ElementTree.Element:
    ranked = [replace(bond, rank=rank) for rank, bond in enumerate(bonds)]
    return ElementTree.fromstring(ties_graph("Ines Vale", ranked, "at 1.1", standalone=True))


def faces(root: ElementTree.Element) -> dict[str, tuple[float, float]]:
    positions = {}
    for person in root.iter(f"{SVG}g"):
        if person.get("class") == "other":
            (face,) = [circle for circle in person.iter(f"{SVG}circle") if circle.get("class") == "ground"]
            positions[str(person.get("data-who"))] = (float(face.get("cx", "")), float(face.get("cy", "")))
    return positions


def lines(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [line for line in root.iter(f"{SVG}line") if "tie" in str(line.get("class")).split()]


def test_nearness_is_familiarity_and_thickness_is_affection() -> None:
    root = drawn(bond("Stranger", 1, 0), bond("Friend", 9, 10))
    positions = faces(root)
    assert hypot(*positions["Friend"]) < hypot(*positions["Stranger"])
    thin, thick = (float(line.get("stroke-width", "")) for line in lines(root))
    assert thin < thick


def test_lines_lead_to_the_faces_and_are_told_apart_by_feeling() -> None:
    root = drawn(bond("Dear", 8), bond("Hated", -9), bond("Untold", None))
    ends = [(float(line.get("x2", "")), float(line.get("y2", ""))) for line in lines(root)]
    assert ends == list(faces(root).values())
    assert [str(line.get("class")).split()[1] for line in lines(root)] == ["warm-3", "cold-3", "unsaid"]


def test_names_are_escaped_and_kinds_are_written() -> None:
    root = drawn(bond('<script>"&', kind="friend"))
    assert list(faces(root)) == ['<script>"&']
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert "friend" in texts and any("<script>" in text for text in texts)


def test_a_person_keeps_the_position_when_others_come_and_feelings_change() -> None:
    before = faces(drawn(bond("One", 3, 4), bond("Two", 5, 6)))
    after = faces(drawn(bond("One", -8, 4), bond("Two", 5, 6), bond("Three", 1, 1)))
    assert after["One"] == before["One"] and after["Two"] == before["Two"]


def test_forty_people_fit_without_touching_and_stay_inside_the_picture() -> None:
    root = drawn(*(bond(f"Person Number{number}", number % 21 - 10, number % 11) for number in range(40)))
    left, top, width, height = map(float, str(root.get("viewBox")).split())
    positions = faces(root)
    assert len(positions) == 40
    for x, y in positions.values():
        assert left < x < left + width and top < y < top + height
    for (ax, ay), (bx, by) in combinations(positions.values(), 2):
        assert abs(ax - bx) > 42 or abs(ay - by) > 42


def test_in_a_page_people_are_links_that_say_who_they_are() -> None:
    markup = ties_graph("Ines Vale", [bond("Tobias Rook")], "at 1.1", link=lambda name: f"/to/{name}?a=1&b=2")
    (link,) = ElementTree.fromstring(markup).iter(f"{SVG}a")
    assert link.get("href") == "/to/Tobias Rook?a=1&b=2"
    assert link.findtext(f"{SVG}title") == "Tobias Rook: How I feel about Tobias Rook."


def test_nobody_around_is_a_picture_too() -> None:
    assert faces(drawn()) == {} and "0 people" in str(drawn().get("aria-label"))


def test_feelings_by_class_and_sign() -> None:
    assert [feeling_class(level) for level in (-10, -7, -6, -3, -2, -1)] == (
        ["cold-3"] * 2 + ["cold-2"] * 2 + ["cold-1"] * 2
    )
    assert [feeling_class(level) for level in (0, 1, 2, 3, 6, 7, 10)] == (
        ["even", "warm-1", "warm-1", "warm-2", "warm-2", "warm-3", "warm-3"]
    )
    assert [signed(level) for level in (-3, 0, 3)] == ["−3", "0", "+3"]


MIDDLE = NodeSize(36, 36, 65)
PERSON = NodeSize(38, 26, 55)
sizes = st.builds(NodeSize, st.floats(30, 60), st.floats(26, 27), st.floats(40, 70))
people = st.lists(st.tuples(sizes, st.floats(0, 1)), min_size=1, max_size=40)


def numbered(around: list[tuple[NodeSize, float]]) -> list[tuple[int, NodeSize, float]]:
    return [(number, size, near) for number, (size, near) in enumerate(around)]


def overlap(first: tuple[NodePosition, NodeSize], second: tuple[NodePosition, NodeSize]) -> bool:
    (a, size), (b, theirs) = first, second
    return (
        abs(a.x - b.x) < size.side + theirs.side - 1e-6
        and a.y - size.above < b.y + theirs.below - 1e-6
        and b.y - theirs.above < a.y + size.below - 1e-6
    )


@given(people)
def test_nobody_stands_in_anybodys_way(around: list[tuple[NodeSize, float]]) -> None:
    positions = layout(MIDDLE, numbered(around), 104, 172)
    boxes = [
        (NodePosition(0, 0), MIDDLE),
        *((position, flip(size, position)) for position, (size, _) in zip(positions, around, strict=True)),
    ]
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]


def test_forty_equally_near_people_all_fit() -> None:
    positions = layout(MIDDLE, numbered([(PERSON, 1.0)] * 40), 104, 172)
    assert max(hypot(*position) for position in positions) < 700


def test_those_who_come_later_move_nobody() -> None:
    some = [(PERSON, near / 10) for near in (3, 9, 5, 0, 7)]
    few, more = (layout(MIDDLE, numbered(all_of), 104, 172) for all_of in (some, [*some, (PERSON, 0.4)]))
    assert more[: len(few)] == few


def test_who_is_better_known_is_nearer_in_the_same_direction() -> None:
    (far,), (near,) = (layout(MIDDLE, [(3, PERSON, nearness)], 104, 172) for nearness in (0.1, 0.9))
    assert hypot(*near) < hypot(*far)
    assert abs(atan2(near.y, near.x) - atan2(far.y, far.x)) < 1e-9


def test_who_has_no_tie_any_more_leaves_a_gap_and_nobody_moves() -> None:
    three = layout(MIDDLE, [(number, PERSON, 0.5) for number in (0, 1, 2)], 104, 172)
    two = layout(MIDDLE, [(number, PERSON, 0.5) for number in (0, 2)], 104, 172)
    assert two == [three[0], three[2]]
