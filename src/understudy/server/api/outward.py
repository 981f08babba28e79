"""What is shown of a scene or a character to somebody who has read as far as a moment: under the names shown by then.

Somebody who goes by a false name knows their true one; whoever reads about them may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from understudy.dialogue import Situation
from understudy.persona import Past
from understudy.server.stage import Role
from understudy.story import Exchange, Line, Moment, Scene
from understudy.storyfile import Story

__all__ = ["as_shown", "scene_as_shown"]


def scene_as_shown(story: Story, scene: Scene, moment: Moment, names: Mapping[str, str]) -> Scene:
    """Present are those who have come by the moment, in the order they came."""
    depth = len(scene.moment.numbers)
    inside = moment.within(scene.moment) and len(moment.numbers) > depth
    came = (name for name, first, _ in story.spells(scene.moment) if not inside or first < moment.numbers[depth])
    return _renamed(replace(scene, present=tuple(dict.fromkeys(came))), names)


def as_shown(role: Role) -> Situation:
    """The situation of somebody under the name they are shown by."""
    situation, persona = role.situation, role.situation.persona
    if role.shown == persona.name:
        return situation
    past = RenamedPast(persona.past, {persona.name: role.shown})
    return replace(situation, persona=replace(persona, name=role.shown, past=past))


class RenamedPast:
    """A past in which somebody goes by another name."""

    def __init__(self, past: Past, names: Mapping[str, str]) -> None:
        self._past, self._names = past, names

    def __len__(self) -> int:
        return len(self._past)

    def lines(self, last: int | None = None) -> tuple[Line, ...]:
        return tuple(_line(line, self._names) for line in self._past.lines(last))

    def scenes(self, last: int | None = None) -> Iterator[Scene]:
        for scene in self._past.scenes(last):
            yield _renamed(scene, self._names)

    def exchanges(self) -> Iterator[Exchange]:
        for one in self._past.exchanges():
            heard = None if one.heard is None else _line(one.heard, self._names)
            yield Exchange(heard, _line(one.said, self._names), one.setting)


def _renamed(scene: Scene, names: Mapping[str, str]) -> Scene:
    present = tuple(names.get(name, name) for name in scene.present)
    return replace(scene, present=present, lines=tuple(_line(line, names) for line in scene.lines))


def _line(line: Line, names: Mapping[str, str]) -> Line:
    shown = None if line.speaker is None else names.get(line.speaker)
    return line if shown is None else replace(line, speaker=shown)
