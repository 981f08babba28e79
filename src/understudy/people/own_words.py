"""What is said, cut into clauses, and what a clause says of whoever speaks: short sentences, each with its kind.

    'I think I'm just a small town girl because ...'   ->  I am a small town girl
    'hunting is one of my favorite hobbies'            ->  I like hunting
    'I was out with my three dogs'                     ->  I have three dogs

Not stated, and left out: what is hypothetical ('if', 'would', 'I wish'), to come ('will', 'going to'), only so for the
moment ('I am tired'), or about something that the sentence does not name ('I love it', 'I work there').

The words and patterns are in `statements.toml`, one table for all modules that read it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

from understudy.agents.dialogue_context import OPENING as GREETED
from understudy.agents.dialogue_context import STATEMENTS, introductions
from understudy.text import capitalised, either, word_table


def table() -> dict[str, Any]:
    return word_table("people", "statements.toml")


def any_of(name: str) -> str:
    """A pattern of any of the words, or phrases between commas, of one list."""
    listed: str = table()["words"][name]
    parts = listed.split(",") if "," in listed else listed.split()
    return either(filter(None, map(str.strip, parts)))


def filled(pattern: str) -> str:
    """A pattern with lists of words in the place of %their names%."""
    return re.sub(r"%([\w ]+)%", lambda match: any_of(match[1]), pattern)


@cache
def pattern(name: str, any_case: bool = True) -> re.Pattern[str]:
    """One of the patterns by its name."""
    return re.compile(filled(table()["pattern"][name]), re.IGNORECASE if any_case else 0)


@cache
def entries(kind: str, key: str = "pattern") -> tuple[tuple[re.Pattern[str], Mapping[str, str]], ...]:
    """The entries of a kind, such as `[[slot]]`, each with its pattern."""
    return tuple((re.compile(filled(entry[key]), re.IGNORECASE), entry) for entry in table()[kind])


# What was said, cut into clauses that could each stand alone, in one spelling.
#
#     "Well, I'm a nurse and my sister teaches, Ross! Do you cook?"
#         ->  I am a nurse   my sister teaches   do you cook?
#
# Contractions of statements are written out, stutters, asides in brackets and words that only open or close a speech
# ('well', 'you know', a name that calls somebody) are left out. Where a quotation, a condition or a wish begins, the
# clause says so: what follows is not said as true. Text without any capitals (a chat) may lack full stops as well;
# there a new first person begins a new clause.


SPELLINGS = [
    (needed, re.compile(pattern, re.IGNORECASE), instead)
    for needed, pattern, instead in (
        ("[(<{*", r"[\[(<{*][^\])>}*]{0,300}[\])>}*]", " "),
        ("-–—", r"\b([\w']{1,5})(?:\s?[-–—]+\s?\1\b)+", r"\1"),  # I-I-I
        ("'", r"\bi\s?'\s?m\b", "I am"),
        ("'", r"\b(i|we|you|they)\s?'\s?ve\b", r"\1 have"),
        ("'", r"\b(we|you|they)\s?'\s?re\b", r"\1 are"),
        ("'", r"\b(i|we|you|he|she|they)\s?'\s?ll\b", r"\1 will"),
        ("'", r"\b(i|we|you|he|she|they)\s?'\s?d\b", r"\1 would"),
        ("'", r"\bcan't\b", "cannot"),
        ("'", r"\bwon't\b", "will not"),
        ("'", r"\bain't\b", "am not"),
        ("'", r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)n't\b", r"\1 not"),
        ("'", r"\b(he|she|it|that|what|who|where|how|there|name|favorite|job)'s\b(?! (?:own|first|last))", r"\1 is"),
        (
            "'",
            r"\b(my (?:\w+ )?\w+)'s (?=(?:an?|the|in|from|not|very|so|really|\w+ing|called|named|dead)\b)",
            r"\1 is ",
        ),
    )
]
CHAT_SPELLINGS = [
    ("", re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\s+([,.!?;:])", r"\1"),
        (r"\b(?:im|i m)\b(?!\s?\.)", "I am"),
        (r"\b(?:ive|i ve)\b", "I have"),
        (r"\b(?:cant|can t)\b", "cannot"),
        (r"\b(?:wont|won t)\b", "will not"),
        (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should)(?:n t|nt| nt)\b", r"\1 not"),
        (r"\bdon t\b", "do not"),
        (r"\b(that|what|it|name|job) s\b", r"\1 is"),
        (r"\b(my|your) (?:fav|fave|favourite)\b", r"\1 favorite"),
        (r"\b(?:kinda|sorta)\b", "kind of"),
        (r"\bi\b", "I"),
    )
]
SLANG = [
    ("", re.compile(r"\bgonna\b"), "going to"),
    ("", re.compile(r"\bwanna\b"), "want to"),
    ("", re.compile(r"\bI have got (?!to\b)"), "I have "),
]
QUOTED = re.compile(r"[\"“”]|(?<!\w)'(?=\w[^']* [^']*'(?!\w))")
SENTENCE = re.compile(r"(?:[^.!?…;:]|[.:](?=\w)|(?<=\b[MDSJ]r)\.|(?<=Mrs)\.|(?<=\b[MS][st])\.)+[.!?…;:-]*")
OPENING = re.compile(
    rf"(?:(?:{any_of('openings')})\b(?:\s*,)?|(?-i:[A-Z][\w'.]+(?: [A-Z][\w']+)?,)|[,\s'-])\s*", re.IGNORECASE
)
NAME_ALONE = re.compile(r"(?:(?:now|well|so|because|and|but|yes|oh|if|when),? )?(?:[A-Z]\w+|you|he|she|they)")
JOINT_SUBJECT = re.compile(r"^I\b")
TAG = re.compile(r",\s*(?:okay|ok|all right|right|you know|huh|remember|see)(?:, \w+)?$", re.IGNORECASE)
CAPITAL = re.compile(r"[A-Z]")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of what was said in one go; `index` counts the clauses of a speech from 0."""

    text: str
    index: int
    is_question: bool
    is_broken: bool
    """It breaks off, or is part of a quotation."""
    opening: str
    """What was cut off its front: 'no', 'well', in small letters."""


def normalised(text: str) -> str:
    """The text in the spelling that patterns are written for."""
    is_chat = CAPITAL.search(text) is None
    text = text.replace("’", "'").replace("‘", "'")
    for needed, spelling, instead in (*SPELLINGS, *(CHAT_SPELLINGS if is_chat else ()), *SLANG):
        if not needed or any(mark in text for mark in needed):
            text = spelling.sub(instead, text)
    return " ".join(text.split())


def clauses_of(text: str) -> list[Clause]:
    is_chat = CAPITAL.search(text) is None
    spelled = normalised(text)
    quotes = QUOTED.search(spelled)
    clauses: list[Clause] = []
    for sentence in SENTENCE.finditer(spelled):
        whole = sentence[0].strip()
        said = whole.rstrip(".!?…;:- ")
        parts = _with_joint_subjects(list(_parts(said, is_chat)), said)
        for nth, part in enumerate(parts):
            is_last = nth == len(parts) - 1
            is_asked = is_last and "?" in whole[len(said) :] and TAG.search(said) is None
            opening = OPENING_RUN.match(part)
            cut = part[opening.end() :] if opening else part
            is_question = is_asked or pattern("asking").match(cut) is not None
            cut = (cut if is_question else pattern("closing").sub("", cut)).strip(" ,'-")
            is_broken = (is_last and whole.endswith(("-", "…", ".."))) or (
                quotes is not None and sentence.end() > quotes.start()
            )
            before = opening[0].strip(" ,").lower() if opening else ""
            clauses.append(Clause(cut, len(clauses), is_question, is_broken, before))
    return clauses


OPENING_RUN = re.compile(rf"(?:{OPENING.pattern})+", re.IGNORECASE)


def _parts(sentence: str, is_chat: bool) -> Iterator[str]:
    for part in pattern("joined").split(sentence):
        if is_chat:
            yield from (piece for piece in pattern("run on").split(part) if piece.strip())
        elif part.strip():
            yield part


def _with_joint_subjects(parts: list[str], sentence: str) -> list[str]:
    """'Ann and I are here' was split before 'I', which is two people there: 'we'."""
    pairs = pairwise(["", *parts])
    return [
        JOINT_SUBJECT.sub("we", part) if NAME_ALONE.fullmatch(before) and f"{before} and {part}" in sentence else part
        for before, part in pairs
    ]


LONGEST, SHORTEST = 16, 3  # words of a sentence
TRIMMED = 9  # words from which on a tail is cut off


@dataclass(frozen=True, slots=True)
class OwnStatement:
    """A sentence in the first person, its kind (`statements.toml`) and in what way it was said."""

    sentence: str
    kind: str
    form: str
    doubts: tuple[str, ...] = ()
    clause: int = 0
    """Which clause of the speech says it."""


HEDGE = re.compile(rf"(?:{any_of('hedges')})(?: that)?,? (?=(?:I|my|we)\b)", re.IGNORECASE)
FILLER = re.compile(rf"(?<=\w) (?:{any_of('fillers')})(?= \w)", re.IGNORECASE)
FIRST_PERSON = re.compile(r"\b(?:i|im|i'm|my|we|mine|me)\b", re.IGNORECASE)
FIRST = re.compile(r"(?:I|my|we)\b", re.IGNORECASE)
MY_WORK = re.compile(r"\bmy (?:\w+ )?job (at|as|with) ((?:an?|the) )?([\w' -]{3,40})", re.IGNORECASE)
CALL_ME = re.compile(r"(?:you can |everyone |people |they |friends |just )*call me (\w+)$", re.IGNORECASE)
LOVE_OF = re.compile(r"\bmy (?:love|passion) (?:of|for) ([\w ]{3,40})", re.IGNORECASE)
RANKED = re.compile(r"\b(?:eldest|oldest|youngest|only|big|baby|little)\b")
PLURAL = re.compile(r"(?:s|children|kids|mice|fish|geese)$", re.IGNORECASE)
DOUBTS = {"unreal": pattern("unreal"), "unnamed": pattern("unnamed"), "momentary": pattern("momentary")}
VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)


FORMS = ("said", "turned", "granted", "elliptic", "answer", "inner")
PASSING_KIND = "passing"


def kinds() -> tuple[str, ...]:
    """All kinds, that of what only holds for the moment last."""
    return (*(entry["name"] for entry in table()["kind"]), PASSING_KIND)


def kind_of(sentence: str) -> str | None:
    """The kind of a whole sentence; None for one that is no statement of oneself, or only holds for the moment."""
    if pattern("passing").match(sentence) is not None and pattern("lasting state").match(sentence) is None:
        return None
    return next((entry["name"] for pattern, entry in entries("kind") if pattern.match(sentence)), None)


def may_be_own(clause: Clause) -> bool:
    """Can a clause say anything whole of its speaker, or of 'my mother' in the clause before?"""
    return FIRST_PERSON.search(clause.text) is not None or pattern("they").match(clause.text) is not None


def own_statements(clauses: Sequence[Clause]) -> Iterator[OwnStatement]:
    """What a speech says of its speaker, clause by clause."""
    relative = ""  # whom 'he' or 'she' means: 'My mother is here. She is a nurse.'
    for clause in clauses:
        if clause.is_question or clause.is_broken:
            continue
        text = HEDGE.sub("", clause.text)
        if relative and (match := pattern("they").match(text)):
            text = f"{relative} {text[match.end() :]}"
        seen = set[str]()
        for said, form in _readings(text):
            for sentence in (shaped(said), shaped(pattern("tail").sub("", said))):
                if sentence and sentence not in seen:
                    seen.add(sentence)
                    yield replace(statement(sentence, form), clause=clause.index)
        yield from (replace(granted, clause=clause.index) for granted in _taken_for_granted(text))
        if match := pattern("relative").search(text):
            relative = match[0]


def statement(sentence: str, form: str) -> OwnStatement:
    kind = kind_of(sentence)
    doubts = [name for name, pattern in DOUBTS.items() if pattern.search(sentence)]
    return OwnStatement(sentence, kind or PASSING_KIND, form, tuple(doubts))


def _readings(text: str) -> Iterator[tuple[str, str]]:
    """The clause as sentences in the first person, each with the form it was said in."""
    if FIRST.match(text):
        yield text, "said"
    elif match := pattern("led").match(text):
        if match[1].lower().startswith(("when", "as", "before", "after", "to")):
            yield match[2], "said"
        else:
            yield f"{match[1]} {match[2]}", "said"
    elif match := pattern("liked").match(text):
        yield f"I like {_bare(match[1])}", "turned"
    elif match := pattern("favorite").match(text):
        yield (f"my favorite {match[2]} is {_bare(match[1])}" if match[2] else f"I love {_bare(match[1])}"), "turned"
    elif match := CALL_ME.match(text):
        yield f"my nickname is {match[1]}", "turned"
    elif pattern("elliptic").match(text):
        yield _with_subject(text), "elliptic"
    if match := pattern("as a").search(text):
        yield f"I am {match[1]}", "turned"
    for match in pattern("inner").finditer(text):
        yield text[match.end() :], "inner"
    if match := LOVE_OF.search(text):
        yield f"I love {match[1]}", "turned"
    if match := pattern("joined verb").match(text):
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


def _taken_for_granted(text: str) -> Iterator[OwnStatement]:
    """'my three dogs' says that one has three dogs, whatever is said of them."""
    for match in pattern("my own").finditer(text):
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
            yield OwnStatement(sentence, kind, "granted")
    for match in MY_WORK.finditer(text):
        sentence = shaped(f"I work {match[1]} {match[2] or ''}{match[3]}")
        if sentence:
            yield OwnStatement(sentence, "job", "granted")


def shaped(text: str) -> str:
    """A sentence cut to what it states, with a capital and no full stop; blank where it is too long or broken off."""
    sentence = pattern("moment end").sub("", FILLER.sub("", text.strip(" ,.!'-")))
    sentence = re.sub(
        r"^(we|I) (?:also|just|still|actually|even|do|really do) (?!not\b)(?=\w)", r"\1 ", sentence, flags=re.IGNORECASE
    )
    if len(sentence.split()) >= TRIMMED or pattern("unnamed").search(sentence):
        sentence = pattern("tail").sub("", sentence)
    words = sentence.split()
    if not SHORTEST - 1 <= len(words) <= LONGEST or pattern("open end").search(sentence):
        return ""
    return capitalised(" ".join(words))


# What somebody who chats says of themselves, sentence by sentence: what is kept of a chat, and nothing else.

GREETING = re.compile(GREETED, re.IGNORECASE)
JOINT = re.compile(
    r"(?:\s*[,;]\s*(?:(?:and|but|so)\s+)?|\s+(?:and|but|so)\s+)(?=(?:i|i['’]m|i['’]ve|my)\b)", re.IGNORECASE
)


def profile_sentences(turns: Sequence[str], language: str = "en") -> list[str]:
    """What somebody says of themselves in some turns, one sentence each, without full stops."""
    parts = (
        part.strip(" .。!！")
        for introduction in introductions(turns, language)
        for part in _told_parts(introduction, language)
    )
    return list(dict.fromkeys(map(capitalised, parts)))


def _told_parts(sentence: str, language: str) -> Iterator[str]:
    """'I work at the harbour and I have two dogs' is two things to remember."""
    opening = GREETING.match(sentence)
    start = opening.end() if opening else 0
    if language == "en":
        for joint in JOINT.finditer(sentence, start):
            if joint.start() > start and STATEMENTS[language].match(sentence, joint.end()):
                yield sentence[start : joint.start()]
                start = joint.end()
    yield sentence[start:]
