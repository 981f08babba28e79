"""What a character has just heard and has already said, and which of its words matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache

from understudy.agents.pools import KeyedCache
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.story.types import Relation
from understudy.story.wording import fill_macros, speaker_words
from understudy.text import fold, sentences, stop_words, words

__all__ = [
    "KnownPeople",
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
    "tie_sign",
    "uncontradicted",
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


# Whom a character knows, each person once, and what it feels about them now.
#
# A person may be the one faced under one name and an acquaintance under another ('the Prior', Casimir Ould), and a
# tie may be to either. Two are one person where a name of one is a name of the other and of nobody else.
#
# Of ties to one person that say the opposite the newest holds: who became an enemy is no friend any more, whatever
# kind of tie it was that began first.

FRIENDLY = frozenset({"friend", "lover", "teammate", "family", "confidant", "teacher"})
HOSTILE = frozenset({"enemy", "opponent"})

_PEOPLE = KeyedCache["KnownPeople"](64)


@dataclass(frozen=True, slots=True)
class KnownPeople:
    """The one faced, those present, and everybody else the character has met or heard named."""

    people: tuple[Other, ...]
    _names: Mapping[str, str]

    @classmethod
    def of(cls, situation: Situation) -> KnownPeople:
        """Made once for a situation: there can be thousands of acquaintances."""
        return _PEOPLE.get_or_create(id(situation), situation, lambda: _joined(situation))

    def name_of(self, name: str) -> str:
        """The name that a person is listed by here, whatever they are called; of strangers the name itself."""
        return self._names.get(fold(name), name)

    def is_same(self, one: str, other: str) -> bool:
        return self.name_of(one) == self.name_of(other)

    def ties(self, situation: Situation, name: str) -> list[Relation]:
        """What the character feels about somebody now."""
        faced = situation.faced
        own = [tie for tie in situation.persona.relations if self.is_same(tie.to, name)]
        if faced is not None and self.is_same(faced.name, name):
            own = [*faced.relations, *own]
        return uncontradicted(dict.fromkeys(own))


def _joined(situation: Situation) -> KnownPeople:
    listed = [*situation.acquaintances]
    for other in (*((situation.faced,) if situation.faced else ()), *situation.present):
        listed.append(other)
    owners: dict[str, set[str]] = {}
    for other in listed:
        for name in (other.name, *other.aliases):
            owners.setdefault(fold(name), set()).add(other.name)
    joined: dict[str, Other] = {}
    for other in listed:
        # Under the name of whoever alone has this one as an alias.
        others = owners[fold(other.name)] - {other.name}
        name = next(iter(others)) if len(others) == 1 and next(iter(others)) in joined else other.name
        joined[name] = _merged(joined[name], other) if name in joined else other
    names = dict[str, str]()
    for other in joined.values():
        for name in (other.name, *other.aliases):
            folded = fold(name)
            names[folded] = other.name if names.get(folded, other.name) == other.name else name
    return KnownPeople(tuple(joined.values()), names)


def _merged(first: Other, second: Other) -> Other:
    aliases = dict.fromkeys((*first.aliases, second.name, *second.aliases))
    return replace(
        first,
        profile=tuple(dict.fromkeys((*first.profile, *second.profile))),
        relations=tuple(dict.fromkeys((*first.relations, *second.relations))),
        aliases=tuple(alias for alias in aliases if alias != first.name),
        told=tuple(dict.fromkeys((*first.told, *second.told))),
    )


def tie_sign(tie: Relation) -> int:
    """1 where a tie is for somebody, -1 where it is against them, 0 where it is neither."""
    if tie.kind == "affection" and tie.level is not None:
        return (tie.level > 1) - (tie.level < -1)
    return (tie.kind in FRIENDLY) - (tie.kind in HOSTILE)


def uncontradicted(ties: Iterable[Relation]) -> list[Relation]:
    """Ties to one person without those of which a newer one says the opposite; of two at a moment affection counts."""
    listed = list(ties)
    return [tie for tie in listed if tie_sign(tie) * _newest_sign(listed) >= 0]


def _newest_sign(ties: Sequence[Relation]) -> int:
    signed = [tie for tie in ties if tie_sign(tie)]
    newest = max(signed, key=lambda tie: (tie.since, tie.kind == "affection"), default=None)
    return 0 if newest is None else tie_sign(newest)
