"""The guard of claims: stops what a writer makes up about the character's own life.

    I am a N, I work as a N, I have a N, my N (wife, brother, dog, ...)

passes where the head noun N is in the character's own lines, profile, ties or this chat; but what the one faced told of
themselves is theirs. Only drafts of a writer are checked: a small model that is given no trade invents one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.agents.dialogue_context import heard_turns
from understudy.agents.pools import KeyedCache
from understudy.dialogue import Draft, Situation, Turn
from understudy.judging.guards.phrases import roots
from understudy.judging.guards.verdict import Verdict
from understudy.persona import Persona
from understudy.prompting import introductions

__all__ = ["unsupported_claim"]

NAME = "claims"
OWN_LINES = 5_000  # the most recent that are searched
APOSTROPHE = "['’]"
ADVERB = r"(?:now |still |just |only |really |also |mostly )?"
BEING = (
    rf"\bI(?:{APOSTROPHE}m| am| was|{APOSTROPHE}ve been| have been)\s+{ADVERB}(?:an?|the)|"
    r"\bI work(?:ed)? as (?:an?|the)"
)
HAVING = rf"\bI(?:{APOSTROPHE}ve| have| own| keep)(?: got)?\s+(?:an?|two|three|four|five|six|seven|several|some|many)"
KIN = (
    "wife husband sons? daughters? brothers? sisters? child children uncle aunt cousins? boss boyfriend girlfriend "
    "dogs? cats? horse house farm shop job mother father mom mum dad parents"
)
CLAIM = re.compile(
    rf"(?:{BEING}|{HAVING})\s+([^.,;:!?]+)|\bmy\s+((?:\w+\s+)?(?:{'|'.join(KIN.split())}))\b", re.IGNORECASE
)
ENDS = re.compile(
    r"\s+(?:and|but|or|who|that|which|of|in|on|at|for|with|to|from|by|because|when|so|if|than|as|like|here|there)\b",
    re.I,
)
LIGHT = frozenset(
    "bit lot man woman person one thing way few kind sort time day year little great good mind idea question".split()
)

MEASURES = frozenset({"little", "bit", "lot"})

_OWN = KeyedCache[frozenset[str]](32)


def unsupported_claim(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Something the draft says the character is or has, of which nothing is known."""
    persona = situation.persona
    if draft.source != "writer" or persona.language != "en":
        return Verdict.passing(NAME)
    heads = [head for match in CLAIM.finditer(draft.text) if (head := _head(match[1] or match[2]))]
    if not heads:
        return Verdict.passing(NAME)
    own, claimed = _own_words(persona), [roots(head, persona.language) for head in heads]
    if any(head - own and head <= _told_by_other(situation, history) for head in claimed):
        return Verdict.stopped(NAME, "says of itself what the other told of themselves")
    known = own | roots(" ".join(turn.text for turn in history), persona.language)
    if all(head <= known for head in claimed):
        return Verdict.passing(NAME)
    return Verdict.stopped(NAME, "claims what nothing supports")


def _told_by_other(situation: Situation, history: Sequence[Turn]) -> frozenset[str]:
    """The words of what the one faced told of themselves, here or before."""
    persona, faced = situation.persona, situation.faced
    told = [*introductions(heard_turns(persona, history), persona.language)]
    told += [] if faced is None else [*(item.text for item in faced.told), *faced.profile]
    return roots(" ".join(told), persona.language)


def _head(phrase: str) -> str:
    """'gym instructor at a school' -> 'instructor'; blank where it says nothing in particular."""
    words = ENDS.split(phrase.strip(), maxsplit=1)[0].lower().split()
    if not words or words[0] in MEASURES:  # 'I am a little tired'
        return ""
    return "" if words[-1] in LIGHT else words[-1]


def _own_words(persona: Persona) -> frozenset[str]:
    def read() -> frozenset[str]:
        texts = [line.text for line in persona.past.lines(OWN_LINES)]
        texts += [*persona.profile, *persona.feelings(), *(v for values in persona.attributes.values() for v in values)]
        return roots(" ".join(texts), persona.language)

    return _OWN.get_or_create((id(persona.past), persona.profile, persona.relations), persona.past, read)
