"""What of a request's messages is a copy of the story: cards and lorebooks made from it come back with every message.

    I smoke the letters that come to the Comma.             told of the character, at whatever moment
    Pia Lenk and I are on opposite sides.                   a tie
    Scene: after this one: The foul gate, noon.             the scene of a card, with who was there and what happened
    "Noon. The fourteenth. Entered."                        said or described at the moment asked for, or later

What holds at the moment asked for, the story says itself; a card may be of a later one, which must not be known yet.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from understudy.agents.pools import KeyedCache
from understudy.story.names import GOES_BY
from understudy.story.storyfile import Story
from understudy.story.types import Moment
from understudy.story.wording import about_other, fact_sentence, fill_macros, scene_sentence, tie_sentence
from understudy.text import LANGUAGES, fold

LEAST_TOLD = 8  # characters of a text that is recognised within a sentence about the character
LEAST_SAID = 20  # characters, without spaces and marks, of a text that is recognised within a line of the story
LEAST_SAID_UNSPACED = 8  # the same in scripts without spaces
CARD_ALONE = ("user", "stranger", "after", "last")  # sentences of a scene that nobody but a card has
COMPANY = ("with", "was_with")
LIST = re.compile(r"\s*[,、]\s*")

_TOLD = KeyedCache[tuple[frozenset[str], str]](64)
_TEXTS = KeyedCache["_StoryText"](8)


@dataclass(frozen=True, slots=True)
class _StoryText:
    """All settings and lines, folded, in order, and where in the text which moment begins."""

    whole: str
    starts: list[int]
    moments: list[Moment]

    @classmethod
    def of(cls, story: Story) -> _StoryText:
        parts, starts, moments, length = list[str](), list[int](), list[Moment](), 0
        for moment, text in _texts(story):
            parts.append(fold(text))
            starts.append(length)
            moments.append(moment)
            length += len(parts[-1]) + 1
        return cls("\0".join(parts), starts, moments)

    def is_first_said_from(self, at: Moment, text: str) -> bool:
        """Does the story say a text, and not before the moment?"""
        wanted = fold(text)
        start = self.whole.find(wanted)
        if not wanted or start < 0:
            return False
        if len(wanted) < (LEAST_SAID if wanted.isascii() else LEAST_SAID_UNSPACED):
            start = f"\0{self.whole}\0".find(f"\0{wanted}\0")  # too short for a part of a line
        return start >= 0 and self.moments[bisect(self.starts, start) - 1] >= at


def _texts(story: Story) -> Iterator[tuple[Moment, str]]:
    for scene in story.scenes():
        yield scene.moment, scene.setting
        for line in scene.lines:
            yield line.moment, line.text


@dataclass(frozen=True, slots=True)
class Copies:
    """Recognises what the story says of a character, and what it says to anybody from a moment on."""

    story: Story
    who: str
    user: str
    at: Moment

    def is_later(self, text: str) -> bool:
        """Is a text said or described at the moment or later, and not before?"""
        story = self.story
        return _TEXTS.get_or_create(id(story), story, lambda: _StoryText.of(story)).is_first_said_from(self.at, text)

    def later_replies(self, messages: Sequence[tuple[str, str]]) -> frozenset[int]:
        """Which of the messages, (role, text), are replies that cannot have been given yet: a greeting, a later chat.

        The last message is none, since it may be gone on with.
        """
        last = max((index for index, (role, _) in enumerate(messages) if role in ("user", "assistant")), default=0)
        return frozenset(
            index
            for index, (role, text) in enumerate(messages)
            if role == "assistant" and index != last and self.is_later(text)
        )

    def has(self, sentence: str) -> bool:
        """Is a sentence told of the character, at whatever moment, or said later?"""
        wanted, key = fold(sentence), (id(self.story), self.who, self.user)
        told, whole = _TOLD.get_or_create(key, self.story, lambda: _told(self.story, self.who, self.user))
        return (
            not wanted
            or wanted in told
            or (len(wanted) >= LEAST_TOLD and wanted in whole)
            or all(fold(part) in told for part in LIST.split(sentence.strip(" .。")))
            or self.is_later(sentence)
        )


def _told(story: Story, who: str, user: str) -> tuple[frozenset[str], str]:
    """What the story tells of a character and of others at any moment, folded: each sentence, and all of them."""
    language, card, facts = story.language, story.card_texts(who), story.facts()
    called = {member.character.name: {member.character.name, *member.character.aliases} for member in story.cast()}
    for fact in facts:
        if fact.attribute == GOES_BY:
            called.setdefault(fact.who, {fact.who}).update(fact.values)
    ties = [replace(tie, to=name) for tie in story.relations(of=who) for name in called.get(tie.to, {tie.to})]
    own, others = [[fact for fact in facts if (fact.who == who) is is_own] for is_own in (True, False)]
    told = [
        *story.character(who).profile,
        *(fact_sentence(fact, language, hedged) for fact in own for hedged in (True, False)),
        *(tie_sentence(tie, language, hedged) for tie in ties for hedged in (True, False)),
        *(text for fact in own for value in fact.values for text in (f"{fact.attribute}: {value}", value)),
        *(
            about_other(fact, name, language, hedged)
            for fact in others
            for name in called.get(fact.who, {fact.who})
            for hedged in (True, False)
        ),
        *card.profile,
        *card.greetings,
        card.scenario,
    ]
    folded = frozenset(fold(fill_macros(text, who, name, language)) for text in told for name in ("", user))
    return folded - {""}, "\0".join(folded)


def without_card_scene(text: str) -> str:
    """A text without the lines that a card's scene is made of: they are no facts, and may be of another moment."""
    lines = text.splitlines()
    for language in LANGUAGES:
        if any(map(_scene_line(language, CARD_ALONE).fullmatch, lines)):
            lines = [line for line in lines if not _scene_line(language, (*CARD_ALONE, *COMPANY)).fullmatch(line)]
    return "\n".join(lines)


@cache
def _scene_line(language: str, keys: tuple[str, ...]) -> re.Pattern[str]:
    """One of the sentences, whatever they are filled with, the first with its label."""
    blank = dict.fromkeys(("setting", "names", "lines", "name"), "{{blank}}")
    forms = "|".join(_form(scene_sentence(key, language, **blank)) for key in keys)
    return re.compile(rf"\s*(?:{_form(scene_sentence('label', language, text='').strip())}\s*)?(?:{forms})\s*")


def _form(sentence: str) -> str:
    return ".+?".join(re.escape(part) for part in re.split(r"\{\{\w+\}\}", sentence))
