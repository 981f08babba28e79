"""What a character knows at a moment, and from where: scenes it was in, people it has heard of, things since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy.names import GOES_BY, shown_names_at
from understudy.persona import NOT_OF_ONESELF, Persona
from understudy.server.lookup import shown_names
from understudy.story import Line, Moment, holding_at
from understudy.storyfile import Story
from understudy.wording import about_other

__all__ = ["Acquaintance", "Known", "Memory", "about_others", "acquaintances", "dated_attributes", "memories"]


@dataclass(frozen=True, slots=True)
class Known:
    """Something the character can tell: what it is about, what it is, and since when it has been so."""

    about: str
    words: tuple[str, ...]
    since: Moment | None


@dataclass(frozen=True, slots=True)
class Memory:
    """A scene the character was in: who was there, and how it ended as far as the character saw."""

    moment: Moment
    setting: str
    company: tuple[str, ...]
    lines: int
    last: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Acquaintance:
    name: str
    since: Moment
    met: bool
    """Whether they have met, or the name has only been heard."""


def dated_attributes(story: Story, persona: Persona) -> list[Known]:
    """What the persona is and has, each with the moment since when."""
    names = shown_names_at(story, persona.moment)
    dated = {fact.attribute: fact.since for fact in holding_at(story.facts(persona.name), persona.moment)}
    return [
        Known(name, tuple(map(names.in_text, values)), dated.get(name)) for name, values in persona.attributes.items()
    ]


def about_others(story: Story, persona: Persona, known: Mapping[str, Moment]) -> list[Known]:
    """What the persona has been let in on about people it knows: what `other_at` tells of them that is no plain sight.
    That somebody goes by a name is left out, since it says of the name that it is false."""
    names = shown_names_at(story, persona.moment)
    told = [
        fact
        for fact in holding_at(story.facts(), persona.moment)
        if fact.known_to is not None and persona.name in fact.known_to
        and fact.who != persona.name and fact.attribute not in {*NOT_OF_ONESELF, GOES_BY}
        and names.of(fact.who) in known
    ]  # fmt: skip
    owners = list(dict.fromkeys(fact.who for fact in told))
    told.sort(key=lambda fact: owners.index(fact.who))
    return [
        Known(names.of(fact.who), (names.in_text(about_other(fact, names.of(fact.who), story.language)),), fact.since)
        for fact in told
    ]


def memories(persona: Persona, most: int | None, gist: int = 2) -> list[Memory]:
    """The scenes the persona remembers, the latest first."""
    scenes = list(persona.past.scenes(most))
    return [
        Memory(
            scene.moment,
            scene.setting,
            tuple(name for name in scene.present if name != persona.name),
            len(scene.lines),
            scene.lines[-gist:],
        )
        for scene in reversed(scenes)
    ]


def acquaintances(story: Story, persona: Persona, known: Mapping[str, Moment]) -> Sequence[Acquaintance]:
    """Whom the persona knows, in the order of acquaintance."""
    met, _ = story.acquaintances(persona.name, persona.moment)
    renamed = shown_names(story, persona.moment)
    names = {renamed.get(name, name) for name in met}
    return [Acquaintance(name, since, name in names) for name, since in known.items()]
