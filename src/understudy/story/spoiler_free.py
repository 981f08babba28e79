"""The story so far: what may be shown of it to somebody who has come as far as a moment and no further.

Code that shows a story to people who may not know its end (the pages and routes of the server, a table before a moment)
takes what it shows from here or from a persona, never from the story itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from understudy.story.persona import Persona, names_known_to, witnessed
from understudy.story.storyfile import Story
from understudy.story.types import Moment, Relation, Scene, holding_at

Course = list[tuple[Moment, int]]
"""How the level of a tie changed: from which moment on it was what."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A place on a story's timeline; what happens there is told only where it has been reached."""

    moment: Moment
    reached: bool
    title: str = ""
    setting: str = ""
    lines: int | None = None


def scenes_before(story: Story, moment: Moment | None, since: Moment | None = None) -> Iterator[Scene]:
    """Scenes that begin before a moment (None: all); the last one's lines and company end where it comes."""
    for scene in story.scenes(since, moment):
        if moment is None or not _inside(moment, scene.moment):
            yield scene
            continue
        lines = tuple(line for line in scene.lines if line.moment < moment)
        came = {name for name, first, _ in story.presence_intervals(scene.moment) if first <= len(lines)}
        yield replace(scene, lines=lines, present=tuple(name for name in scene.present if name in came))


def timeline(story: Story, moment: Moment) -> Iterator[Stop]:
    """Every part, chapter and scene in order. Those that begin at or after the moment are numbers only.

    That there is more to come is no secret (a book shows how thick it is); what comes is.
    """
    headings = list(story.headings())
    headed = set[tuple[int, ...]]()
    for scene, setting, lines in story.outline():
        for depth in range(1, len(scene.numbers)):
            above = scene.numbers[:depth]
            if above not in headed:
                headed.add(above)
                yield _heading(Moment(above, scene.levels), headings, moment)
        if scene < moment:
            line_count = min(moment.numbers[len(scene.numbers)] - 1, lines) if _inside(moment, scene) else lines
            yield Stop(scene, reached=True, setting=setting, lines=max(line_count, 0))
        else:
            yield Stop(scene, reached=False)


def _inside(moment: Moment, scene: Moment) -> bool:
    return moment.within(scene) and len(moment.numbers) > len(scene.numbers)


def _heading(position: Moment, headings: list[tuple[Moment, str]], moment: Moment) -> Stop:
    reached = position <= moment  # its title is read before its first line
    title = next((title for at, title in headings if at == position), "") if reached else ""
    return Stop(position, reached, title)


def courses_so_far(story: Story, persona: Persona, kind: str = "affection") -> dict[str, Course]:
    """The levels of a kind of tie up to the persona's moment, by the names the persona knows the others by."""
    shown = {tie.to for tie in persona.relations if tie.kind == kind}
    names = names_known_to(story, persona.name, persona.moment)
    ties: dict[str, list[Relation]] = {}
    for tie in witnessed(story, story.relations(of=persona.name), persona.name, persona.moment):
        name = names.get(tie.to, tie.to)
        if tie.kind == kind and tie.level is not None and tie.since <= persona.moment and name in shown:
            ties.setdefault(name, []).append(tie)
    return {name: _course(of_one, persona.moment) for name, of_one in ties.items()}


def _course(ties: list[Relation], upto: Moment) -> Course:
    """The level that holds wherever one begins or ends, but only where it is another than before."""
    turns = sorted({turn for tie in ties for turn in (tie.since, tie.until) if turn is not None and turn <= upto})
    course: Course = []
    for turn in turns:
        for tie in holding_at(ties, turn):
            if tie.level is not None and (not course or course[-1][1] != tie.level):
                course.append((turn, tie.level))
    return course


def most_changed(courses: dict[str, Course]) -> str | None:
    """Towards whom a tie has travelled furthest; nobody where it never moved."""
    moved = {name: sum(abs(a[1] - b[1]) for a, b in pairwise(course)) for name, course in courses.items()}
    return max(moved, key=lambda name: moved[name]) if any(moved.values()) else None
