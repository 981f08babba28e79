"""What a clause says of whoever speaks, as a short sentence in the first person, with its kind.

    'I think I'm just a small town girl because ...'   ->  I am a small town girl
    'hunting is one of my favorite hobbies'            ->  I like hunting
    'I was out with my three dogs'                     ->  I have three dogs

Not stated, and left out: what is hypothetical ('if', 'would', 'I wish'), to come ('will', 'going to'), only so for the
moment ('I am tired'), or about something that the sentence does not name ('I love it', 'I work there').
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from understudy.agents.dialogue_context import OPENING, STATEMENTS, introductions
from understudy.people.clauses import Clause, either, filled, pattern, table

__all__ = [
    "DOUBTS",
    "FIRST_PERSON",
    "FORMS",
    "PASSING_KIND",
    "Statement",
    "kind_of",
    "kinds",
    "may_be_own",
    "own_statements",
    "profile_sentences",
    "shaped",
    "statement",
]

LONGEST, SHORTEST = 16, 3  # words of a sentence
TRIMMED = 9  # words from which on a tail is cut off


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence in the first person, its kind (`statements.toml`) and in what way it was said."""

    sentence: str
    kind: str
    form: str
    doubts: tuple[str, ...] = ()
    clause: int = 0
    """Which clause of the speech says it."""


HEDGE = re.compile(rf"(?:{either('hedges')})(?: that)?,? (?=(?:I|my|we)\b)", re.IGNORECASE)
FILLER = re.compile(rf"(?<=\w) (?:{either('fillers')})(?= \w)", re.IGNORECASE)
TAIL = pattern("tail")
UNREAL = pattern("unreal")
UNNAMED = pattern("unnamed")
MOMENTARY = pattern("momentary")
PASSING = pattern("passing")
LASTING_STATE = pattern("lasting state")
FIRST_PERSON = re.compile(r"\b(?:i|im|i'm|my|we|mine|me)\b", re.IGNORECASE)
FIRST = re.compile(r"(?:I|my|we)\b", re.IGNORECASE)
LED = pattern("led")
FAVORITE = pattern("favorite")
LIKED = pattern("liked")
MY_OWN = pattern("my own")
MY_WORK = re.compile(r"\bmy (?:\w+ )?job (at|as|with) ((?:an?|the) )?([\w' -]{3,40})", re.IGNORECASE)
ELLIPTIC = pattern("elliptic")
THEY = pattern("they")
RELATIVE = pattern("relative")
CALL_ME = re.compile(r"(?:you can |everyone |people |they |friends |just )*call me (\w+)$", re.IGNORECASE)
INNER = pattern("inner")
AS_A = pattern("as a")
LOVE_OF = re.compile(r"\bmy (?:love|passion) (?:of|for) ([\w ]{3,40})", re.IGNORECASE)
JOINED_VERB = pattern("joined verb")
OPEN_END = pattern("open end")
RANKED = re.compile(r"\b(?:eldest|oldest|youngest|only|big|baby|little)\b")
PLURAL = re.compile(r"(?:s|children|kids|mice|fish|geese)$", re.IGNORECASE)
DOUBTS = {"unreal": UNREAL, "unnamed": UNNAMED, "momentary": MOMENTARY}
VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)


FORMS = ("said", "turned", "granted", "elliptic", "answer", "inner")
PASSING_KIND = "passing"


def kinds() -> tuple[str, ...]:
    """All kinds, that of what only holds for the moment last."""
    return (*(name for name, _ in _kinds()), PASSING_KIND)


@cache
def _kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    entries = table()["kind"]
    return tuple((entry["name"], re.compile(filled(entry["pattern"]), re.IGNORECASE)) for entry in entries)


def kind_of(sentence: str) -> str | None:
    """The kind of a whole sentence; None for one that is no statement of oneself, or only holds for the moment."""
    if PASSING.match(sentence) is not None and LASTING_STATE.match(sentence) is None:
        return None
    return next((name for name, pattern in _kinds() if pattern.match(sentence)), None)


def may_be_own(clause: Clause) -> bool:
    """Can a clause say anything whole of its speaker, or of 'my mother' in the clause before?"""
    return FIRST_PERSON.search(clause.text) is not None or THEY.match(clause.text) is not None


def own_statements(clauses: Sequence[Clause]) -> Iterator[Statement]:
    """What a speech says of its speaker, clause by clause."""
    relative = ""  # whom 'he' or 'she' means: 'My mother is here. She is a nurse.'
    for clause in clauses:
        if clause.is_question or clause.is_broken:
            continue
        text = HEDGE.sub("", clause.text)
        if relative and (match := THEY.match(text)):
            text = f"{relative} {text[match.end() :]}"
        seen = set[str]()
        for said, form in _readings(text):
            for sentence in (shaped(said), shaped(TAIL.sub("", said))):
                if sentence and sentence not in seen:
                    seen.add(sentence)
                    yield replace(statement(sentence, form), clause=clause.index)
        yield from (replace(granted, clause=clause.index) for granted in _taken_for_granted(text))
        if match := RELATIVE.search(text):
            relative = match[0]


def statement(sentence: str, form: str) -> Statement:
    kind = kind_of(sentence)
    doubts = [name for name, pattern in DOUBTS.items() if pattern.search(sentence)]
    return Statement(sentence, kind or PASSING_KIND, form, tuple(doubts))


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """The clause as sentences in the first person, each with the form it was said in."""
    if FIRST.match(text):
        yield text, "said"
    elif match := LED.match(text):
        if match[1].lower().startswith(("when", "as", "before", "after", "to")):
            yield match[2], "said"
        else:
            yield f"{match[1]} {match[2]}", "said"
    elif match := LIKED.match(text):
        yield f"I like {_bare(match[1])}", "turned"
    elif match := FAVORITE.match(text):
        yield (f"my favorite {match[2]} is {_bare(match[1])}" if match[2] else f"I love {_bare(match[1])}"), "turned"
    elif match := CALL_ME.match(text):
        yield f"my nickname is {match[1]}", "turned"
    elif ELLIPTIC.match(text):
        yield _with_subject(text), "elliptic"
    if match := AS_A.search(text):
        yield f"I am {match[1]}", "turned"
    for match in INNER.finditer(text):
        yield text[match.end() :], "inner"
    if match := LOVE_OF.search(text):
        yield f"I love {match[1]}", "turned"
    if match := JOINED_VERB.match(text):
        yield f"{match[1]} {match[2]}", "inner"


def _with_subject(text: str) -> str:
    text = re.sub(r"^just ", "", text, flags=re.IGNORECASE)
    head = text.split()[0].lower()
    if head == "born":
        return f"I was {text}"
    return (
        f"I am {text}" if head.endswith("ing") or head in ("married", "retired", "divorced", "single") else f"I {text}"
    )


def _bare(phrase: str) -> str:
    return re.sub(r"^(?:the|yes|i think|i guess|that|and|but|oh|well) ", "", phrase.strip(" ,"), flags=re.IGNORECASE)


def _taken_for_granted(text: str) -> Iterator[Statement]:
    """'my three dogs' says that one has three dogs, whatever is said of them."""
    for match in MY_OWN.finditer(text):
        adjectives, noun = match[1].strip().lower(), match[2].lower()
        if adjectives.startswith(("late", "other", "new")) or "ex" in adjectives.split():
            continue
        adjectives = RANKED.sub("", adjectives).strip()
        phrase = f"{adjectives} {noun}".strip()
        if PLURAL.search(noun) is None or noun == "fish":
            phrase = f"{'an' if VOWEL.match(phrase) else 'a'} {phrase}"
        sentence = f"I have {phrase}"
        kind = kind_of(sentence)
        if kind is not None and not (FIRST.match(text) and text.lower().startswith(("i have", "i own"))):
            yield Statement(sentence, kind, "granted")
    for match in MY_WORK.finditer(text):
        sentence = shaped(f"I work {match[1]} {match[2] or ''}{match[3]}")
        if sentence:
            yield Statement(sentence, "job", "granted")


def shaped(text: str) -> str:
    """A sentence cut to what it states, with a capital and no full stop; blank where it is too long or broken off."""
    sentence = MOMENT_END.sub("", FILLER.sub("", text.strip(" ,.!'-")))
    sentence = re.sub(
        r"^(we|I) (?:also|just|still|actually|even|do|really do) (?!not\b)(?=\w)", r"\1 ", sentence, flags=re.IGNORECASE
    )
    if len(sentence.split()) >= TRIMMED or UNNAMED.search(sentence):
        sentence = TAIL.sub("", sentence)
    words = sentence.split()
    if not SHORTEST - 1 <= len(words) <= LONGEST or OPEN_END.search(sentence):
        return ""
    return f"{words[0][:1].upper()}{words[0][1:]} {' '.join(words[1:])}"


MOMENT_END = pattern("moment end")


# What somebody who chats says of themselves, sentence by sentence: what is kept of a chat, and nothing else.

GREETING = re.compile(OPENING, re.IGNORECASE)
JOINT = re.compile(
    r"(?:\s*[,;]\s*(?:(?:and|but|so)\s+)?|\s+(?:and|but|so)\s+)(?=(?:i|i['’]m|i['’]ve|my)\b)", re.IGNORECASE
)


def profile_sentences(turns: Sequence[str], language: str = "en") -> list[str]:
    """What somebody says of themselves in some turns, one sentence each, without full stops."""
    found = (part.strip(" .。!！") for told in introductions(turns, language) for part in _parts(told, language))
    return list(dict.fromkeys(sentence[:1].upper() + sentence[1:] for sentence in found))


def _parts(sentence: str, language: str) -> Iterator[str]:
    """'I work at the harbour and I have two dogs' is two things to remember."""
    opening = GREETING.match(sentence)
    start = opening.end() if opening else 0
    if language == "en":
        for joint in JOINT.finditer(sentence, start):
            if joint.start() > start and STATEMENTS[language].match(sentence, joint.end()):
                yield sentence[start : joint.start()]
                start = joint.end()
    yield sentence[start:]
