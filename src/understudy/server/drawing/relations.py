"""The graph of a character's ties: the character in the middle, the others around.

    colour and thickness of a line   affection: the stronger, the thicker; broken where it is dislike
    nearness                         familiarity
    words under a name               what they are to the character: friend, opponent, ...

So colour never says alone what it says: the level stands in a badge, and dislike is a broken line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from understudy.server.drawing.bonds import Bond
from understudy.server.drawing.layout import Place, Size, placed, turned
from understudy.server.drawing.portraits import medallion
from understudy.server.drawing.svg import drawing, element, shortened, width_of

__all__ = ["feeling_class", "relation_graph", "signed"]

NAME, WORD = 13.0, 11.0  # sizes of type
FACE, OWN_FACE = 21.0, 31.0  # radii of portraits
LEADING = 14.5
WIDEST = 104.0
INNER, OUTER = 104.0, 172.0
AIR = 5.0
STRANGER = 3  # how far off somebody is drawn of whom nothing is said


def relation_graph(
    name: str, bonds: Sequence[Bond], when: str, link: Callable[[str], str | None] | None = None, alone: bool = False
) -> Markup:
    """`link` gives where a person's name leads to, if anywhere."""
    own = _lines(name)
    middle = Size(max(OWN_FACE, _widest(own) / 2) + AIR, OWN_FACE + AIR, OWN_FACE + LEADING * len(own) + AIR)
    places = placed(middle, [(bond.place, _size(bond), _nearness(bond)) for bond in bonds], INNER, OUTER)
    sizes = [turned(_size(bond), place) for bond, place in zip(bonds, places)]
    left = min([-OUTER, *(place.x - size.side for place, size in zip(places, sizes))]) - AIR
    right = max([OUTER, *(place.x + size.side for place, size in zip(places, sizes))]) + AIR
    top = min([-middle.above, *(place.y - size.above for place, size in zip(places, sizes))]) - AIR
    bottom = max([middle.below, *(place.y + size.below for place, size in zip(places, sizes))]) + AIR
    half = max(-left, right)  # the character stays in the middle of the picture
    title = f"The ties of {name} {when}: " + (f"{len(bonds)} people" if len(bonds) != 1 else "one person")
    return drawing(
        title,
        (-half, top, 2 * half, bottom - top),
        element("g", *(_line(bond, place) for bond, place in zip(bonds, places)), class_="ties", aria_hidden="true"),
        element("g", medallion(name, 0, 0, OWN_FACE), _label(own, 0, OWN_FACE), class_="own"),
        *(_person(bond, place, None if link is None else link(bond.name)) for bond, place in zip(bonds, places)),
        class_=f"graph {'broad' if half > OUTER + 150 else 'middling' if half > OUTER + 80 else 'slim'}",
        alone=alone,
    )


def feeling_class(level: int | None) -> str:
    """One of seven, from dislike over nothing to love; 'unsaid' where the story does not tell."""
    if level is None:
        return "unsaid"
    strength = (abs(level) > 0) + (abs(level) > 2) + (abs(level) > 6)
    return "even" if not strength else f"{'warm' if level > 0 else 'cold'}-{strength}"


def signed(level: int) -> str:
    return f"+{level}" if level > 0 else f"−{-level}" if level < 0 else "0"


def _nearness(bond: Bond) -> float:
    return (STRANGER if bond.nearness is None else bond.nearness) / 10


def _line(bond: Bond, place: Place) -> Markup:
    strength = 0 if bond.feeling is None else abs(bond.feeling)
    return element(
        "line", class_=f"tie {feeling_class(bond.feeling)}", x1=0, y1=0, x2=place.x, y2=place.y,
        stroke_width=1.2 + 0.55 * strength,
    )  # fmt: skip


def _person(bond: Bond, place: Place, leads_to: str | None) -> Markup:
    kinds = _kinds(bond)
    names = _lines(bond.name)
    under = place.y - FACE - LEADING * (len(names) + bool(kinds)) - 3 if place.up else place.y + FACE
    inside = [
        element("title", f"{bond.name}: {' '.join(bond.sentences)}"),
        medallion(bond.name, place.x, place.y, FACE),
        *([_badge(bond.feeling, place)] if bond.feeling is not None else []),
        _label(names, place.x, under),
        *([_word(kinds, place.x, under + LEADING * len(names))] if kinds else []),
    ]
    about = {"class_": "other", "data_who": bond.name}
    return element("g", *inside, **about) if leads_to is None else element("a", *inside, href=leads_to, **about)


def _badge(level: int, place: Place) -> Markup:
    x, y, text = place.x + FACE * 0.86, place.y + FACE * (0.72 if place.up else -0.72), signed(level)
    half = max(width_of(text, WORD) / 2 + 4, 9)
    return element(
        "g",
        element("rect", x=x - half, y=y - 8.5, width=2 * half, height=17.0, rx=8.5),
        element("text", text, x=x, y=y + 4, font_size=WORD, text_anchor="middle"),
        class_=f"badge {feeling_class(level)}",
        aria_hidden="true",
    )


def _label(lines: Sequence[str], x: float, under: float) -> Markup:
    return element(
        "text",
        *(
            element("tspan", line, x=x, y=under + LEADING * number - 1, text_anchor="middle")
            for number, line in enumerate(lines, 1)
        ),
        class_="name",
        font_size=NAME,
    )


def _word(text: str, x: float, under: float) -> Markup:
    return element("text", text, class_="kind", x=x, y=under + LEADING - 2, font_size=WORD, text_anchor="middle")


def _kinds(bond: Bond) -> str:
    return shortened(", ".join(tie.kind for tie in bond.kinds), WIDEST, WORD)


def _lines(name: str) -> list[str]:
    """A name on one line or two, broken where the halves come out most even."""
    words = name.split()
    breaks = [(" ".join(words[:place]), " ".join(words[place:])) for place in range(1, len(words))]
    if not breaks or width_of(name, NAME) < WIDEST / 2:
        return [shortened(name, WIDEST, NAME)]
    best = min(breaks, key=lambda parts: max(width_of(part, NAME) for part in parts))
    return [shortened(part, WIDEST, NAME) for part in best]


def _widest(lines: Sequence[str]) -> float:
    return max(width_of(line, NAME) for line in lines)


def _size(bond: Bond) -> Size:
    lines, kinds = _lines(bond.name), _kinds(bond)
    side = max(FACE + 12, _widest(lines) / 2, width_of(kinds, WORD) / 2) + AIR
    return Size(side, FACE + AIR, FACE + LEADING * (len(lines) + bool(kinds)) + 3 + AIR)
