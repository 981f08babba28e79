"""What a reader who has come as far as a moment is shown of a scene, a character or a reply: the names shown by then.

Somebody who goes by a false name knows their true one, and so may those who were let in on it; whoever reads about them
does not. What is said in a scene stays as it was said there.
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
    """Present are those who have come by the moment, in the order they came."""
    depth = len(scene.moment.numbers)
    inside = moment.within(scene.moment) and len(moment.numbers) > depth
    presence = story.presence_intervals(scene.moment)
    came = (name for name, first, _ in presence if not inside or first < moment.numbers[depth])
    return _scene(replace(scene, present=tuple(dict.fromkeys(came))), names)


def reply_as_shown(reply: Reply, names: ShownNames) -> Reply:
    if not names.false:
        return reply
    return replace(
        reply,
        text=names.in_text(reply.text),
        candidates=tuple(replace(one, text=names.in_text(one.text)) for one in reply.candidates),
        evidence=tuple(replace(one, text=names.in_text(one.text)) for one in reply.evidence),
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
    """Without the sentence that they go by the name, which says of a name that it is false."""
    shown = names.of(other.name)
    told = about_other(Fact(shown, GOES_BY, (shown,), Moment((0,))), shown, language)
    profile = (names.in_text(sentence) for sentence in other.profile)
    return Other(shown, tuple(one for one in profile if one != told), _ties(other.relations, names))


def _ties(ties: tuple[Relation, ...], names: ShownNames) -> tuple[Relation, ...]:
    return tuple(replace(tie, of=names.of(tie.of), to=names.of(tie.to)) for tie in ties)


class RenamedPast:
    """A past in which people go by the names they are shown by."""

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
        for one in self._past.exchanges():
            heard = None if one.heard is None else _line(one.heard, self._names)
            yield Exchange(heard, _line(one.said, self._names), one.setting)


def _scene(scene: Scene, names: ShownNames) -> Scene:
    present = tuple(map(names.of, scene.present))
    return replace(scene, present=present, lines=tuple(_line(line, names) for line in scene.lines))


def _line(line: Line, names: ShownNames) -> Line:
    shown = None if line.speaker is None else names.false.get(line.speaker)
    return line if shown is None else replace(line, speaker=shown)
