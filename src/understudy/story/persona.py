"""A character at a moment: what it is, owns, feels and has lived through by then.

    a line is known       iff  line < moment, and the character was there
    a fact or tie holds   iff  from <= moment (< until), and nothing newer of the same kind does (`holding_at`)
    a tie is shown        iff  the other one has been met, heard named, or stands before the character

A name is heard where somebody says it: what a stage direction calls people is the author's word, which nobody in the
scene hears. Whoever it brings in has been met.

What was found in the text holds as well, for those who were there when one of its lines was said, and with no more
of its sources than had been said by then. What others feel towards the character is not part of it: ask
`felt_towards`, which is for authors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from understudy.errors import Dead, Unborn
from understudy.story.names import character_at, false_names_at, people_at, spoken_of
from understudy.story.storyfile import Story
from understudy.story.types import (
    PROFILE,
    SECRET,
    Exchange,
    Fact,
    Finding,
    Line,
    LoreEntry,
    Moment,
    Relation,
    Scene,
    holding_at,
)
from understudy.story.wording import about_other, fact_sentence, fill_macros, tie_sentence

NOT_OF_ONESELF = frozenset({"born", "died"})
PLAIN_TO_SEE = frozenset({"gender", "age", "looks", "title"})
"""What anybody who meets somebody can tell; the rest is known only to those a fact names."""
FEW = 4
"""What more people know, and nobody calls a secret, is common knowledge."""


D = TypeVar("D", Fact, Relation)


class Past(Protocol):
    """What a character has lived through: views with character and moment baked into every query; here, nothing.

    `exchanges` are what it said to others; `thoughts` what it said aside, or while nobody else was there. `company` is
    who else was there for a line that it witnessed.
    """

    def __hash__(self) -> int:
        return id(self)

    def __len__(self) -> int:
        return 0

    def lines(self, last: int | None = None) -> Sequence[Line]:
        return ()

    def scenes(self, last: int | None = None) -> Iterator[Scene]:
        return iter(())

    def exchanges(self) -> Iterator[Exchange]:
        return iter(())

    def thoughts(self) -> Sequence[Line]:
        return ()

    def company(self, moment: Moment) -> frozenset[str]:
        return frozenset()


class NoPast(Past):
    """The past of somebody who is only a profile."""


@dataclass(frozen=True, slots=True)
class FoundSentence:
    """What lies behind a sentence that was found in the text, and how it would be said if it were certain."""

    finding: Finding
    plain: str


@dataclass(frozen=True, slots=True)
class Persona:
    """One character at one moment."""

    name: str
    moment: Moment = field(default_factory=Moment.end)
    profile: tuple[str, ...] = ()
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    relations: tuple[Relation, ...] = ()
    past: Past = field(default_factory=NoPast)
    language: str = "en"
    story: str = ""
    """The title of the story it is of; blank for somebody who is only a profile."""
    story_identity: str = ""
    """`Story.identity` of that story: several can have one title."""
    greetings: tuple[str, ...] = ()
    """How its card opens a talk; `{{user}}` in it is whoever it talks with (`cards.greetings_for`)."""
    lore: tuple[LoreEntry, ...] = ()
    """What a talk can bring up (`cards.lore_for`)."""
    found: Mapping[str, FoundSentence] = field(default_factory=dict)
    """Those sentences of the profile that nobody wrote: they were found in the text."""

    def feelings(self) -> tuple[str, ...]:
        """The character's ties as sentences."""
        return tuple(tie_sentence(tie, self.language) for tie in self.relations)


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody said of themselves to the persona in an earlier chat: a sentence in their own first person."""

    text: str
    moment: Moment | None = None
    """The persona's moment when it was told."""
    source: str = ""
    """Who said it in which chat, in words: 'Tom, chat of 3 May 2026, turn 2'."""


@dataclass(frozen=True, slots=True)
class Other:
    """Somebody else as the persona knows them: by what name, what can be told of them, the persona's ties to them."""

    name: str
    profile: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    aliases: tuple[str, ...] = ()
    """What else they may be called at the persona's moment."""
    found: Mapping[str, FoundSentence] = field(default_factory=dict, hash=False)
    """Those sentences of the profile that were found in the text."""
    told: tuple[Told, ...] = ()
    """What they told the persona themselves, in the order it was said."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return self.name, *self.aliases


def persona_at(story: Story, name: str, moment: Moment | str, before: Sequence[str] = (), user: str = "") -> Persona:
    """Who a character is at a moment. `before` names those it stands before, known or not.

    `user` is the one among them whom a card means by `{{user}}`; blank, they are 'you'.
    """
    at = story.moment(moment) if isinstance(moment, str) else moment
    character = character_at(story, name, at)
    must_be_alive(story.facts(character.name), character.name, at)
    holding = own_facts(story, character.name, at)
    shown_as = false_names(story, character.name, at)
    called = names_known_to(story, character.name, at)
    _, known = story.acquaintances(character.name, at)
    facing = known | {character_at(story, other, at).name for other in before}
    ties = tuple(
        replace(tie, to=called.get(tie.to, tie.to), until=None, source=None)
        for tie in holding_at(witnessed(story, story.relations(of=character.name), character.name, at), at)
        if tie.to in facing
    )
    card = story.card_texts(character.name)
    to_name = {fill_macros(text, "", language=story.language): text for text in card.profile} if user else {}
    profile = (fill_macros(to_name.get(text, text), "", user, story.language) for text in character.profile)
    return Persona(
        name=character.name,
        moment=at,
        profile=tuple(dict.fromkeys((*profile, *(fact_sentence(fact, story.language) for fact in holding)))),
        found=_found_sentences(holding, partial(fact_sentence, language=story.language)),
        attributes=attributes_of(holding),
        relations=ties,
        past=story.past(character.name, at, shown_as),
        language=story.language,
        story=story.title,
        story_identity=story.identity,
        greetings=card.greetings,
        lore=story.lore(character.name),
    )


def _found_sentences(facts: Iterable[Fact], sentence: Callable[..., str]) -> dict[str, FoundSentence]:
    """By the sentences, as they are said."""
    return {
        sentence(fact): FoundSentence(fact.found, sentence(fact, hedged=False))
        for fact in facts
        if fact.found is not None
    }


def own_facts(story: Story, name: str, at: Moment) -> list[Fact]:
    """What holds of a character at a moment and is known to itself."""
    known = witnessed(story, story.facts(name), name, at)
    return [fact for fact in holding_at(known, at) if fact.attribute not in NOT_OF_ONESELF]


def facts_known_of(story: Story, name: str, seen_by: Persona) -> list[Fact]:
    """What holds of somebody else, as far as a persona can tell or has been told."""
    return [
        fact
        for fact in holding_at(witnessed(story, story.facts(name), seen_by.name, seen_by.moment), seen_by.moment)
        if fact.attribute not in NOT_OF_ONESELF
        and (seen_by.name in fact.known_to if fact.known_to is not None else _is_plain_to_see(fact))
    ]


def witnessed(story: Story, dated: Iterable[D], who: str, at: Moment) -> list[D]:
    """Without what was found in lines that somebody was not there for by a moment.

    Of the rest, only the sources that had been said by then are told.
    """
    return [known for item in dated if (known := _known_of(story, item, who, at)) is not None]


def _known_of(story: Story, item: D, who: str, at: Moment) -> D | None:
    if item.found is None:
        return item
    said = tuple(source for source in item.found.sources if source < at)
    if not any(who in story.present_at(source) for source in said):
        return None
    return replace(item, found=Finding(item.found.confidence, said))


def attributes_of(holding: Sequence[Fact]) -> dict[str, tuple[str, ...]]:
    """The values of each attribute; those of several secrets together. Whole sentences are in the profile."""
    attributes = dict[str, tuple[str, ...]]()
    for fact in holding:
        if fact.attribute == PROFILE:
            continue
        attributes[fact.attribute] = (*attributes.get(fact.attribute, ()), *fact.values)
    return attributes


def other_at(story: Story, name: str, seen_by: Persona) -> Other:
    """Somebody as a persona sees them: under the name it knows, with what it can tell or has been told of them."""
    at = seen_by.moment
    other = character_at(story, name, at)
    shown = names_known_to(story, seen_by.name, at).get(other.name, other.name)
    facts = facts_known_of(story, other.name, seen_by)
    return Other(
        shown,
        tuple(about_other(fact, shown, story.language) for fact in facts),
        tuple(tie for tie in seen_by.relations if tie.to == shown),
        found=_found_sentences(facts, partial(about_other, name=shown, language=story.language)),
    )


def _is_plain_to_see(fact: Fact) -> bool:
    """Can anybody tell who meets its owner; of what was found, anybody who was there?"""
    return fact.found is not None or fact.attribute in PLAIN_TO_SEE


def acquaintances_of(story: Story, persona: Persona) -> tuple[Other, ...]:
    """Everybody the persona has met or heard named: the name it knows, and what else they may be called by then.

    Only names, without profiles and ties: there can be thousands of them. Of the dead it is told that they are.
    """
    at = persona.moment
    _, known = story.acquaintances(persona.name, at)
    shown = false_names(story, persona.name, at)
    deaths = {
        fact.who: fact
        for fact in holding_at((fact for fact in story.facts() if fact.attribute == "died"), at)
        if fact.known_to is None or persona.name in fact.known_to
    }
    return tuple(
        Other(
            name,
            (about_other(deaths[person.name], name, story.language),) if person.name in deaths else (),
            aliases=tuple(alias for alias in person.known_as if alias != name and person.name not in shown),
        )
        for person in people_at(story, at)
        if person.name in known and person.name != persona.name
        for name in (shown.get(person.name, person.name),)
    )


def secrets_at(story: Story, name: str, at: Moment, faced: str | None) -> tuple[str, ...]:
    """What is true of a character and known to some, but not to the one faced; to a stranger, to nobody's knowledge.

    A newer fact of the same attribute takes the older one's place, so only what holds now is a secret. Of a story that
    calls some of its facts secrets only those are: whoever else is not among those who know a fact has not noticed it.
    In other stories what many know, such as whose child one is, is common knowledge.
    """
    has_marked_secrets = any(fact.attribute == SECRET for fact in story.facts())
    return tuple(
        fact_sentence(fact, story.language)
        for fact in holding_at(story.facts(character_at(story, name, at).name), at)
        if fact.known_to is not None and fact.attribute not in NOT_OF_ONESELF and faced not in fact.known_to
        if fact.attribute == SECRET or (not has_marked_secrets and len(fact.known_to) <= FEW)
    )


def felt_towards(story: Story, name: str, moment: Moment) -> tuple[Relation, ...]:
    """What others feel towards a character: for an author's eyes, never part of the persona."""
    return tuple(holding_at(story.relations(to=character_at(story, name, moment).name), moment))


def must_be_alive(facts: Sequence[Fact], name: str, at: Moment) -> None:
    """Nobody can be, or stand before, somebody whose facts say that they are not born yet, or dead.

    Who was dead until a moment lives from then on.
    """
    births = [fact.since for fact in facts if fact.attribute == "born"]
    if births and min(births) > at:
        raise Unborn(f"{name} is not born before {min(births).dotted}: ask for a later moment")
    if (died := died_at(facts, at)) is not None:
        raise Dead(f"{name} is dead at {at.dotted} (since {died.dotted}): ask for an earlier moment")


def died_at(facts: Sequence[Fact], at: Moment) -> Moment | None:
    """When somebody died who is dead at a moment; a later fact may say more of the same death, as who knows of it."""
    deaths = [fact for fact in facts if fact.attribute == "died"]
    holding = next(iter(holding_at(deaths, at)), None)
    if holding is None:
        return None
    died = holding.since
    for earlier in sorted(deaths, key=lambda fact: fact.since, reverse=True):
        if earlier.since < died and (earlier.until is None or earlier.until >= died):
            died = earlier.since
    return died


def false_names(story: Story, viewer: str | None, at: Moment) -> dict[str, str]:
    """True name -> the name the viewer knows, for those who go by another and have not let the viewer in on it.

    A viewer without a name is a stranger, who was let in on nothing.
    """
    ties = story.relations(of=viewer) if viewer else ()
    confided = {tie.to for tie in holding_at(ties, at) if tie.kind == "confidant"}
    return {
        owner: shown for owner, shown in false_names_at(story, at).items() if owner != viewer and owner not in confided
    }


def names_known_to(story: Story, viewer: str, at: Moment) -> dict[str, str]:
    """True name -> the name the viewer knows: the false one, or of somebody only spoken of so far, what was said."""
    called = {who: name for who, name in spoken_of(story, at).items() if who != viewer}
    return {**called, **false_names(story, viewer, at)}
