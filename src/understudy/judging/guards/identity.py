"""A guard of identity: a writer that speaks as somebody else, calls itself by name, or makes up words.

    'My name is Nina.'            stopped where the character has another name
    'Eleven months, Nuri.'        stopped where Nuri is who speaks
    'That is fornagina fever.'    stopped: no word, and nobody has used it

A word is made up where the character has never heard it, nobody has used it in this chat, and the encoder's tokenizer,
whose vocabulary has the words of English that are at all common, cuts it into three pieces or more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from understudy.dialogue import Draft, Situation, Turn
from understudy.judging.guards.company import own_names
from understudy.judging.guards.knowledge import known_words, words_of_chat
from understudy.judging.guards.verdict import Verdict
from understudy.judging.guards.vocabulary import piece_counts
from understudy.prompting import introduced_name
from understudy.text import fold

__all__ = ["made_up_words", "speaks_as_another"]

NAME = "identity"
PIECES = 3
WORD = re.compile(r"[^\W\d_]{4,}(?:['’]\w+)?")
TITLES = frozenset("mr mrs ms miss dr doctor captain father mother sister brother sir lady lord".split())


def speaks_as_another(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:  # noqa: ARG001
    """Does it give a name that is not the character's, or call somebody by the character's own?"""
    if draft.source != "writer" or situation.persona.language != "en":
        return Verdict.passing(NAME)
    own = (*own_names(situation), *filter(None, (situation.known_as,)))
    parts = {fold(part) for name in own for part in (name, *name.split())}
    given = introduced_name([draft.text])
    if given and all(fold(part) not in parts for part in given.split() if part.lower().rstrip(".") not in TITLES):
        return Verdict.stopped(NAME, "speaks as somebody else")
    if any(re.search(rf"[a-z], {re.escape(name)}[.!?]", draft.text) for name in (*own, own[0].split()[0])):
        return Verdict.stopped(NAME, "calls the one faced by the own name")
    if any(
        re.search(rf"(?<!^)(?<!am )(?<!m )(?<!is )(?<!me )\b{re.escape(name)}\b", draft.text)
        for name in own
        if " " in name
    ):
        return Verdict.stopped(NAME, "speaks of oneself as of somebody else")
    return Verdict.passing(NAME)


def made_up_words(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Does it have a word that is none?"""
    if draft.source != "writer" or situation.persona.language != "en":
        return Verdict.passing(NAME)
    known = known_words(situation.persona) | words_of_chat(situation, history)
    words = {word.lower().replace("’", "'").removesuffix("'s") for word in WORD.findall(draft.text)} - known
    if any(pieces >= PIECES for pieces in piece_counts(tuple(sorted(words)))):
        return Verdict.stopped(NAME, "has a word that is none")
    return Verdict.passing(NAME)
