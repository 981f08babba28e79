"""The data behind all pictures of a character at a moment, gathered once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from understudy.server.drawing.course_chart import TimeAxis, course_chart, time_axis
from understudy.server.drawing.ties_graph import Bond, bonds_of, known_since, ties_graph
from understudy.server.names import persona_as_shown, tones
from understudy.story.names import shown_names_at
from understudy.story.persona import Persona
from understudy.story.spoiler_free import Course, Stop, courses_so_far, most_changed, timeline
from understudy.story.storyfile import Story
from understudy.story.types import Moment

__all__ = ["LEVELS", "Portrayal", "portray"]

LEVELS = ("affection", "familiarity")


@dataclass(frozen=True, slots=True)
class Portrayal:
    persona: Persona
    """With the names a reader is shown."""
    known: Mapping[str, Moment]
    """Since which scene the character has known each person."""
    bonds: Sequence[Bond]
    stops: Sequence[Stop]
    axis: TimeAxis
    courses: Mapping[str, Mapping[str, Course]]
    """By kind of level, then by person."""
    tones: Mapping[str, int]
    """The tones of portraits, by the names that are shown."""

    @property
    def shown(self) -> str:
        """The name the character is shown by, which may be a false one."""
        return self.persona.name

    def default_target(self) -> str | None:
        """The person towards whom affection or familiarity has changed most; if none has, the best known."""
        changed = most_changed(dict(self.courses["affection"])) or most_changed(dict(self.courses["familiarity"]))
        charted = [bond for bond in self.bonds if self.has_course(bond.name)]
        best = max(charted, key=lambda bond: (bond.nearness or 0, abs(bond.feeling or 0)), default=None)
        return changed or (None if best is None else best.name)

    def has_course(self, to: str, kinds: Sequence[str] = LEVELS) -> bool:
        return any(to in self.courses[kind] for kind in kinds)

    def graph(self, link: Callable[[str], str | None] | None = None, standalone: bool = False) -> Markup:
        return ties_graph(self.shown, self.bonds, _when(self.persona.moment), link, standalone, self.tones)

    def chart(
        self,
        to: str,
        kinds: Sequence[str] = LEVELS,
        link: Callable[[Moment], str] | None = None,
        standalone: bool = False,
    ) -> Markup:
        towards = {kind: self.courses[kind].get(to, []) for kind in kinds}
        return course_chart(self.shown, to, towards, self.axis, _when(self.persona.moment), link, standalone)


def portray(story: Story, persona: Persona) -> Portrayal:
    known, names = known_since(story, persona), shown_names_at(story, persona.moment)
    shown = persona_as_shown(persona, names)
    stops = list(timeline(story, persona.moment))
    return Portrayal(
        shown,
        known,
        bonds_of(shown, known),
        stops,
        time_axis(stops, persona.moment),
        {
            kind: {names.of(name): course for name, course in courses_so_far(story, persona, kind).items()}
            for kind in LEVELS
        },
        tones(story, persona.moment),
    )


def _when(moment: Moment) -> str:
    """A moment as part of a sentence."""
    return "at the end" if moment.is_end else f"at {moment}"
