"""The stories a server has open, their characters as clients ask for them, and the names a reader knows people by.

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

import asyncio
import re
import unicodedata
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from urllib.parse import unquote

from understudy.errors import UnknownStory
from understudy.server.problems import Refused
from understudy.story.dialogue import Reply, Situation, mark_found, situation_at
from understudy.story.names import GOES_BY, ShownNames, ambiguity, people_at, people_called, shown_names, shown_names_at
from understudy.story.persona import FoundSentence, Other, Past, Persona
from understudy.story.storyfile import CastMember, Story
from understudy.story.types import Exchange, Fact, Line, Moment, Relation, Scene
from understudy.story.wording import about_other
from understudy.text import fold

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
    @lru_cache(1024)  # clients send the same few names with every request
    def parse(cls, text: str) -> ModelName:
        match = PATTERN.fullmatch(text) if len(text) <= MAX_LENGTH else None
        if match is None:
            raise _not_a_model(text)
        story, character, moment, facing = (None if part is None else unquote(part).strip() for part in match.groups())
        if not story or not character:
            raise _not_a_model(text)
        return cls(story, character, moment or "end", facing or None)

    def __str__(self) -> str:
        parts = [self.story.translate(ESCAPES), "/", self.character.translate(ESCAPES)]
        if self.moment != "end":
            parts += ["@", self.moment.translate(ESCAPES)]
        if self.facing is not None:
            parts += ["#", self.facing.translate(ESCAPES)]
        return "".join(parts)


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


CACHE_SIZE = 256  # characters; agents cache by the identity of a persona, so the same object is handed out again
MAX_SLUG = 40

CacheKey = tuple[ModelName, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ServedCharacter:
    """A character at a moment as it knows itself and others, and the names that clients are shown."""

    situation: Situation
    names: ShownNames

    @property
    def shown_name(self) -> str:
        """The name the character is shown by, which may be a false one."""
        return self.names.of(self.situation.persona.name)

    @property
    def shown_situation(self) -> Situation:
        """The situation as a client may see it."""
        return situation_as_shown(self.situation, self.names)

    def speaker(self, name: str, stranger: str) -> str:
        """Who speaks where a client's history has a name: the character itself, by the name it is shown by.

        A client cannot know the true name behind a false one, so whoever is called by it is a `stranger`.
        """
        own = self.situation.persona.name
        if fold(name) == fold(self.shown_name):
            return own
        return stranger if fold(name) == fold(own) else name

    def redact(self, reply: Reply) -> Reply:
        """A reply as a client may see it."""
        return reply_as_shown(mark_found(reply, self.situation), self.names)


class StoryRegistry:
    """Stories by the names clients use for them. The mapping is replaced whole, so that readers need no lock."""

    def __init__(self, stories: Mapping[str, Story]) -> None:
        self._stories = dict(stories)
        self._names = {story.identity: name for name, story in stories.items()}
        self._characters: OrderedDict[CacheKey, ServedCharacter] = OrderedDict()
        self._lock = Lock()

    def __iter__(self) -> Iterator[tuple[str, Story]]:
        return iter(self._stories.items())

    def __contains__(self, name: str) -> bool:
        return name in self._stories

    def unused_name(self, title: str, taken: Collection[str] = ()) -> str:
        """A name for a story of a title: its slug, with a number where a story has that."""
        name = base = slug(title)
        number = 2
        while name in self or name in taken:
            name, number = f"{base}-{number}", number + 1
        return name

    def story(self, name: str) -> Story:
        story = self._stories.get(name)
        if story is None:
            raise UnknownStory(f"there is no story '{name[:80]}' here; there is {', '.join(self._stories) or 'none'}")
        return story

    def story_or_none(self, name: str) -> Story | None:
        """None where it was removed."""
        return self._stories.get(name)

    def labels(self) -> dict[str, str]:
        """What each story is called on a page: its title, with its name where others have the same title."""
        stories = self._stories
        titles = Counter(story.title for story in stories.values())
        return {
            name: story.title if titles[story.title] == 1 else f"{story.title} ({name})"
            for name, story in stories.items()
        }

    def identified(self, identity: str) -> list[Story]:
        """The story of an identity; the newer reading that has replaced it while a reply was being written."""
        stories = self._stories
        for story in stories.values():
            if story.identity == identity:
                return [story]
        newer = stories.get(self._names.get(identity, ""))
        return [] if newer is None else [newer]

    def put(self, name: str, story: Story) -> None:
        """Add a story, or replace it by a newer reading of it."""
        with self._lock:
            self._stories = {**self._stories, name: story}
            self._names[story.identity] = name
            self._characters.clear()

    def remove(self, name: str) -> None:
        self.story(name)
        with self._lock:
            self._stories = {key: story for key, story in self._stories.items() if key != name}
            self._characters.clear()

    async def character_async(self, name: ModelName, extra_profile: tuple[str, ...] = ()) -> ServedCharacter:
        """`character` without blocking the event loop: from the cache, else in a thread."""
        cached = self._cached((name, extra_profile))
        return cached if cached is not None else await asyncio.to_thread(self.character, name, extra_profile)

    def character(self, name: ModelName, extra_profile: tuple[str, ...] = ()) -> ServedCharacter:
        """A character by its model name; `extra_profile` are sentences that a client adds to the profile."""
        key = (name, extra_profile)
        if (cached := self._cached(key)) is not None:
            return cached
        story = self.story(name.story)
        at = story.moment(name.moment)
        situation = situation_of(story, name.character, at, name.facing)
        if extra_profile:
            persona = situation.persona
            situation = replace(situation, persona=replace(persona, profile=(*persona.profile, *extra_profile)))
        character = ServedCharacter(situation, shown_names_at(story, at))
        with self._lock:
            if self._stories.get(name.story) is story:  # it may have been replaced meanwhile
                self._characters[key] = character
                if len(self._characters) > CACHE_SIZE:
                    self._characters.popitem(last=False)
        return character

    def _cached(self, key: CacheKey) -> ServedCharacter | None:
        with self._lock:
            character = self._characters.get(key)
            if character is not None:
                self._characters.move_to_end(key)
            return character


def slug(title: str) -> str:
    """A story's name in URLs: the letters and digits of its title, in any script."""
    plain = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", title).casefold())
    return plain[:MAX_SLUG].strip("-") or "story"
