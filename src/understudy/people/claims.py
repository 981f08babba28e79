"""The claims of a scene: who is said to be what, in which line, by whom, and how it came to be said.

A scene is `plain talk` where two people talk and nothing is described: a chat. What they say there is read for every
hint. In a script, where thousands of lines are spoken in passing, only what is stated plainly counts: nothing doubtful
(`own_words.DOUBTS`), momentary or elliptic, and nothing by somebody who has given a name that is not theirs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from understudy.people.answers import answers_to
from understudy.people.clauses import Clause, clauses_of
from understudy.people.hearsay import of_named, of_you
from understudy.people.own_words import PASSING_KIND, Statement, own_statements
from understudy.people.patterns import filled, pattern, table
from understudy.people.plausibility import content_words

__all__ = ["Claim", "SceneSpeech", "claims_of"]

FIRST_PERSON = re.compile(r"\b(?:i|im|i'm|my|we|mine|me)\b", re.IGNORECASE)
SECOND_PERSON = pattern("second person")
THIRD_PERSON = pattern("third person", any_case=False)
NAMED = re.compile(r"\b[Mm]y name(?: is|'s|’s) ([A-Z]\w+)")
IN_PASSING = frozenset({PASSING_KIND, "event", "name", "wish"})
PLAIN_FORMS = frozenset({"said", "turned", "granted", "answer", "told"})
LONGEST_PLAIN = 11  # words of a sentence in a script
LONGEST = 1_500  # characters of a speech that are read


@dataclass(frozen=True, slots=True)
class SceneSpeech:
    """What somebody says in one go; None for a description. `number` counts the lines of the scene from 1."""

    speaker: str | None
    text: str
    number: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of somebody, and what led to it."""

    who: str
    said: Statement
    number: int
    echo: float
    echo_of_talk: float
    is_answer: bool
    before: tuple[str, ...] = ()
    """In a chat, the clauses of the speech that it comes after."""


def claims_of(speeches: Sequence[SceneSpeech], people: Mapping[str, str], is_chat: bool) -> Iterator[Claim]:
    """All claims of a scene, in order; `people` has whose name each is."""
    asked, asker = "", ""
    before: frozenset[str] = frozenset()
    clauses_before: tuple[str, ...] = ()
    words = defaultdict[str, set[str]](set)
    pretending = set[str]()
    for index, speech in enumerate(speeches):
        if speech.speaker is None:
            continue
        text = speech.text[:LONGEST]
        if not is_chat and (match := NAMED.search(text)) and people.get(match[1]) != speech.speaker:
            pretending.add(speech.speaker)
        is_asked = bool(asked) and asker != speech.speaker
        clauses: Sequence[Clause] | None = None
        if is_chat or is_asked or FIRST_PERSON.search(text) or "?" in text or _is_hearsay(text):
            clauses = clauses_of(text)
            others = before.union(*(said for who, said in words.items() if who != speech.speaker))
            for who, said in _statements(speeches, index, clauses, asked if is_asked else "", people, is_chat):
                if is_chat or (_is_plain(said) and speech.speaker not in pretending):
                    own = content_words(said.sentence)
                    echo, of_talk = (len(own & heard) / max(len(own), 1) for heard in (before, others))
                    is_answer = is_asked and said.clause <= 1
                    yield Claim(who, said, speech.number, echo, of_talk, is_answer, clauses_before)
        questions = [clause.text for clause in clauses or () if clause.is_question]
        asked, asker = (questions[-1] if questions else ""), speech.speaker
        before = content_words(text)
        clauses_before = tuple(clause.text for clause in clauses or () if clause.text) if is_chat else ()
        words[speech.speaker] |= before


def _is_hearsay(text: str) -> bool:
    return SECOND_PERSON.search(text) is not None or THIRD_PERSON.search(text) is not None


def _is_plain(said: Statement) -> bool:
    if said.doubts or said.kind in IN_PASSING or said.form not in PLAIN_FORMS:
        return False
    return len(said.sentence.split()) <= LONGEST_PLAIN and _remark().match(said.sentence) is None


@cache
def _remark() -> re.Pattern[str]:
    """Sentences of a script that tell nothing lasting."""
    return re.compile("|".join(f"(?:{filled(pattern)})" for pattern in table()["remarks"]), re.IGNORECASE)


def _statements(
    speeches: Sequence[SceneSpeech], index: int, clauses: Sequence[Clause], asked: str, people: Mapping[str, str],
    is_chat: bool,
) -> Iterator[tuple[str, Statement]]:  # fmt: skip
    speaker = speeches[index].speaker or ""
    if asked:
        yield from ((speaker, said) for said in answers_to(asked, clauses))
    yield from ((speaker, said) for said in own_statements(clauses))
    if is_chat:
        return
    addressed = _addressed(speeches, index, people)
    for clause in clauses:
        yield from ((who, said) for who, said in of_named(clause, people) if who != speaker)
        if addressed:
            yield from ((addressed, said) for said in of_you(clause))


def _addressed(speeches: Sequence[SceneSpeech], index: int, people: Mapping[str, str]) -> str | None:
    """Whom a speech is said to: whom it calls by name, else who speaks both before and after it."""
    speaker, text = speeches[index].speaker, speeches[index].text
    called = [people[name] for name in CALLED.findall(text) if name in people]
    if called:
        return called[0] if len(set(called)) == 1 and called[0] != speaker else None
    spoken = [speech.speaker for speech in speeches[max(index - 2, 0) : index + 3] if speech.speaker is not None]
    others = {who for who in spoken if who != speaker}
    return others.pop() if len(others) == 1 else None


CALLED = re.compile(r"(?:^|[,!.?] )([A-Z][a-z]+)(?=[,.!?]|$)")
