"""The chart of how a character's affection has changed so far."""

from __future__ import annotations

from rich.text import Text

from understudy.cli.chart import line_chart
from understudy.cli.show import Screen, clean, heading, indented
from understudy.persona import Persona
from understudy.spoiler_free import Course

__all__ = ["print_affection"]


def print_affection(out: Screen, persona: Persona, to: str, course: Course) -> None:
    until = "the end" if persona.moment.is_end else persona.moment.dotted
    out.print(heading(f"{persona.name}'s affection towards {to}, up to {until} (-10 to +10)"))
    rows = line_chart(course, persona.moment, width=min(out.width, 80) - 2, ascii_only=out.options.ascii_only)
    out.print(indented(Text(clean("\n".join(rows)), no_wrap=True)))
