"""A guard of identity: a writer that speaks as somebody else, calls itself by name, or makes up words.

    'My name is Nina.'            stopped where the character has another name
    'I am Pia, Doctor.'           stopped for every writer where Pia is somebody else of the story
    'Eleven months, Nuri.'        stopped where Nuri is who speaks
    'That is fornagina fever.'    stopped: no word, and nobody has used it

A word is made up where the character has never heard it, nobody has used it in this chat, and the encoder's tokenizer,
whose vocabulary has the words of English that are at all common, cuts it into three pieces or more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from understudy.agents.dialogue_context import KnownPeople
from understudy.agents.prompting import introduced_name
from understudy.judging.guards.address import own_names
from understudy.judging.guards.knowledge import known_words, words_of_chat
from understudy.judging.guards.phrases import is_title, piece_counts
from understudy.judging.guards.story_view import StoryViews
from understudy.judging.guards.verdict import Guard, Verdict
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.names import false_names_at
from understudy.text import fold

__all__ = ["made_up_words", "poses_as_another", "speaks_as_another"]

NAME = "identity"
PIECES = 3
WORD = re.compile(r"[^\W\d_]{4,}(?:['’]\w+)?")
TITLES = frozenset("mr mrs ms miss dr doctor captain father mother sister brother sir lady lord".split())
MARRIED = frozenset({"mrs", "frau"})  # by whose name another may be called as well
RUN = r"(?P<{}>[A-ZÄÖÜ][\w.]*(?: [A-ZÄÖÜ]\w*\.?){{0,3}})"
CLAUSE = r"(?:^|[.!?;:,—–*\n-]\s*)(?:(?:and|but|no|well|yes|why|oh|hello|ja|nein|und) )?"
ENDS = r"(?=\s*(?:$|[.,;:!?…\n—–-])|\s+(?:and|und|of|the|from|here|now|der|die|von)\b)(?!['’]s|['’] )"
POSES = re.compile(
    rf"{CLAUSE}(?i:i am|i'm|i’m|my name is|ich bin|ich heiße|mein name ist) (?i:the )?{RUN.format('stated')}{ENDS}"
    rf"|{CLAUSE}(?i:this is) {RUN.format('shown')}{ENDS}(?!,? (?:who|whom|my|our|the)\b)(?=[^.!?]* I\b)"
    rf"|{CLAUSE}{RUN.format('named')}(?: of(?: \w+){{1,4}})? (?:is my name|speaking)\b"
)
QUOTED = re.compile(r'"[^"]*"?|“[^”]*”?|„[^“”]*[“”]?|»[^«]*«?|(?<!\w)[\'‘](?=[A-Z])[^\'’]*[\'’]')


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


def poses_as_another(views: StoryViews) -> Guard:
    """The guard against somebody else of the story or the chat who speaks in the character's stead."""

    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        given = list(_names_taken(draft.text)) if draft.source == "writer" else []
        if not given:
            return Verdict.passing(NAME)
        own = {fold(part) for name in _every_own_name(views, situation) for part in (name, *name.split())}
        others = {turn.speaker for turn in history} | {other.name for other in KnownPeople.of(situation).people}
        others |= {member.character.name for view in views(situation) for member in view.story.cast()}
        known = {fold(part) for name in others for part in name.split() if part[:1].isupper()} - own
        for name in given:
            if _is_of_another(name, own, known) and not _has_said_so(situation, name):
                return Verdict.stopped(NAME, "speaks as somebody else")
        return Verdict.passing(NAME)

    return guard


def _names_taken(text: str) -> Iterator[str]:
    """Names by which a speaker calls itself, outside of quotations."""
    for match in POSES.finditer(QUOTED.sub(" ", text)):
        yield match["stated"] or match["shown"] or match["named"]


def _every_own_name(views: StoryViews, situation: Situation) -> Iterator[str]:
    yield from (*views.own_names(situation), situation.known_as)
    for view in views(situation):
        yield false_names_at(view.story, view.at).get(view.who, "")


def _is_of_another(name: str, own: set[str], known: set[str]) -> bool:
    """Is the first word that is no title another's? 'Mrs Crane' and 'Miss Crane' may be the same Crane as one's own."""
    words = [word.rstrip(".") for word in name.split()]
    parts = [fold(word) for word in words if not is_title(word) and word.lower() not in TITLES]
    if not parts or (words[0].lower() in MARRIED and not own.isdisjoint(parts)):
        return False
    return parts[0] in known


def _has_said_so(situation: Situation, name: str) -> bool:
    """Who has called itself by a name before, in play or in disguise, goes on to do so."""
    return any(name in _names_taken(line.text) for line in situation.persona.past.lines())


def made_up_words(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
    """Does it have a word that is none?"""
    if draft.source != "writer" or situation.persona.language != "en":
        return Verdict.passing(NAME)
    known = known_words(situation.persona) | words_of_chat(situation, history)
    words = {word.lower().replace("’", "'").removesuffix("'s") for word in WORD.findall(draft.text)} - known
    if any(pieces >= PIECES for pieces in piece_counts(tuple(sorted(words)))):
        return Verdict.stopped(NAME, "has a word that is none")
    return Verdict.passing(NAME)
