"""The forms by which somebody of a cast can be named: those listed, and those that can be derived from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from understudy.quotations.lexicon import FEMALE, MALE
from understudy.quotations.prose import NovelCharacter
from understudy.quotations.vocabulary import NO_NAMES, OFFICES
from understudy.quotations.words import WORD

__all__ = ["AliasPattern", "alias_patterns"]


class AliasPattern(NamedTuple):
    words: tuple[str, ...]
    people: tuple[int, ...]
    needs_capital: bool


def alias_patterns(cast: Sequence[NovelCharacter], counts: Mapping[str, int]) -> dict[str, list[AliasPattern]]:
    """Forms of names by their first word, the longest first.

    A short form that is all that is known of somebody ('Bounderby', of no gender) is also that of whoever it can be
    derived for ('Josiah Bounderby'); so is 'Mr. Crawford', where that is all that a man is called, of Henry Crawford;
    and a first name whose owner is mostly called otherwise, of namesakes. `counts` are of the words of the text.
    """
    listed, derived, surnames = (defaultdict[tuple[str, ...], set[int]](set) for _ in range(3))
    capital: dict[tuple[str, ...], bool] = {}
    for index, character in enumerate(cast):
        for alias in (character.name, *character.aliases):
            parts = tuple(WORD.findall(alias.lower()))
            if not parts or alias.startswith("_"):
                continue
            listed[parts].add(index)
            capital[parts] = parts[0] not in ("the", "a", "an", "his", "her", "my", "old")
            for form in _derived(parts, character.gender):
                derived[form].add(index)
            if surname := _surname(parts):
                surnames[(surname,)].add(index)
    for form, people in surnames.items():  # a surname without a title is a man's, where a man bears it
        derived[form] |= {index for index in people if cast[index].gender != FEMALE} or people
    for form, owners in listed.items():
        if len(form) == 1 and len(owners) == 1 and _is_mostly_called_otherwise(cast[min(owners)], form[0], counts):
            owners |= {index for index in derived.get(form, ()) if cast[index].gender == cast[min(owners)].gender}
    bare = {index for index, who in enumerate(cast) if not who.gender and len(_distinct(who)) == 1}
    for form, people in derived.items():
        owners = listed.get(form, set())
        is_title = form[0] in ("mr", "the")
        namesakes = {index for index in people if is_title and _shares_only_name(cast, index, owners, form)}
        if not owners or owners <= bare or namesakes:
            listed[form] |= namesakes or people
    forms = defaultdict[str, list[AliasPattern]](list)
    for parts, people in listed.items():
        forms[parts[0]].append(AliasPattern(parts, tuple(sorted(people)), capital.get(parts, parts[0] != "the")))
    for choices in forms.values():
        choices.sort(key=lambda form: -len(form.words))
    return forms


def _distinct(character: NovelCharacter) -> set[tuple[str, ...]]:
    """The names of somebody, 'the' left out; who has one only may be somebody else's short name."""
    names = (tuple(WORD.findall(alias.lower())) for alias in (character.name, *character.aliases))
    return {parts[1:] if parts[:1] == ("the",) else parts for parts in names if parts}


def _is_mostly_called_otherwise(who: NovelCharacter, name: str, counts: Mapping[str, int]) -> bool:
    others = {form[0] for form in _distinct(who) if len(form) == 1} - {name}
    return any(counts.get(other.capitalize(), 0) > counts.get(name.capitalize(), 0) for other in others)


def _shares_only_name(cast: Sequence[NovelCharacter], who: int, owners: set[int], form: tuple[str, ...]) -> bool:
    """Whether the one owner of a form has no other, and could be `who`, who has. Somebody who is called 'Mr. John
    Knightley' is not: he has his first name with the title because there is another Mr. Knightley."""
    if len(owners) != 1 or any(parts[:1] == form[:1] and len(parts) > len(form) for parts in _distinct(cast[who])):
        return False
    owner = cast[min(owners)]
    return len(_distinct(owner)) == 1 and owner.gender == cast[who].gender != "" and len(_distinct(cast[who])) > 1


def _surname(parts: tuple[str, ...]) -> str:
    names = [part for part in parts if part not in NO_NAMES and len(part) > 1]
    has_more = len(names) > 1 or parts[0] in NO_NAMES
    return (
        names[-1]
        if names and has_more and parts[0] not in ("the", "a", "an", "his", "her") and "s" not in parts
        else ""
    )


def _derived(parts: tuple[str, ...], gender: str) -> Iterator[tuple[str, ...]]:
    names = [part for part in parts if part not in NO_NAMES and len(part) > 1]
    if not names or parts[0] in ("the", "a", "an", "his", "her", "my") or "s" in parts:
        return
    if parts[0] in NO_NAMES and len(parts) > 1:
        yield parts[1:]
    if parts[0] in OFFICES:
        office = "doctor" if parts[0] == "dr" else parts[0]
        yield from (("the", office), (office,))
    if len(names) > 1 and parts[0] != "mrs":
        yield (names[0],)
    surname = names[-1]
    if gender == MALE and len(names) > 1:
        yield ("mr", surname)
    if gender == FEMALE and len(names) > 1:
        yield from (("mrs", surname), ("miss", surname))
    if gender and len(names) > 1 and parts[0] not in NO_NAMES:
        yield ("mr" if gender == MALE else "miss", names[0])
