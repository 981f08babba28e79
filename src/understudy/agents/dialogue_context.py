"""What a character has just heard and has already said, and which of its words matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from functools import cache

from understudy.dialogue import Turn
from understudy.macros import fill_macros
from understudy.persona import Persona
from understudy.text import fold, sentences, stop_words, words
from understudy.wording import speaker_words

__all__ = [
    "content",
    "heard_turns",
    "heard_words",
    "is_first_person",
    "last_heard",
    "light_words",
    "meant_by_last",
    "own_names",
    "repeats",
    "said_before",
    "said_sentences",
    "shared_content",
]

BARE_QUESTION = re.compile(
    r"\W*(?:(?:but|and|so|oh|well)\W+)*(?:why(?: not| so| is that| do you say (?:that|so))?|how (?:so|come)|"
    r"what do you mean(?: by that)?|(?:なぜ|何故|どうして|なんで)(?:ですか)?|为什么|为何)\W*",
    re.IGNORECASE,
)
FEWEST_WORDS = 3  # of a sentence that is noticed when it is said again


def last_heard(persona: Persona, history: Sequence[Turn]) -> str:
    """The last thing somebody else said; blank where nobody has."""
    own = fold(persona.name)
    return next((turn.text for turn in reversed(history) if fold(turn.speaker) != own), "")


def meant_by_last(persona: Persona, history: Sequence[Turn]) -> str:
    """The last thing somebody else said; a bare 'Why?' with what it asks about, the turns before it."""
    own = fold(persona.name)
    last = next((index for index in reversed(range(len(history))) if fold(history[index].speaker) != own), None)
    if last is None or BARE_QUESTION.fullmatch(history[last].text) is None:
        return last_heard(persona, history)
    return " ".join(turn.text for turn in history[max(0, last - 2) : last]) or history[last].text


def heard_turns(persona: Persona, history: Sequence[Turn]) -> list[str]:
    """What others have said in this conversation."""
    own = fold(persona.name)
    return [turn.text for turn in history if fold(turn.speaker) != own]


def said_before(persona: Persona, history: Sequence[Turn]) -> tuple[str, ...]:
    """What the character has said in this conversation, after its greetings: they open a talk and answer nothing."""
    own = fold(persona.name)
    greetings = (" ".join(fill_macros(text, "", language=persona.language).split()) for text in persona.greetings)
    return (*greetings, *(turn.text.strip() for turn in history if fold(turn.speaker) == own))


def said_sentences(persona: Persona, history: Sequence[Turn]) -> frozenset[str]:
    """The sentences that the character has said in this conversation, folded; 'Yes.' and the like may come again."""
    said = (sentence for text in said_before(persona, history) for sentence in sentences(text))
    return frozenset(fold(sentence) for sentence in said if len(words(sentence, persona.language)) >= FEWEST_WORDS)


def repeats(text: str, said: Set[str]) -> bool:
    """Was one of the sentences of a text said before (see `said_sentences`)?"""
    return any(fold(sentence) in said for sentence in sentences(text))


def heard_words(persona: Persona, message: str) -> list[str]:
    """The words of a message, without the character's own names: to be called by them says nothing of what is meant.

    A message that is nothing but the name keeps it.
    """
    heard = words(message, persona.language)
    names = own_names(persona)
    return [word for word in heard if word not in names] or heard


def own_names(persona: Persona) -> frozenset[str]:
    names = (persona.name, *persona.attributes.get("goes by", ()))
    return frozenset(word for name in names for word in words(name, persona.language))


@cache
def light_words(language: str) -> frozenset[str]:
    """Words that carry no meaning of their own; 'I' and 'me' say who speaks, not what of."""
    return stop_words(language) | speaker_words(language)


def content(bag: Iterable[str], language: str) -> Counter[str]:
    """How often each word occurs, those that carry no meaning of their own left out."""
    light = light_words(language)
    return Counter(word for word in bag if word not in light)


def shared_content(message: str, text: str, language: str) -> tuple[str, ...]:
    """Words of meaning that two texts have in common, in the order of the first."""
    known = content(words(text, language), language)
    return tuple(word for word in content(words(message, language), language) if word in known)


def is_first_person(sentence: str) -> bool:
    """Whether an English sentence speaks of its speaker."""
    return not {"i", "i'm", "i've", "my", "me", "we", "our"}.isdisjoint(words(sentence, "en"))
