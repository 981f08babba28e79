"""A character's ties by person, and their graph: the character in the middle, other people around.

    colour and thickness of a line   affection: the stronger, the thicker; broken where it is dislike
    distance                         familiarity: the better known, the nearer
    words under a name               what they are to the character: friend, opponent, ...
    a dash-dotted line               nobody wrote of the tie: it was found in the text

Colour is never the only sign: the level is written in a badge, and dislike is a broken line.

Directions follow the golden angle in the order of acquaintance: they spread evenly for any number of people, and nobody
moves when more people become known. Where two would overlap, the one known later moves aside or outwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt
from types import MappingProxyType
from typing import NamedTuple

from understudy.server.drawing import drawing, medallion
from understudy.story.names import shown_names
from understudy.story.persona import Persona
from understudy.story.storyfile import Story
from understudy.story.types import Moment, Relation
from understudy.story.wording import tie_sentence
from understudy.svg import Markup, element, label, line, shorten, text_width


@dataclass(frozen=True, slots=True)
class Bond:
    """All ties of the character to one person at the moment."""

    name: str
    rank: int
    """0 for the person known first; it does not change when more people become known."""
    affection: Relation | None
    familiarity: Relation | None
    kinds: tuple[Relation, ...]
    """Ties without a level (friend, opponent ...), newest first."""
    sentences: tuple[str, ...]

    @property
    def feeling(self) -> int | None:
        return None if self.affection is None else self.affection.level

    @property
    def nearness(self) -> int | None:
        return None if self.familiarity is None else self.familiarity.level

    @property
    def is_found(self) -> bool:
        """Was what its line shows found in the text: the affection, or where none is told, everything else?"""
        without_feeling = (*self.kinds, *([self.familiarity] if self.familiarity else []))
        shown = (self.affection,) if self.affection is not None else without_feeling
        return bool(shown) and all(tie.found is not None for tie in shown)


def bonds_of(persona: Persona, known: dict[str, Moment]) -> list[Bond]:
    """Ties by person, in the order of acquaintance; a person who is faced without being known comes last."""
    ties: dict[str, list[Relation]] = {}
    for tie in persona.relations:
        ties.setdefault(tie.to, []).append(tie)
    ranks = {name: rank for rank, name in enumerate([*known, *(name for name in ties if name not in known)])}
    order = sorted(ties, key=lambda name: ranks[name])
    return [_bond(name, ranks[name], ties[name], persona.language) for name in order]


def _bond(name: str, rank: int, ties: list[Relation], language: str) -> Bond:
    newest = {tie.kind: tie for tie in ties}
    return Bond(
        name,
        rank,
        newest.get("affection"),
        newest.get("familiarity"),
        tuple(sorted((tie for tie in ties if tie.level is None), key=lambda tie: tie.since, reverse=True)),
        tuple(tie_sentence(tie, language) for tie in ties),
    )


def known_since(story: Story, persona: Persona) -> dict[str, Moment]:
    """The scene in which the character met or first heard of each person, by shown name, in story order.

    Found by bisection: the set of known people only grows, so a range with equal sets at both ends is skipped.
    """
    scenes = [scene for scene, _, _ in story.outline() if scene < persona.moment]
    bounds = [*scenes, persona.moment]
    renamed = shown_names(story, persona.moment)
    return {renamed.get(name, name): scene for name, scene in _added(story, persona.name, bounds, 0, len(scenes))}


def _added(
    story: Story, who: str, bounds: list[Moment], first: int, last: int, *known: frozenset[str]
) -> Iterator[tuple[str, Moment]]:
    """Who became known between two indices of `bounds`, each with the scene, in order."""
    before, after = known or (_known(story, who, bounds[first]), _known(story, who, bounds[last]))
    if before == after:
        return
    if last - first == 1:
        yield from ((name, bounds[first]) for name in sorted(after - before))
        return
    middle = (first + last) // 2
    between = _known(story, who, bounds[middle])
    yield from _added(story, who, bounds, first, middle, before, between)
    yield from _added(story, who, bounds, middle, last, between, after)


def _known(story: Story, who: str, at: Moment) -> frozenset[str]:
    return story.acquaintances(who, at)[1] - {who}


NAME_SIZE, WORD_SIZE = 13.0, 11.0  # of type
RADIUS, OWN_RADIUS = 21.0, 31.0  # of portraits
LINE_HEIGHT = 14.5
MAX_LABEL_WIDTH = 104.0
INNER, OUTER = 104.0, 172.0  # radii of the rings of the best and the least known
MARGIN = 5.0
DEFAULT_FAMILIARITY = 3  # where the story states none
GOLDEN_ANGLE = pi * (3 - sqrt(5))
FIRST_ANGLE = -pi / 2  # straight up
ANGLE_STEP, RADIUS_STEP = pi / 36, 14.0  # in which nodes move to avoid others
NO_TONES: Mapping[str, int] = MappingProxyType({})
WIDEN = 26.0  # the outer ring grows by this times the root of the number of people beyond eight


def ties_graph(
    name: str,
    bonds: Sequence[Bond],
    when: str,
    link: Callable[[str], str | None] | None = None,
    standalone: bool = False,
    tones: Mapping[str, int] = NO_TONES,
) -> Markup:
    """`link` maps a person's name to a URL, or None; `tones` maps names to the tones of their portraits."""
    own_label = _lines(name)
    middle = NodeSize(
        max(OWN_RADIUS, _max_width(own_label) / 2) + MARGIN,
        OWN_RADIUS + MARGIN,
        OWN_RADIUS + LINE_HEIGHT * len(own_label) + MARGIN,
    )
    positions = layout(
        middle,
        [
            (bond.rank, _size(bond), (DEFAULT_FAMILIARITY if bond.nearness is None else bond.nearness) / 10)
            for bond in bonds
        ],
        INNER,
        OUTER,
    )
    sizes = [flip(_size(bond), position) for bond, position in zip(bonds, positions)]
    left = min([-OUTER, *(position.x - size.side for position, size in zip(positions, sizes))]) - MARGIN
    right = max([OUTER, *(position.x + size.side for position, size in zip(positions, sizes))]) + MARGIN
    top = min([-middle.above, *(position.y - size.above for position, size in zip(positions, sizes))]) - MARGIN
    bottom = max([middle.below, *(position.y + size.below for position, size in zip(positions, sizes))]) + MARGIN
    half_width = max(-left, right)  # symmetric, so that the character stays in the middle of the picture
    title = f"The ties of {name} {when}: " + (f"{len(bonds)} people" if len(bonds) != 1 else "one person")
    return drawing(
        title,
        (-half_width, top, 2 * half_width, bottom - top),
        element("g", *map(_line, bonds, positions), class_="ties", aria_hidden="true"),
        element("g", medallion(name, 0, 0, OWN_RADIUS, tones.get(name)), _name(own_label, 0, OWN_RADIUS), class_="own"),
        *(
            _person(bond, at, None if link is None else link(bond.name), tones.get(bond.name))
            for bond, at in zip(bonds, positions)
        ),
        class_=f"graph {'broad' if half_width > OUTER + 150 else 'middling' if half_width > OUTER + 80 else 'slim'}",
        standalone=standalone,
    )


def feeling_class(level: int | None) -> str:
    """CSS class of a level of affection, one of seven; 'unsaid' where the story states none."""
    if level is None:
        return "unsaid"
    strength = (abs(level) > 0) + (abs(level) > 2) + (abs(level) > 6)
    return "even" if not strength else f"{'warm' if level > 0 else 'cold'}-{strength}"


def signed(level: int) -> str:
    return f"+{level}" if level > 0 else f"−{-level}" if level < 0 else "0"


def _line(bond: Bond, at: NodePosition) -> Markup:
    strength = 0 if bond.feeling is None else abs(bond.feeling)
    class_ = f"tie {feeling_class(bond.feeling)}{' found' * bond.is_found}"
    return line(class_, (0, 0), at, stroke_width=1.2 + 0.55 * strength)


def _person(bond: Bond, at: NodePosition, href: str | None, tone: int | None) -> Markup:
    kinds = _kinds(bond)
    names = _lines(bond.name)
    label_top = at.y - RADIUS - LINE_HEIGHT * (len(names) + bool(kinds)) - 3 if at.is_above else at.y + RADIUS
    children = [
        medallion(bond.name, at.x, at.y, RADIUS, tone),
        *([_badge(bond.feeling, at)] if bond.feeling is not None else []),
        _name(names, at.x, label_top),
    ]
    if kinds:
        kinds_at = at.x, label_top + LINE_HEIGHT * (len(names) + 1) - 2
        children.append(label(kinds, kinds_at, "middle", font_size=WORD_SIZE, class_="kind"))
    tag = "g" if href is None else "a"
    tooltip = f"{bond.name}: {' '.join(bond.sentences)}"
    return element(tag, *children, tooltip=tooltip, href=href, class_="other", data_who=bond.name)


def _badge(level: int, at: NodePosition) -> Markup:
    x, y, text = at.x + RADIUS * 0.86, at.y + RADIUS * (0.72 if at.is_above else -0.72), signed(level)
    half_width = max(text_width(text, WORD_SIZE) / 2 + 4, 9)
    ground = element("rect", x=x - half_width, y=y - 8.5, width=2 * half_width, height=17.0, rx=8.5)
    number = label(text, (x, y + 4), "middle", font_size=WORD_SIZE)
    return element("g", ground, number, class_=f"badge {feeling_class(level)}", aria_hidden="true")


def _name(lines: Sequence[str], x: float, top: float) -> Markup:
    spans = (
        element("tspan", text, x=x, y=top + LINE_HEIGHT * number - 1, text_anchor="middle")
        for number, text in enumerate(lines, 1)
    )
    return element("text", *spans, class_="name", font_size=NAME_SIZE)


def _kinds(bond: Bond) -> str:
    return shorten(", ".join(tie.term or tie.kind for tie in bond.kinds), MAX_LABEL_WIDTH, WORD_SIZE)


def _lines(name: str) -> list[str]:
    """A name on one line, or on two of the most even width."""
    words = name.split()
    breaks = [(" ".join(words[:index]), " ".join(words[index:])) for index in range(1, len(words))]
    if not breaks or text_width(name, NAME_SIZE) < MAX_LABEL_WIDTH / 2:
        return [shorten(name, MAX_LABEL_WIDTH, NAME_SIZE)]
    best = min(breaks, key=lambda parts: max(text_width(part, NAME_SIZE) for part in parts))
    return [shorten(part, MAX_LABEL_WIDTH, NAME_SIZE) for part in best]


def _max_width(lines: Sequence[str]) -> float:
    return max(text_width(line, NAME_SIZE) for line in lines)


def _size(bond: Bond) -> NodeSize:
    lines, kinds = _lines(bond.name), _kinds(bond)
    side = max(RADIUS + 12, _max_width(lines) / 2, text_width(kinds, WORD_SIZE) / 2) + MARGIN
    return NodeSize(side, RADIUS + MARGIN, RADIUS + LINE_HEIGHT * (len(lines) + bool(kinds)) + 3 + MARGIN)


class NodeSize(NamedTuple):
    """The space a person takes: to each side of the middle, above it and below it."""

    side: float
    above: float
    below: float


class NodePosition(NamedTuple):
    x: float
    y: float

    @property
    def is_above(self) -> bool:
        """Whether it is above the middle; there the label goes above the portrait, out of the way of the tie's line."""
        return self.y < -abs(self.x) / 2


def layout(
    middle: NodeSize, people: Sequence[tuple[int, NodeSize, float]], inner: float, outer: float
) -> list[NodePosition]:
    """Positions of people around the middle at (0, 0); each is a rank of acquaintance, a size and a nearness (0 to 1).

    Sizes are with the label below the portrait; above the middle they are flipped.
    """
    outer += WIDEN * sqrt(max(len(people) - 8, 0))
    nodes: list[tuple[NodePosition, NodeSize]] = [(NodePosition(0, 0), middle)]
    for rank, size, nearness in people:
        radius = outer - (outer - inner) * min(max(nearness, 0.0), 1.0)
        position = _free_position(nodes, size, FIRST_ANGLE + rank * GOLDEN_ANGLE, radius)
        nodes.append((position, flip(size, position)))
    return [position for position, _ in nodes[1:]]


def flip(size: NodeSize, position: NodePosition) -> NodeSize:
    return NodeSize(size.side, size.below, size.above) if position.is_above else size


def _free_position(
    nodes: Sequence[tuple[NodePosition, NodeSize]], size: NodeSize, angle: float, radius: float
) -> NodePosition:
    """The position nearest to the wanted one that overlaps no node."""
    for angle_steps, radius_steps in MOVES:
        position = _polar(angle + angle_steps * ANGLE_STEP, radius + radius_steps * RADIUS_STEP)
        if not any(_overlap(position, flip(size, position), node, node_size) for node, node_size in nodes):
            return position
    far = max(abs(node.x) + abs(node.y) + node_size.side + node_size.below for node, node_size in nodes)
    return _polar(angle, far + size.side + size.above + size.below)


def _polar(angle: float, radius: float) -> NodePosition:
    return NodePosition(radius * cos(angle), radius * sin(angle))


def _overlap(first: NodePosition, first_size: NodeSize, second: NodePosition, second_size: NodeSize) -> bool:
    return (
        abs(first.x - second.x) < first_size.side + second_size.side
        and first.y - first_size.above < second.y + second_size.below
        and second.y - second_size.above < first.y + first_size.below
    )


def _moves() -> list[tuple[int, int]]:
    """Steps aside and outwards, the smallest moves first."""
    aside = [0, *(sign * step for step in range(1, 19) for sign in (1, -1))]
    return sorted(((a, o) for a in aside for o in range(30)), key=lambda move: (abs(move[0]) + 1.6 * move[1], move))


MOVES = _moves()
