"""A chat in which a person is remembered: what they tell is kept, and what they told before is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import uuid4

from understudy.dialogue import Situation
from understudy.errors import StoryError
from understudy.outsiders import MAX_NAME
from understudy.people.memory import ChatSource, PeopleMemory, Telling, now
from understudy.people.own_sentences import profile_sentences
from understudy.persona import Other, Told
from understudy.prompting import introduced_names
from understudy.story import Moment

__all__ = ["RememberedChat", "remembered_person", "told_of"]

NAME_GIVEN = {"en": "My name is {name}", "ja": "名前は{name}です", "zh": "我叫{name}"}


def remembered_person(name: str) -> Other:
    """Somebody who is remembered by a name, and of whom nothing else is known."""
    clean = " ".join(name.split())
    if not clean or len(clean) > MAX_NAME:
        raise StoryError(f"say who is to be remembered by a name of at most {MAX_NAME} characters, as in: Tom")
    return Other(clean)


@dataclass(frozen=True, slots=True)
class RememberedChat:
    """One chat of a person who is remembered: its key, and when it began, which says what of others is its past."""

    memory: PeopleMemory
    person: str
    chat: str = field(default_factory=lambda: uuid4().hex)
    began: str = field(default_factory=now)

    def recall(self, situation: Situation) -> Situation:
        """The situation with what the one faced told the character in earlier chats."""
        faced = situation.faced or remembered_person(self.person)
        told = tuple(map(told_of, self.memory.known(self._source(situation))))
        return replace(situation, faced=replace(faced, told=told))

    def keep(self, situation: Situation, turn: int, text: str, said: str | None = None) -> list[Telling]:
        """Keep what a turn tells of whoever says it, as told to the situation's character."""
        language = situation.persona.language
        sentences = profile_sentences([text], language)
        names = introduced_names([text], language)
        sentences += [
            NAME_GIVEN[language].format(name=name)
            for name in names
            if not any(name in sentence for sentence in sentences)
        ]
        return self.memory.tell(self._source(situation), turn, sentences, said)

    def take_back(self, since: int) -> None:
        """Forget what was told from a turn on, which was taken back itself."""
        self.memory.take_back(self.chat, since)

    def tellings(self, situation: Situation) -> list[Telling]:
        """What the character knows of the one faced: from earlier chats, and from this one by its moment."""
        source = self._source(situation)
        return [*self.memory.known(source), *self.memory.told_in(source)]

    def _source(self, situation: Situation) -> ChatSource:
        persona = situation.persona
        speaker = situation.faced.name if situation.faced else self.person
        return ChatSource(self.person, speaker, persona.story, persona.name, persona.moment, self.chat, self.began)


def told_of(telling: Telling) -> Told:
    """A telling as a character knows it, with where it comes from in words."""
    day = datetime.fromisoformat(telling.said)
    source = f"{telling.speaker}, chat of {day.day} {day:%B %Y}, turn {telling.turn}"
    edited = ", edited" if telling.edited else ""
    return Told(telling.text, Moment.parse(telling.moment), source + edited)
