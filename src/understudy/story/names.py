"""Who is meant by a name at a moment, and by which names people are known then.

    somebody can be named   iff  they are born, and were in a scene before the moment or are there when the story begins
    a false name holds      as   every fact does (`holding_at`): while it does, it and its parts are all a reader knows
    another name is known   iff  it is not said for the first time after the moment (and after the first scene), or a
                                 profile or a public fact tells it
    who has only been spoken of is known by the name that was said

To a *reader*, who has come as far as the moment and no further, a true name is then as unknown as one that is made up,
and so is a false name that is only taken later. A name that several people share is looked up among those who can be
named by then: namesakes who come later change nothing. An *author* owns the story: at the command line and in the
library every name finds its owner, but an error tells only of those who can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from understudy.errors import UnknownCharacter
from understudy.story.storyfile import Story
from understudy.story.storyfile.people import SpokenNames
from understudy.story.types import Character, Fact, Moment, holding_at
from understudy.text import NOT_NAMES, NameReplacer, did_you_mean, fold, is_unspaced, sole_owners

GOES_BY = "goes by"
LISTED = 8  # names that an error lists


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody as a reader who has come as far as a moment may call them."""

    name: str
    """The story's own name for them."""
    shown: str
    """The name they are shown by: a false one while it holds."""
    known_as: tuple[str, ...]
    """All they may be called by, `shown` first."""


@dataclass(frozen=True, slots=True)
class ShownNames:
    """The names that people are shown by at a moment, wherever a reader comes across them."""

    called: Mapping[str, str]
    """What people are called, by their own names, where it is another."""
    in_text: Callable[[str], str]
    """A text with false names in the place of true ones, and of what else gives their owners away."""

    def of(self, name: str) -> str:
        return self.called.get(name, name)


def false_names_at(story: Story, at: Moment) -> dict[str, str]:
    """The false names that hold at a moment, by the true ones."""
    return _false_names(story.facts(), _begun(story, at))


def shown_names(story: Story, at: Moment) -> dict[str, str]:
    """What people are called at a moment, by their own names, where it is another name or a part of it."""
    return {**spoken_of(story, at), **false_names_at(story, at)}


def shown_names_at(story: Story, at: Moment, outsiders: Mapping[str, str] | None = None) -> ShownNames:
    """The names shown at a moment, and those of `outsiders` of the story, by what they are called in it."""
    false, called = false_names_at(story, at), shown_names(story, at) | dict(outsiders or {})
    if not false and not outsiders:
        return ShownNames(called, str)
    cast = [member.character for member in story.cast()]
    others = {name for who in cast if who.name not in false for name in who.names}
    hidden: dict[str, str] = {}
    for who in cast:
        if who.name in false:
            hidden |= _stand_ins(who, false[who.name])
    taken = {part for name in others for part in (name, *name.split())}
    hidden = {name: shown for name, shown in hidden.items() if name in false or name not in taken}
    longer_names = [name for name in others if any(true in name for true in hidden)]
    return ShownNames(called, NameReplacer(hidden | dict(outsiders or {}), longer_names))


def _stand_ins(character: Character, false: str) -> dict[str, str]:
    """For every name that gives somebody away, what stands in its place: 'Mr Vane' as 'Mr Lodger', others in full."""
    own, new = character.name.split(), false.split()
    parts = [part for part in own if len(own) > 1 and part[0].isupper() and fold(part) not in NOT_NAMES]
    by_word = {old: new[index if len(own) == len(new) or index == 0 else -1] for index, old in enumerate(own)}
    names: dict[str, str] = {}
    for name in dict.fromkeys((*character.names, *parts)):
        words = [word for word in name.split() if fold(word) not in NOT_NAMES]
        if not words or _is_part(name, false):
            continue
        renamed = [by_word.get(word, word) for word in name.split()] if set(words) <= by_word.keys() else new
        names[name] = false if name == character.name else " ".join(dict.fromkeys(renamed))
        if name[0].islower():
            names[name[0].upper() + name[1:]] = names[name]
    return names


def spoken_of(story: Story, at: Moment) -> dict[str, str]:
    """What those are called, by their own names, who have not been seen by a moment and were not named in full.

    What is known of others by then, as whose child somebody is, may name them as well.
    """
    if at.is_end:
        return {}
    seen = story.seen_before(at)
    called: dict[str, str] = {}
    for who, names in story.spoken_names(at).items():
        if names.before and who not in seen and not any(_is_part(who, name) for name in names.before):
            called[who] = max(names.before, key=lambda name: (_shared_words(name, who), len(name), name))
    if not called:
        return called
    known = [value for fact in story.facts() if fact.since <= at for value in fact.values]
    known += [text for member in story.cast() if member.character.name in seen for text in member.character.profile]
    return {who: name for who, name in called.items() if not any(who in text for text in known)}


def people_at(story: Story, at: Moment) -> list[Person]:
    """Those who can be named at a moment, whoever has spoken most in the whole story first."""
    facts = story.facts()
    seen = story.seen_before(at) - _unborn(facts, at)
    at = _begun(story, at)
    false = _false_names(facts, at)
    spoken = story.spoken_names(max(at, story.opening_end()))
    later: dict[str, list[str]] = {}
    public: dict[str, list[str]] = {}
    for fact in facts:
        if fact.attribute == GOES_BY and fact.since > at:
            later.setdefault(fact.who, []).extend(fact.values)
        if fact.since <= at and fact.known_to is None:
            public.setdefault(fact.who, []).extend(fact.values)
    return [
        _person(
            _as_told(member.character, spoken.get(member.character.name), public.get(member.character.name, ())),
            false.get(member.character.name),
            later.get(member.character.name, ()),
        )
        for member in story.cast()
        if member.character.name in seen
    ]


def people_called(people: Sequence[Person], name: str) -> list[Person]:
    """Those a reader may mean by a name: it in full, else one like it but for case and marks, else a part of one.

    Two who are shown by the very same name (one of them pretends to be the other) cannot be told apart by a reader:
    whose own name it is, is meant.
    """
    wanted = fold(name)
    tests: tuple[Callable[[str], bool], ...] = (
        lambda known: known == name,
        lambda known: fold(known) == wanted,
        lambda known: bool(wanted) and wanted in {fold(part) for part in known.split()},
    )
    by_test = ([person for person in people if any(map(test, person.known_as))] for test in tests)
    matches = next(filter(None, by_test), [])
    if len({person.shown for person in matches}) == 1:
        return sorted(matches, key=lambda person: person.name != person.shown)[:1]
    return matches


def character_at(story: Story, name: str, at: Moment) -> Character:
    """Whom an author means by a name at a moment: anybody of the story, but of several first those seen by then."""
    if story.is_name(name):
        return story.character(name)
    people = people_at(story, at)
    owners = {person.name: person for person in people}
    by_every_name = [
        Person(member.character.name, member.character.name, member.character.names)
        for member in story.cast()
        if member.character.name in owners
    ]
    meant = {person.name for person in people_called([*people, *by_every_name], name)}
    if len(meant) > 1:
        raise UnknownCharacter(ambiguity(name, [owners[owner] for owner in meant]))
    if meant:
        return story.character(meant.pop())
    try:
        return story.character(name)
    except UnknownCharacter as error:
        if at.is_end:
            raise
        raise _not_yet(story, name, at, people) from error


def sole_names(story: Story) -> dict[str, str]:
    """Every name of the cast that only one person has, folded, with that person's own name."""
    people = [member.character for member in story.cast()]
    return sole_owners((fold(name), person.name) for person in people for name in person.names)


def ambiguity(name: str, people: Iterable[Person]) -> str:
    """What to say where a name may mean several people."""
    return f"'{name}' may be {' or '.join(sorted(person.shown for person in people))}: give the full name"


def _not_yet(story: Story, name: str, at: Moment, people: Sequence[Person]) -> UnknownCharacter:
    meant = did_you_mean(name, (known for person in people for known in person.known_as))
    listed = ", ".join(person.shown for person in people[:LISTED])
    return UnknownCharacter(
        f"nobody in '{story.title}' is called '{name}' by {at.dotted}{meant}; so far it has {listed or 'nobody'}"
    )


def _unborn(facts: Iterable[Fact], at: Moment) -> set[str]:
    births: dict[str, list[Moment]] = {}
    for fact in facts:
        if fact.attribute == "born":
            births.setdefault(fact.who, []).append(fact.since)
    return {who for who, dates in births.items() if min(dates) > at}


def _begun(story: Story, at: Moment) -> Moment:
    """Before the story begins, those who can be named are those of its first scene, by the names they have there."""
    first = story.first_moment()
    return at if first is None else max(at, first)


def _false_names(facts: Iterable[Fact], at: Moment) -> dict[str, str]:
    return {fact.who: fact.values[0] for fact in holding_at((f for f in facts if f.attribute == GOES_BY), at)}


def _as_told(character: Character, names: SpokenNames | None, public: Sequence[str]) -> Character:
    """Without the aliases that the text has only later, and that nothing else tells."""
    if names is None or not names.later:
        return character
    known = (character.name, *names.before)
    aliases = (
        alias
        for alias in character.aliases
        if not any(_is_part(alias, name) for name in names.later)
        or any(_is_part(alias, name) for name in known)
        or any(alias in text for text in (*character.profile, *public))
    )
    return replace(character, aliases=tuple(aliases))


def _person(character: Character, false: str | None, later: Sequence[str]) -> Person:
    if false is not None:
        aliases = [alias for alias in character.aliases if _is_part(alias, false) and alias != false]
        return Person(character.name, false, (false, *aliases))
    aliases = [
        alias
        for alias in character.aliases
        if _is_part(alias, character.name) or not any(_is_part(alias, taken) for taken in later)
    ]
    return Person(character.name, character.name, (character.name, *aliases))


def _shared_words(name: str, other: str) -> int:
    return len({fold(word) for word in name.split()} & {fold(word) for word in other.split()})


def _is_part(alias: str, name: str) -> bool:
    """Is it a name or part of it, with a title perhaps: 'Mr Benedek' or 'Aurel' of Aurel Benedek?"""
    words = {fold(word) for word in alias.split()} - NOT_NAMES
    if words and words <= {fold(word) for word in name.split()}:
        return True
    return is_unspaced(alias) and fold(alias) in fold(name)
