"""The guard of address: stops a draft that calls somebody absent, or speaks of a person present in the third person.

Examples: 'Captain' to somebody who is none, 'lass' to a man, 'Zita would know' said to Zita.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from understudy.agents.addressing import Addressing, gender_of, names_of
from understudy.agents.dialogue_context import KnownPeople, heard_turns, introduced_names
from understudy.agents.pools import KeyedCache
from understudy.judging.guards.story_view import Verdict, own_names
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Other, Past
from understudy.story.types import Moment
from understudy.text import either, find_name

NAME = "address"
OF_A_MAN = (
    "sir|lad|laddie|sonny|mister|gentleman|my lord|my good man|old man|old boy|young man|dear boy|"
    "my boy|boy|dear fellow|dear sir"
)
OF_A_WOMAN = "madam|ma'am|lass|lassie|miss|my lady|dear lady|young lady|girl|my girl|lovey"
OF_RANK = (
    "captain|doctor|professor|your majesty|your highness|your grace|your honour|your honor|"
    "your excellency|my liege|sergeant|commissary|prior|nurse|officer|inspector"
)
BEFORE = (
    r"(?:^|[,;:.!?—–(]\s*)(?:(?:yes|no|aye|well|and|but|oh|ah|now|come|my|dear|old|good|poor|young|"
    r"little|Mr|Mrs|Miss|Dr)\s+)*"
)
AFTER = r"(?=\s*(?:[,;.!?—–]|$))"


@lru_cache(1024)
def _vocative(terms: tuple[str, ...], ignore_case: bool = False) -> re.Pattern[str] | None:
    """Finds a term that somebody is called by: set off by a mark before it, or at the beginning, and one after it."""
    joined = either(filter(None, terms))
    return re.compile(rf"{BEFORE}({joined}){AFTER}", re.I if ignore_case else 0) if joined else None


MALE, FEMALE, RANK = (_vocative(tuple(terms.split("|")), True) for terms in (OF_A_MAN, OF_A_WOMAN, OF_RANK))


def address(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Does it address the people present, and speak of them, correctly?"""
    if situation.persona.language != "en":
        fault = ""
    else:
        people = PeopleNames.of(situation, history)
        fault = _calls_the_absent(situation, history, draft, people)
        fault = fault or _speaks_of_those_here(situation, draft.text, people)
    if not fault and draft.source == "exchange" and draft.moment is not None:
        fault = Addressing(situation).fault_of(draft.text, draft.moment)
    return Verdict.stopped(NAME, fault) if fault else Verdict.passing(NAME)


def _calls_the_absent(situation: Situation, history: Sequence[Turn], draft: Draft, people: PeopleNames) -> str:
    text = draft.text
    absent = _vocative(tuple(name for name in people.absent if " " not in name or len(name.split()) < 4))
    last_messages = heard_turns(situation.persona, history)[-1:]
    if absent is not None and (match := absent.search(text)) and not _is_subject(text, match, people, last_messages):
        return "calls somebody who is not there"
    own_aliases = {name.casefold() for name in (*people.faced, *people.present)}
    gender = gender_of(situation.faced)
    for pattern, other_gender in ((MALE, "f"), (FEMALE, "m")):
        assert pattern is not None
        match = pattern.search(text)
        if match is None or match[1].casefold() in own_aliases or situation.present:
            continue
        if gender == other_gender or (not gender and _was_for_another(situation, draft)):
            return f"calls the one faced '{match[1]}'"
    assert RANK is not None
    if (match := RANK.search(text)) and match[1].casefold() not in own_aliases and not situation.present:
        known = situation.faced is not None or _was_for_another(situation, draft)
        if known and not any(match[1].casefold() in name.casefold() for name in own_aliases):
            return f"calls the one faced '{match[1]}'"
    return ""


def _is_subject(text: str, match: re.Match[str], people: PeopleNames, last_messages: Sequence[str]) -> bool:
    """Is a name at the start the topic and not an address? 'Zita? She is my friend', or a bare name as the reply."""
    if text.strip(" .!?") == match[1] or match[1] in people.present:
        return True
    begins = not text[: match.start(1)].strip()
    return begins and any(
        part in message for message in last_messages for part in match[1].split() if part[:1].isupper()
    )


def _was_for_another(situation: Situation, draft: Draft) -> bool:
    """Was the line said to others than the one faced now?"""
    if draft.source != "exchange" or draft.moment is None:
        return False
    faced = situation.faced
    return faced is None or faced.name not in situation.persona.past.company(draft.moment)


def _speaks_of_those_here(situation: Situation, text: str, people: PeopleNames) -> str:
    if situation.faced is not None:
        shared = set(own_names(situation)) | set(people.absent) | set(people.present)
        names = tuple(name for name in people.faced if name not in shared and name[:1].isupper())
        if _spoken_of(text, names):
            return "speaks of the one faced as of somebody else"
    if _spoken_of(text, own_names(situation), own=True):
        return "speaks of oneself as of somebody else"
    return ""


@lru_cache(4096)
def _third_person(names: tuple[str, ...], own: bool) -> re.Pattern[str] | None:
    """A name inside a clause. Not: set off by marks, after 'I am', 'you are', 'Miss', or quoted."""
    joined = either(filter(None, names))
    if not joined:
        return None
    said_of = r"(?:is|was|has|had|will|would|does|did|says|said|told|took|wrote|knows|can|could|must|may|might|and I)\b"
    if own:
        return re.compile(rf"(?<!am )(?<!I'm )(?<!is )(?<!me )\b(?:{joined})\b(?='s\b|’s\b|\s+{said_of})")
    return re.compile(
        rf"\b(?:{joined})\b(?='s\b|’s\b|\s+{said_of})|\b(?:with|of|about|by|from|for|trust|like|love|hate|"
        rf"despise|know|ask|tell|see|the|to)\s+(?:{joined})\b(?!,? you)"
    )


def _spoken_of(text: str, names: tuple[str, ...], own: bool = False) -> bool:
    pattern = _third_person(names, own)
    return pattern is not None and pattern.search(text) is not None


# Who is who in a situation: the names of the one faced, of those present and of the absent.


@dataclass(frozen=True, slots=True)
class PeopleNames:
    """Names of the one faced, of the others who are there, and of those the character knows who are not."""

    faced: tuple[str, ...]
    present: tuple[str, ...]
    absent: tuple[str, ...]

    @classmethod
    def of(cls, situation: Situation, history: Sequence[Turn]) -> PeopleNames:
        """Made once for all drafts of a reply."""
        language = situation.persona.language
        introduced = tuple(introduced_names(heard_turns(situation.persona, history), language))
        return _PEOPLE.get_or_create((id(situation), introduced), situation, lambda: cls._of(situation, introduced))

    @classmethod
    def _of(cls, situation: Situation, introduced: Sequence[str]) -> PeopleNames:
        known = KnownPeople.of(situation)
        here = {known.name_of(other.name) for other in situation.present}
        faced, there, away = list[str](), list[str](), list[str]()
        if situation.faced is not None:
            faced += names_of(situation.faced)
        for other in situation.present:
            there += names_of(other)
        for other in situation.acquaintances:
            name = known.name_of(other.name)
            is_faced = situation.faced is not None and name == known.name_of(situation.faced.name)
            (faced if is_faced else there if name in here else away).extend(names_of(other))
        for name in introduced:
            faced += (name, *name.split())
        own = set(own_names(situation))
        clear = {name for name in away if name not in faced and name not in there and name not in own}
        return cls(tuple(dict.fromkeys(faced)), tuple(dict.fromkeys(there)), tuple(sorted(clear)))


def people_named(text: str, people: Iterable[Other]) -> set[str]:
    """Whom of these a text names, by name or alias; a name that several share names them all."""
    return {other.name for other in people if find_name(text, names_of(other)) is not None}


_PEOPLE = KeyedCache[PeopleNames](64)
_MET = KeyedCache[frozenset[str]](64)
_LINES = KeyedCache[dict[tuple[int, ...], str]](64)


def line_at(past: Past, moment: Moment) -> str:
    """The whole line that was said at a moment, where the character heard it; else blank."""
    lines = _LINES.get_or_create(
        id(past), past, lambda: {line.moment.numbers: line.text for scene in past.scenes() for line in scene.lines}
    )
    return lines.get(moment.numbers, "")


def people_met(past: Past) -> frozenset[str]:
    """Who was ever in a scene with the character."""
    return _MET.get_or_create(
        id(past), past, lambda: frozenset(name for scene in past.scenes() for name in scene.present)
    )
