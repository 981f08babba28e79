"""What a character knows at a moment, and from where: scenes it was in, people it has heard of, things since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy.persona import Persona, other_at
from understudy.server.standing import shown_names
from understudy.story import Fact, Line, Moment
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
    dated = {
        (fact.attribute, fact.values): fact.since for fact in story.facts(persona.name) if fact.since <= persona.moment
    }
    return [Known(name, values, dated.get((name, values))) for name, values in persona.attributes.items()]


def about_others(story: Story, persona: Persona, known: Mapping[str, Moment]) -> list[Known]:
    """What the persona has been let in on about people it knows. What it can tell of them is theirs to say (see
    `other_at`); the story is asked only since when."""
    told: dict[str, list[Fact]] = {}
    for fact in story.facts():
        if fact.since <= persona.moment and fact.known_to is not None and persona.name in fact.known_to:
            told.setdefault(fact.who, []).append(fact)
    found = []
    for owner, facts in told.items():
        other = other_at(story, owner, persona)
        dated = {about_other(fact, other.name, story.language): fact.since for fact in facts}
        if other.name in known:
            found += [Known(other.name, (said,), dated[said]) for said in other.profile if said in dated]
    return found


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
    names = {other_at(story, name, persona).name if name in renamed else name for name in met}
    return [Acquaintance(name, since, name in names) for name, since in known.items()]
