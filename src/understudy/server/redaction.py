"""Replaces true names by the names shown at a moment, in scenes, characters and replies that are sent to a reader.

Somebody who goes by a false name knows their true one, and so may those who were let in on it; a reader does not yet.
What is said in a scene stays as it was said there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from understudy.dialogue import Reply, Situation
from understudy.names import GOES_BY, ShownNames
from understudy.persona import Other, Past, Persona
from understudy.story import Exchange, Fact, Line, Moment, Relation, Scene
from understudy.storyfile import Story
from understudy.wording import about_other

__all__ = ["persona_as_shown", "reply_as_shown", "scene_as_shown", "situation_as_shown"]


def scene_as_shown(story: Story, scene: Scene, moment: Moment, names: ShownNames) -> Scene:
    """A scene up to a moment; present are those who have entered by then, in the order they came."""
    depth = len(scene.moment.numbers)
    inside = moment.within(scene.moment) and len(moment.numbers) > depth
    entered = (name for name, first, _ in story.spells(scene.moment) if not inside or first < moment.numbers[depth])
    return _scene(replace(scene, present=tuple(dict.fromkeys(entered))), names)


def reply_as_shown(reply: Reply, names: ShownNames) -> Reply:
    if not names.false:
        return reply
    return replace(
        reply,
        text=names.in_text(reply.text),
        candidates=tuple(replace(candidate, text=names.in_text(candidate.text)) for candidate in reply.candidates),
        evidence=tuple(replace(item, text=names.in_text(item.text)) for item in reply.evidence),
    )


def situation_as_shown(situation: Situation, names: ShownNames) -> Situation:
    if not names.false:
        return situation
    language = situation.persona.language
    return replace(
        situation,
        persona=persona_as_shown(situation.persona, names),
        faced=None if situation.faced is None else _other(situation.faced, names, language),
        present=tuple(_other(other, names, language) for other in situation.present),
    )


def persona_as_shown(persona: Persona, names: ShownNames) -> Persona:
    if not names.false:
        return persona
    return replace(
        persona,
        name=names.of(persona.name),
        profile=tuple(map(names.in_text, persona.profile)),
        attributes={name: tuple(map(names.in_text, values)) for name, values in persona.attributes.items()},
        relations=_ties(persona.relations, names),
        past=RenamedPast(persona.past, names),
    )


def _other(other: Other, names: ShownNames, language: str) -> Other:
    """Leaves out the sentence 'goes by ...', which would give away that the shown name is false."""
    shown = names.of(other.name)
    revealing = about_other(Fact(shown, GOES_BY, (shown,), Moment((0,))), shown, language)
    profile = (names.in_text(sentence) for sentence in other.profile)
    return Other(shown, tuple(sentence for sentence in profile if sentence != revealing), _ties(other.relations, names))


def _ties(ties: tuple[Relation, ...], names: ShownNames) -> tuple[Relation, ...]:
    return tuple(replace(tie, of=names.of(tie.of), to=names.of(tie.to)) for tie in ties)


class RenamedPast:
    """A persona's past with people under the names they are shown by."""

    def __init__(self, past: Past, names: ShownNames) -> None:
        self._past, self._names = past, names

    def __len__(self) -> int:
        return len(self._past)

    def lines(self, last: int | None = None) -> tuple[Line, ...]:
        return tuple(_line(line, self._names) for line in self._past.lines(last))

    def scenes(self, last: int | None = None) -> Iterator[Scene]:
        for scene in self._past.scenes(last):
            yield _scene(scene, self._names)

    def exchanges(self) -> Iterator[Exchange]:
        for exchange in self._past.exchanges():
            heard = None if exchange.heard is None else _line(exchange.heard, self._names)
            yield Exchange(heard, _line(exchange.said, self._names), exchange.setting)


def _scene(scene: Scene, names: ShownNames) -> Scene:
    present = tuple(map(names.of, scene.present))
    return replace(scene, present=present, lines=tuple(_line(line, names) for line in scene.lines))


def _line(line: Line, names: ShownNames) -> Line:
    shown = None if line.speaker is None else names.false.get(line.speaker)
    return line if shown is None else replace(line, speaker=shown)
