"""Everything a prompt is made of, as plain values: training fills them from its corpora, running from a `Situation`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from understudy.agents.prompting.introductions import introduced_name, introductions
from understudy.story.dialogue import USER_NAME, Situation, Turn
from understudy.story.persona import Other, Told
from understudy.story.types import Moment
from understudy.story.wording import tie_sentence
from understudy.text import fold

__all__ = [
    "ChatTurn",
    "PastExchange",
    "PastLine",
    "PromptContents",
    "PromptMessage",
    "Recalled",
    "contents_of",
    "moment_in_words",
    "shows_actions",
]

ABOUT_FACED = 5  # sentences about the one faced, the own ties first
ABOUT_PRESENT = 2  # sentences about each of the others present
MAX_REMEMBERED = 8
MAX_TURNS = 200
ACTION = re.compile(r"(?<![*\w])\*[^*\n]+\*(?![*\w])|＊[^＊\n]+＊")


class PastExchange(NamedTuple):
    """Something the character once said, and what it answered; `speaker` and `heard` may be blank."""

    speaker: str
    heard: str
    said: str
    moment: Moment | None = None
    is_private: bool = False
    """The one faced was not there."""
    is_relevant: bool = True
    """Bears on the message, rather than merely being the nearest there is."""


class PastLine(NamedTuple):
    """Something somebody else said in the character's hearing."""

    speaker: str
    text: str
    moment: Moment | None = None
    is_private: bool = False
    is_relevant: bool = True


class ChatTurn(NamedTuple):
    """A turn of the conversation: is it the character's own, its text, and the name of whoever else spoke."""

    is_own: bool
    text: str
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What of a character's past and profile bears on a message, best first, and lines that show its voice."""

    facts: tuple[str, ...] = ()
    own: tuple[PastExchange, ...] = ()
    others: tuple[PastLine, ...] = ()
    voice: tuple[str, ...] = ()
    told: tuple[Told, ...] = ()
    """What the one faced told in earlier chats."""


@dataclass(frozen=True, slots=True)
class PromptContents:
    """The sections of a prompt. What is a tuple can be shortened item by item."""

    name: str
    profile: tuple[str, ...] = ()
    facing: str = ""
    theirs: tuple[str, ...] = ()
    """The own ties to the one faced, and what is known of them."""
    present: tuple[str, ...] = ()
    setting: tuple[str, ...] = ()
    """One sentence, or none."""
    note: tuple[str, ...] = ()
    """What was told of the setting in mid-talk, and bears on the message."""
    voice: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()
    turns: tuple[ChatTurn, ...] = ()
    """The conversation before the message."""
    told: tuple[str, ...] = ()
    """What the one faced said of themselves in turns that are no longer shown."""
    remembered: tuple[Told, ...] = ()
    """What the one faced told in earlier chats, what bears on the message first."""
    lore: tuple[str, ...] = ()
    others: tuple[PastLine, ...] = ()
    own: tuple[PastExchange, ...] = ()
    facts: tuple[str, ...] = ()
    message: str = ""
    speaker: str = ""
    """Who says the message, where it is not the one faced."""
    goes_by: str = ""
    """The name others know the character by, where it is not its own."""
    when: str = ""
    """The moment of the story, with its title where that is wanted; blank for somebody who has none, and at the end."""
    language: str = "en"
    plain: Mapping[str, str] = field(default_factory=dict)
    """Sentences that say what was found without certainty -> how they would be said if it were certain."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """Sentences about ties -> since when they hold, in words."""
    scene: tuple[str, ...] = ()
    """What was said and done last in the character's hearing, the newest last."""
    scene_heading: str = ""
    thoughts: tuple[str, ...] = ()
    """What the character has said to itself alone, the newest first."""
    impressions: tuple[str, ...] = ()
    """What the own lines tell of somebody whom no profile describes."""
    dealings: tuple[str, ...] = ()
    """Since when one has talked with the one faced, and what was said last."""


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """A message of a rendered prompt; `parts` are (section, text), joined by `separator`."""

    role: str
    parts: list[tuple[str, str]]
    separator: str = "\n\n"

    @property
    def content(self) -> str:
        return self.separator.join(text for _, text in self.parts)


def contents_of(
    situation: Situation, history: Sequence[Turn], recalled: Recalled, lore: Sequence[str] = ()
) -> PromptContents:
    """The contents of a prompt before it is trimmed."""
    persona, faced = situation.persona, situation.faced
    own_name = fold(persona.name)
    spoken = [ChatTurn(fold(turn.speaker) == own_name, turn.text, turn.speaker) for turn in history]
    last = max((index for index, turn in enumerate(spoken) if not turn.is_own), default=-1)
    heard = [turn.text for turn in spoken if not turn.is_own]
    # Someone of the story has a name already; what they call themselves may be a lie or a joke.
    facing = faced.name if faced is not None else introduced_name(heard, persona.language)
    secrets = tuple(dict.fromkeys(situation.secrets))
    return PromptContents(
        name=persona.name,
        profile=tuple(text for text in persona.profile if text.strip() and text not in secrets),
        facing=facing,
        theirs=() if faced is None else _about(faced, situation)[:ABOUT_FACED],
        present=tuple(_present(situation)),
        setting=(situation.setting,) if situation.setting.strip() else (),
        note=(situation.note,) if situation.note.strip() else (),
        voice=recalled.voice,
        secrets=secrets,
        turns=tuple(_label(turn, facing) for turn in (spoken[:last] if last >= 0 else spoken)[-MAX_TURNS:]),
        told=introductions(heard[:-1], persona.language),
        remembered=() if faced is None else (recalled.told or faced.told[::-1])[:MAX_REMEMBERED],
        lore=tuple(text for text in lore if text.strip()),
        others=recalled.others,
        own=recalled.own,
        facts=tuple(text for text in recalled.facts if text not in secrets),
        message=spoken[last].text if last >= 0 else "",
        speaker=_label(spoken[last], facing).speaker if last >= 0 else "",
        goes_by=next(iter(persona.attributes.get("goes by", ())), ""),
        when=moment_in_words(persona.moment) if persona.story and not persona.moment.is_end else "",
        language=persona.language,
        plain=_plain_sentences(situation),
    )


def shows_actions(texts: Iterable[str]) -> bool:
    """Does one of the texts tell an action between asterisks? Where a card or a talk does, a reply may."""
    return any(ACTION.search(text) for text in texts)


def moment_in_words(moment: Moment) -> str:
    """'part 1, chapter 2, scene 3', without the line."""
    is_line = len(moment.numbers) > 1 and len(moment.numbers) == len(moment.levels)
    return str(Moment(moment.numbers[:-1], moment.levels) if is_line else moment)


def _plain_sentences(situation: Situation) -> dict[str, str]:
    persona = situation.persona
    others = (*([situation.faced] if situation.faced else []), *situation.present)
    found = (persona.found, *(other.found for other in others))
    plain = {text: sentence.plain for sentences in found for text, sentence in sentences.items()}
    for tie in (*persona.relations, *(tie for other in others for tie in other.relations)):
        plain[tie_sentence(tie, persona.language)] = tie_sentence(tie, persona.language, hedged=False)
    return {hedged: sentence for hedged, sentence in plain.items() if hedged != sentence}


def _label(turn: ChatTurn, facing: str) -> ChatTurn:
    """A user without a name is the one faced; 'You' would be taken for the character."""
    return turn._replace(speaker=facing) if turn.speaker == USER_NAME else turn


def _about(other: Other, situation: Situation) -> tuple[str, ...]:
    persona = situation.persona
    ties = dict.fromkeys((*other.relations, *(tie for tie in persona.relations if tie.to == other.name)))
    return (*(tie_sentence(tie, persona.language) for tie in ties), *other.profile)


def _present(situation: Situation) -> list[str]:
    """Those who are there besides the one faced, with what is felt for them."""
    faced = "" if situation.faced is None else situation.faced.name
    return [
        " ".join((f"{other.name}.", *_about(other, situation)[:ABOUT_PRESENT]))
        for other in situation.present
        if other.name != faced
    ]
