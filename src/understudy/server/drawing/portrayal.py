"""What the pictures of a character at a moment are drawn from, gathered once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from understudy.names import shown_names_at
from understudy.persona import Persona
from understudy.server.drawing.axis import Axis, axis_to
from understudy.server.drawing.bonds import Bond, bonds_of, known_since
from understudy.server.drawing.courses import course_chart
from understudy.server.drawing.relations import relation_graph
from understudy.server.redaction import persona_as_shown
from understudy.spoiler_free import Course, Stop, courses_so_far, most_changed, timeline
from understudy.story import Moment
from understudy.storyfile import Story

__all__ = ["LEVELS", "Portrayal", "portrayed", "said"]

LEVELS = ("affection", "familiarity")


@dataclass(frozen=True, slots=True)
class Portrayal:
    persona: Persona
    """As a reader is shown the character."""
    known: Mapping[str, Moment]
    """Since which scene the character has known of whom."""
    bonds: Sequence[Bond]
    stops: Sequence[Stop]
    axis: Axis
    courses: Mapping[str, Mapping[str, Course]]
    """By kind of level, then by person."""

    @property
    def shown(self) -> str:
        """The name the character is shown by, which may be a false one."""
        return self.persona.name

    def watched(self) -> str | None:
        """Towards whom most has changed; where nothing has, the one who is best known."""
        moved = most_changed(dict(self.courses["affection"])) or most_changed(dict(self.courses["familiarity"]))
        drawn = [bond for bond in self.bonds if self.has_course(bond.name)]
        best = max(drawn, key=lambda bond: (bond.nearness or 0, abs(bond.feeling or 0)), default=None)
        return moved or (None if best is None else best.name)

    def has_course(self, to: str, kinds: Sequence[str] = LEVELS) -> bool:
        return any(to in self.courses[kind] for kind in kinds)

    def graph(self, link: Callable[[str], str | None] | None = None, alone: bool = False) -> Markup:
        return relation_graph(self.shown, self.bonds, said(self.persona.moment), link, alone)

    def chart(
        self,
        to: str,
        kinds: Sequence[str] = LEVELS,
        link: Callable[[Moment], str] | None = None,
        alone: bool = False,
    ) -> Markup:
        towards = {kind: self.courses[kind].get(to, []) for kind in kinds}
        return course_chart(self.shown, to, towards, self.axis, said(self.persona.moment), link, alone)


def portrayed(story: Story, persona: Persona) -> Portrayal:
    known, names = known_since(story, persona), shown_names_at(story, persona.moment)
    shown = persona_as_shown(persona, names)
    stops = list(timeline(story, persona.moment))
    return Portrayal(
        shown,
        known,
        bonds_of(shown, known),
        stops,
        axis_to(stops, persona.moment),
        {
            kind: {names.of(name): course for name, course in courses_so_far(story, persona, kind).items()}
            for kind in LEVELS
        },
    )


def said(moment: Moment) -> str:
    """A moment as part of a sentence."""
    return "at the end" if moment.is_end else f"at {moment}"
