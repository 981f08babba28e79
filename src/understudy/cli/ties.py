"""How a character's affection has changed so far, as that character knows it, and the chart of it."""

from __future__ import annotations

from itertools import pairwise

from rich.text import Text

from understudy.cli.chart import Point, line_chart
from understudy.cli.show import Screen, clean, heading, indented
from understudy.persona import Persona, other_at
from understudy.storyfile import Story

__all__ = ["affection_so_far", "most_changed", "print_affection"]

AFFECTION = "affection"


def affection_so_far(story: Story, persona: Persona) -> dict[str, list[Point]]:
    """The levels of affection up to the persona's moment, by the names the persona knows the others by."""
    shown = {tie.to for tie in persona.relations if tie.kind == AFFECTION}
    courses: dict[str, list[Point]] = {}
    names: dict[str, str] = {}
    for tie in story.relations(of=persona.name):
        if tie.kind != AFFECTION or tie.level is None or tie.since > persona.moment:
            continue
        if tie.to not in names:
            names[tie.to] = other_at(story, tie.to, persona).name
        if names[tie.to] in shown:
            courses.setdefault(names[tie.to], []).append((tie.since, tie.level))
    return {name: _settled(course) for name, course in courses.items()}


def _settled(course: list[Point]) -> list[Point]:
    """One level a moment, the last one said; and only where it changes."""
    newest = dict(course)
    kept: list[Point] = []
    for moment, level in newest.items():
        if not kept or kept[-1][1] != level:
            kept.append((moment, level))
    return kept


def most_changed(courses: dict[str, list[Point]]) -> str | None:
    """Towards whom affection has travelled furthest; nobody where it never moved."""
    moved = {name: sum(abs(a[1] - b[1]) for a, b in pairwise(course)) for name, course in courses.items()}
    return max(moved, key=lambda name: moved[name]) if any(moved.values()) else None


def print_affection(out: Screen, persona: Persona, to: str, course: list[Point]) -> None:
    until = "the end" if persona.moment.is_end else persona.moment.dotted
    out.print(heading(f"{persona.name}'s affection towards {to}, up to {until} (-10 to +10)"))
    rows = line_chart(course, persona.moment, width=min(out.width, 80) - 2, ascii_only=out.options.ascii_only)
    out.print(indented(Text(clean("\n".join(rows)), no_wrap=True)))
