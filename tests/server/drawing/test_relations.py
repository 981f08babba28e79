from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import hypot
from xml.etree import ElementTree

from understudy.server.drawing.bonds import Bond
from understudy.server.drawing.relations import feeling_class, relation_graph, signed
from understudy.story import Moment, Relation

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
    placed = [replace(one, place=place) for place, one in enumerate(bonds)]
    return ElementTree.fromstring(relation_graph("Ines Vale", placed, "at 1.1", alone=True))


def faces(root: ElementTree.Element) -> dict[str, tuple[float, float]]:
    found = {}
    for person in root.iter(f"{SVG}g"):
        if person.get("class") == "other":
            (face,) = [one for one in person.iter(f"{SVG}circle") if one.get("class") == "ground"]
            found[str(person.get("data-who"))] = (float(face.get("cx", "")), float(face.get("cy", "")))
    return found


def lines(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [line for line in root.iter(f"{SVG}line") if "tie" in str(line.get("class")).split()]


def test_nearness_is_familiarity_and_thickness_is_affection() -> None:
    root = drawn(bond("Stranger", 1, 0), bond("Friend", 9, 10))
    place = faces(root)
    assert hypot(*place["Friend"]) < hypot(*place["Stranger"])
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


def test_a_person_keeps_the_place_when_others_come_and_feelings_change() -> None:
    before = faces(drawn(bond("One", 3, 4), bond("Two", 5, 6)))
    after = faces(drawn(bond("One", -8, 4), bond("Two", 5, 6), bond("Three", 1, 1)))
    assert after["One"] == before["One"] and after["Two"] == before["Two"]


def test_forty_people_fit_without_touching_and_stay_inside_the_picture() -> None:
    root = drawn(*(bond(f"Person Number{number}", number % 21 - 10, number % 11) for number in range(40)))
    left, top, width, height = map(float, str(root.get("viewBox")).split())
    places = faces(root)
    assert len(places) == 40
    for x, y in places.values():
        assert left < x < left + width and top < y < top + height
    for one, other in combinations(places.values(), 2):
        assert abs(one[0] - other[0]) > 42 or abs(one[1] - other[1]) > 42


def test_in_a_page_people_are_links_that_say_who_they_are() -> None:
    markup = relation_graph("Ines Vale", [bond("Tobias Rook")], "at 1.1", link=lambda name: f"/to/{name}?a=1&b=2")
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
