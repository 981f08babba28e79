"""Names in requests and responses: which character a client means, and the names by which a reader knows people.

A model name, `story/character@moment#facing`, chooses the moment. Moment and facing are optional: without them the
character knows the whole story, and faces nobody of it. A `/`, `@`, `#` or `%` that is part of a name is
percent-encoded as in a URL (%2F, %40, %23, %25).

Every route that takes a name resolves it here (the rule is in `story.names`). Errors of the story itself may name
later moments or people, so they are replaced: the message is the same for somebody who comes later, for the true name
behind a false one and for a name that is made up.

True names are replaced by the names shown at a moment in scenes, characters and replies that are sent to a reader.
Somebody who goes by a false name knows their true one, and so may those who were let in on it; a reader does not yet.
What is said in a scene stays as it was said there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import unquote

from understudy.server.problems import Refused
from understudy.story.dialogue import Reply, Situation, situation_at
from understudy.story.names import GOES_BY, ShownNames, ambiguity, people_at, people_called, shown_names
from understudy.story.persona import FoundSentence, Other, Past, Persona
from understudy.story.storyfile import CastMember, Story
from understudy.story.types import Exchange, Fact, Line, Moment, Relation, Scene
from understudy.story.wording import about_other

PATTERN = re.compile(r"(?P<story>[^/@#]+)/(?P<character>[^/@#]+)(?:@(?P<moment>[^/@#]+))?(?:#(?P<facing>[^/@#]+))?")
ESCAPES = str.maketrans({mark: f"%{ord(mark):02X}" for mark in "/@#%"})
MAX_LENGTH = 500


@dataclass(frozen=True, slots=True)
class ModelName:
    """A character of a story at a moment, before somebody."""

    story: str
    character: str
    moment: str = "end"
    facing: str | None = None

    @classmethod
    def parse(cls, text: str) -> ModelName:
        return _parse(text)

    def __str__(self) -> str:
        parts = [self.story.translate(ESCAPES), "/", self.character.translate(ESCAPES)]
        if self.moment != "end":
            parts += ["@", self.moment.translate(ESCAPES)]
        if self.facing is not None:
            parts += ["#", self.facing.translate(ESCAPES)]
        return "".join(parts)


@lru_cache(1024)  # clients send the same few names with every request
def _parse(text: str) -> ModelName:
    match = PATTERN.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if match is None:
        raise _not_a_model(text)
    story, character, moment, facing = (None if part is None else unquote(part).strip() for part in match.groups())
    if not story or not character:
        raise _not_a_model(text)
    return ModelName(story, character, moment or "end", facing or None)


def _not_a_model(text: str) -> Refused:
    return Refused(
        f"'{text[:80]}' names no character: write story/character, story/character@moment "
        "or story/character@moment#facing, as in demo/Zita@2.3#Benedek",
        404,
        param="model",
        code="model_not_found",
    )


MAX_QUOTED = 80  # characters of a name that an error repeats


def speakers_before(story: Story, at: Moment) -> list[tuple[str, CastMember]]:
    """Those who have spoken before a moment: the name they are shown by, and their lines up to it."""
    names = shown_names(story, at)
    return [(names.get(member.character.name, member.character.name), member) for member in story.cast_before(at)]


def tones(story: Story, at: Moment) -> dict[str, int]:
    """The tone of everybody's portrait who has spoken before a moment, by the name they are shown by: their number in
    the order of their first lines. Whoever comes later changes nobody's."""
    speakers = sorted(speakers_before(story, at), key=lambda speaker: (speaker[1].first or at, speaker[0]))
    return {shown: number for number, (shown, _) in enumerate(speakers)}


def resolve_name(story: Story, name: str, at: Moment) -> str:
    """The story's own name for the person whom a reader calls by a name at a moment.

    Only people who have been in a scene by then, or are present as the first scene begins, can be resolved.
    """
    matches = people_called(people_at(story, at), name)
    if len(matches) > 1:
        raise Refused(ambiguity(name[:MAX_QUOTED], matches), 404, "name")
    if not matches:
        raise Refused(f"nobody heard so far is called '{name[:MAX_QUOTED]}': choose from the cast", 404, "name")
    return matches[0].name


def situation_of(story: Story, name: str, at: Moment, facing: str | None = None) -> Situation:
    """The situation of a character before somebody, both named as a reader knows them."""
    who = resolve_name(story, name, at)
    faced = None if facing is None else resolve_name(story, facing, at)
    return situation_between(story, who, at, faced)


def situation_between(story: Story, who: str, at: Moment, faced: str | Other | None = None) -> Situation:
    """The same for the story's own names, as `resolve_name` returns them; `faced` may be somebody not of the story."""
    if faced == who:
        raise Refused("nobody can stand before themselves: name somebody else", 400, "facing")
    return situation_at(story, who, at, faced)


def scene_as_shown(story: Story, scene: Scene, moment: Moment, names: ShownNames) -> Scene:
    """A scene up to a moment; present are those who have entered by then, in the order they came."""
    depth = len(scene.moment.numbers)
    inside = moment.within(scene.moment) and len(moment.numbers) > depth
    presence = story.presence_intervals(scene.moment)
    entered = (name for name, first, _ in presence if not inside or first < moment.numbers[depth])
    return _scene(replace(scene, present=tuple(dict.fromkeys(entered))), names)


def reply_as_shown(reply: Reply, names: ShownNames) -> Reply:
    if not names.called:
        return reply
    return replace(
        reply,
        text=names.in_text(reply.text),
        candidates=tuple(replace(candidate, text=names.in_text(candidate.text)) for candidate in reply.candidates),
        evidence=tuple(replace(item, text=names.in_text(item.text)) for item in reply.evidence),
    )


def situation_as_shown(situation: Situation, names: ShownNames) -> Situation:
    if not names.called:
        return situation
    language = situation.persona.language
    return replace(
        situation,
        persona=persona_as_shown(situation.persona, names),
        faced=None if situation.faced is None else _other(situation.faced, names, language),
        present=tuple(_other(other, names, language) for other in situation.present),
        scene=None if situation.scene is None else _scene(situation.scene, names),
    )


def persona_as_shown(persona: Persona, names: ShownNames) -> Persona:
    if not names.called:
        return persona
    return replace(
        persona,
        name=names.of(persona.name),
        profile=tuple(map(names.in_text, persona.profile)),
        attributes={name: tuple(map(names.in_text, values)) for name, values in persona.attributes.items()},
        relations=_ties(persona.relations, names),
        past=RenamedPast(persona.past, names),
        greetings=tuple(map(names.in_text, persona.greetings)),
        lore=tuple(replace(entry, content=names.in_text(entry.content)) for entry in persona.lore),
        found=_found(persona.found, names),
    )


def _found(found: Mapping[str, FoundSentence], names: ShownNames) -> dict[str, FoundSentence]:
    return {
        names.in_text(text): replace(sentence, plain=names.in_text(sentence.plain)) for text, sentence in found.items()
    }


def _other(other: Other, names: ShownNames, language: str) -> Other:
    """Leaves out the sentence 'goes by ...', which would give away that the shown name is false."""
    shown = names.of(other.name)
    revealing = about_other(Fact(shown, GOES_BY, (shown,), Moment((0,))), shown, language)
    profile = (names.in_text(sentence) for sentence in other.profile)
    plain = tuple(sentence for sentence in profile if sentence != revealing)
    found = _found(other.found, names)
    return replace(other, name=shown, profile=plain, relations=_ties(other.relations, names), aliases=(), found=found)


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
            prompt = None if exchange.heard is None else _line(exchange.heard, self._names)
            yield Exchange(prompt, _line(exchange.said, self._names), exchange.setting)

    def thoughts(self) -> tuple[Line, ...]:
        return tuple(_line(line, self._names) for line in self._past.thoughts())

    def company(self, moment: Moment) -> frozenset[str]:
        return frozenset(map(self._names.of, self._past.company(moment)))


def _scene(scene: Scene, names: ShownNames) -> Scene:
    present = tuple(map(names.of, scene.present))
    return replace(scene, present=present, lines=tuple(_line(line, names) for line in scene.lines))


def _line(line: Line, names: ShownNames) -> Line:
    shown = None if line.speaker is None else names.called.get(line.speaker)
    return line if shown is None else replace(line, speaker=shown)
