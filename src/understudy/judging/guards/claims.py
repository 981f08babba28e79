"""The guards of claims and of identity: they stop what a writer makes up about the character's own life or takes from
another's, and whoever speaks as somebody else.

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
from collections.abc import Iterator, Sequence

from understudy.agents.dialogue_context import KnownPeople, heard_turns, introduced_name, introductions
from understudy.agents.pools import KeyedCache
from understudy.agents.word_tokens import IRREGULAR, roots
from understudy.judging.guards.knowledge import known_words, words_of_chat
from understudy.judging.guards.phrases import is_title, piece_counts
from understudy.judging.guards.story_view import Guard, StoryViews, Verdict, own_names
from understudy.story.dialogue import Draft, Situation, Turn
from understudy.story.names import false_names_at
from understudy.story.persona import Persona
from understudy.text import fold, sentences

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


# A guard of identity: a writer that speaks as somebody else, calls itself by name, or makes up words.
#
#     'My name is Nina.'            stopped where the character has another name
#     'I am Pia, Doctor.'           stopped for every writer where Pia is somebody else of the story
#     'Eleven months, Nuri.'        stopped where Nuri is who speaks
#     'That is fornagina fever.'    stopped: no word, and nobody has used it
#
# A word is made up where the character has never heard it, nobody has used it in this chat, and the encoder's
# tokenizer, whose vocabulary has the words of English that are at all common, cuts it into three pieces or more.


IDENTITY = "identity"
PIECES = 3
WORD = re.compile(r"[^\W\d_]{4,}(?:['’]\w+)?")
TITLES = frozenset("mr mrs ms miss dr doctor captain father mother sister brother sir lady lord".split())
MARRIED = frozenset({"mrs", "frau"})  # by whose name another may be called as well
RUN = r"(?P<{}>[A-ZÄÖÜ][\w.]*(?: [A-ZÄÖÜ]\w*\.?){{0,3}})"
CLAUSE = r"(?:^|[.!?;:,—–*\n-]\s*)(?:(?:and|but|no|well|yes|why|oh|hello|ja|nein|und) )?"
NAME_ENDS = r"(?=\s*(?:$|[.,;:!?…\n—–-])|\s+(?:and|und|of|the|from|here|now|der|die|von)\b)(?!['’]s|['’] )"
POSES = re.compile(
    rf"{CLAUSE}(?i:i am|i'm|i’m|my name is|ich bin|ich heiße|mein name ist) (?i:the )?{RUN.format('stated')}{NAME_ENDS}"
    rf"|{CLAUSE}(?i:this is) {RUN.format('shown')}{NAME_ENDS}(?!,? (?:who|whom|my|our|the)\b)(?=[^.!?]* I\b)"
    rf"|{CLAUSE}{RUN.format('named')}(?: of(?: \w+){{1,4}})? (?:is my name|speaking)\b"
)
QUOTED = re.compile(r'"[^"]*"?|“[^”]*”?|„[^“”]*[“”]?|»[^«]*«?|(?<!\w)[\'‘](?=[A-Z])[^\'’]*[\'’]')


def speaks_as_another(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:  # noqa: ARG001
    """Does it give a name that is not the character's, or call somebody by the character's own?"""
    if draft.source != "writer" or situation.persona.language != "en":
        return Verdict.passing(IDENTITY)
    own = (*own_names(situation), *filter(None, (situation.known_as,)))
    parts = {fold(part) for name in own for part in (name, *name.split())}
    given = introduced_name([draft.text])
    if given and all(fold(part) not in parts for part in given.split() if part.lower().rstrip(".") not in TITLES):
        return Verdict.stopped(IDENTITY, "speaks as somebody else")
    if any(re.search(rf"[a-z], {re.escape(name)}[.!?]", draft.text) for name in (*own, own[0].split()[0])):
        return Verdict.stopped(IDENTITY, "calls the one faced by the own name")
    if any(
        re.search(rf"(?<!^)(?<!am )(?<!m )(?<!is )(?<!me )\b{re.escape(name)}\b", draft.text)
        for name in own
        if " " in name
    ):
        return Verdict.stopped(IDENTITY, "speaks of oneself as of somebody else")
    return Verdict.passing(IDENTITY)


def poses_as_another(views: StoryViews) -> Guard:
    """The guard against somebody else of the story or the chat who speaks in the character's stead."""

    def guard(situation: Situation, history: Sequence[Turn], draft: Draft) -> Verdict:
        given = list(_names_taken(draft.text)) if draft.source == "writer" else []
        if not given:
            return Verdict.passing(IDENTITY)
        own = {fold(part) for name in _every_own_name(views, situation) for part in (name, *name.split())}
        others = {turn.speaker for turn in history} | {other.name for other in KnownPeople.of(situation).people}
        others |= {member.character.name for view in views(situation) for member in view.story.cast()}
        known = {fold(part) for name in others for part in name.split() if part[:1].isupper()} - own
        for name in given:
            if _is_of_another(name, own, known) and not _has_said_so(situation, name):
                return Verdict.stopped(IDENTITY, "speaks as somebody else")
        return Verdict.passing(IDENTITY)

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
        return Verdict.passing(IDENTITY)
    known = known_words(situation.persona) | words_of_chat(situation, history)
    words = {word.lower().replace("’", "'").removesuffix("'s") for word in WORD.findall(draft.text)} - known
    if any(pieces >= PIECES for pieces in piece_counts(tuple(sorted(words)))):
        return Verdict.stopped(IDENTITY, "has a word that is none")
    return Verdict.passing(IDENTITY)
