"""The guards of claims: they stop what a writer makes up about the character's own life, or takes from another's.

    I am a N, I work as a N, I have a N, my N (wife, brother, dog, ...)

passes where the head noun N is in the character's own lines, profile, ties or this chat; but what the one faced told of
themselves is theirs.

    I burned the only proof

does not pass where most of its words of meaning, two or more, stand together in something that the character has heard
and that is not said there of itself: 'He burned the proof', or another's 'I burned it, the proof'. Only drafts of a
writer are checked: a small model that is given no trade invents one, and takes what it is given for its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.agents.dialogue_context import heard_turns
from understudy.agents.pools import KeyedCache
from understudy.agents.prompting import introductions
from understudy.agents.word_tokens import IRREGULAR
from understudy.judging.guards.address import own_names
from understudy.judging.guards.phrases import roots, sentences
from understudy.judging.guards.verdict import Verdict
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.persona import Persona

__all__ = ["others_deed", "unsupported_claim"]

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

HEARD_SCENES = 400  # that deeds are looked for in
DEED = re.compile(rf"\bI(?:{APOSTROPHE}ve| have|{APOSTROPHE}d| had)?\s+(?:\w+ly\s+)?(\w+)\b")
OF_ONESELF = re.compile(r"\b(?:I|we|my|our)\b")
SAME_DEED, LEAST_OF_DEED = 0.6, 2

MEASURES = frozenset({"little", "bit", "lot"})

_OWN = KeyedCache[frozenset[str]](32)
_DEEDS = KeyedCache[tuple[list[frozenset[str]], list[frozenset[str]]]](32)


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


def others_deed(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Does it tell as an own deed what somebody else is known to have done?"""
    persona = situation.persona
    if draft.source != "writer" or persona.language != "en" or not len(persona.past):
        return Verdict.passing(NAME)
    for sentence in sentences(draft.text):
        match = DEED.search(sentence)
        if match is None or not (match[1].endswith("ed") or match[1] in IRREGULAR):
            continue
        deed = roots(sentence, persona.language) - roots(" ".join(own_names(situation)), persona.language)
        own, others = _deeds(persona)
        own_here = [roots(turn.text) for turn in history if turn.speaker == persona.name]
        if _is_told(deed, others) and not _is_told(deed, [*own, *own_here]):
            return Verdict.stopped(NAME, "tells what another did as an own deed")
    return Verdict.passing(NAME)


def _is_told(deed: frozenset[str], told: Sequence[frozenset[str]]) -> bool:
    least = max(LEAST_OF_DEED, SAME_DEED * len(deed))
    return any(len(deed & words) >= least for words in told)


def _deeds(persona: Persona) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    """The words of sentences that the character says of itself, and those of everything else it has heard or said."""

    def read() -> tuple[list[frozenset[str]], list[frozenset[str]]]:
        own = [roots(text) for text in (*persona.profile, *persona.feelings())]
        others = list[frozenset[str]]()
        for scene in persona.past.scenes(HEARD_SCENES):
            for line in scene.lines:
                for sentence in sentences(line.text) if line.speaker is not None else ():
                    is_own = line.speaker == persona.name and OF_ONESELF.search(sentence) is not None
                    (own if is_own else others).append(roots(sentence))
        return own, others

    return _DEEDS.get_or_create((id(persona.past), persona.profile, persona.relations), persona.past, read)


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
