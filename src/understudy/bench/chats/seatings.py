"""Who sits down with whom: the two situations of a chat, from PersonaChat's profiles or from characters of a story.

A seating has a situation for each side and, where a person's part is replayed, what that person said. Profiles come in
the pairs of PersonaChat's dialogues; `given` says what an agent is shown: its own ('self'), both, or none.

Characters of a story sit down at a moment, and their situations are those of that moment (`situation_at`): neither
knows what comes later. Without a moment, moments are drawn from the story's scenes before which both have spoken and
in which both are alive.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from understudy.errors import InputError, StoryError
from understudy.formats.chat_records import GIVEN
from understudy.formats.personachat import examples
from understudy.sources.source import SourceFile
from understudy.story.dialogue import Situation, situation_at
from understudy.story.names import character_at
from understudy.story.persona import Other, Persona
from understudy.story.storyfile import Story
from understudy.story.types import Exchange, Line, Moment

__all__ = ["Seating", "halved", "personachat_exchanges", "personachat_seatings", "story_seatings"]

Profiles = tuple[tuple[str, ...], tuple[str, ...]]
FIRST = Moment((0,), ("line",))  # when lines of no story were said


@dataclass(frozen=True, slots=True)
class Seating:
    """One chat to be held; `said` is what each side said in the dialogue that the profiles are from."""

    id: str
    situations: tuple[Situation, Situation]
    profiles: Profiles
    said: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    names: tuple[str, str] | None = None
    moment: str = ""


def personachat_seatings(path: Path, chats: int, given: str = GIVEN[0], seed: int = 0) -> list[Seating]:
    """A seeded sample of the dialogues of a file, each a pair of profiles; all of them where there are no more."""
    last = {example.name.partition(".")[0]: example for example in examples(SourceFile(path))}
    seatings = []
    for number, example in last.items():
        own, faced = example.situation.persona, example.situation.faced
        if faced is None or not own.profile or not faced.profile:
            continue
        told = [turn.text for turn in example.history if turn.speaker == own.name]
        heard = tuple(turn.text for turn in example.history if turn.speaker != own.name)
        profiles = faced.profile, own.profile
        situations = _situations((faced.name, own.name), profiles, given)
        said = heard, (*told, example.candidates[min(example.gold)])
        seatings.append(Seating(number, situations, profiles, said))
    if not seatings:
        raise InputError("has no dialogue with both profiles: name a file as valid_both_original.txt", path)
    if chats >= len(seatings):
        return seatings
    chosen = np.sort(np.random.default_rng(seed).choice(len(seatings), chats, replace=False))
    return [seatings[index] for index in chosen]


def _situations(names: tuple[str, str], profiles: Profiles, given: str) -> tuple[Situation, Situation]:
    def situation(side: int) -> Situation:
        own = () if given == "none" else profiles[side]
        faced = Other(names[1 - side], profiles[1 - side] if given == "both" else ())
        return Situation(Persona(names[side], profile=own), faced=faced, present=(faced,))

    return situation(0), situation(1)


def personachat_exchanges(path: Path) -> tuple[Exchange, ...]:
    """What ranking agents may say to people who have no lines of their own: every reply of a file."""
    exchanges = []
    for example in examples(SourceFile(path)):
        heard = example.history[-1] if example.history else None
        said = Line(FIRST, example.situation.persona.name, example.candidates[min(example.gold)])
        exchanges.append(Exchange(None if heard is None else Line(FIRST, heard.speaker, heard.text), said, ""))
    return tuple(exchanges)


def halved(exchanges: Sequence[Exchange]) -> tuple[tuple[Exchange, ...], tuple[Exchange, ...]]:
    """The exchanges in two parts with no reply in common, one for each side.

    The line most like a message is the message itself: two rankers that share their lines repeat each other for ever.
    """
    parts: tuple[list[Exchange], list[Exchange]] = [], []
    for exchange in exchanges:
        parts[zlib.crc32(exchange.said.text.strip().encode()) % 2].append(exchange)
    return tuple(parts[0]), tuple(parts[1])


def story_seatings(story: Story, pair: tuple[str, str], at: Sequence[str], chats: int, seed: int = 0) -> list[Seating]:
    """Two characters of a story before each other at each of the moments; drawn ones where none is named."""
    for name in pair:
        character_at(story, name, story.moment("end"))  # a name that nobody has is said before any moment is tried
    moments: Iterable[Moment] = [story.moment(text) for text in at] if at else _drawn(story, seed)
    seatings = list(islice(_seated(story, pair, moments, strict=bool(at)), None if at else chats))
    if not seatings:
        raise StoryError(f"{pair[0]} and {pair[1]} are at no moment both alive with something said before: name one")
    return sorted(seatings, key=lambda seating: seating.situations[0].persona.moment)


def _drawn(story: Story, seed: int) -> Iterator[Moment]:
    moments = [scene.moment for scene in story.scenes()]
    for index in np.random.default_rng(seed).permutation(len(moments)):
        yield moments[index]


def _seated(story: Story, pair: tuple[str, str], moments: Iterable[Moment], strict: bool) -> Iterator[Seating]:
    for moment in moments:
        try:
            situations = (situation_at(story, pair[0], moment, pair[1]), situation_at(story, pair[1], moment, pair[0]))
        except StoryError:
            if strict:
                raise
            continue
        if strict or all(_has_spoken(situation) for situation in situations):
            names = _known_as(situations[1], pair[0]), _known_as(situations[0], pair[1])
            profiles = situations[0].persona.profile, situations[1].persona.profile
            yield Seating(f"{'-'.join(names)}@{moment.dotted}", situations, profiles, names=names, moment=moment.dotted)


def _known_as(situation: Situation, name: str) -> str:
    """The name that one side knows the other by: it need not be the true one."""
    return name if situation.faced is None else situation.faced.name


def _has_spoken(situation: Situation) -> bool:
    return next(iter(situation.persona.past.lines()), None) is not None
