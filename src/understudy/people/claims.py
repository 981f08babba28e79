"""The claims of a scene: who is said to be what, in which line, by whom, and how it came to be said.

A scene is `plain talk` where two people talk and nothing is described: a chat. What they say there is read for every
hint. In a script, where thousands of lines are spoken in passing, only what is stated plainly counts: nothing doubtful
(`own_words.DOUBTS`), momentary or elliptic, and nothing by somebody who has given a name that is not theirs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from understudy.errors import InputError
from understudy.language.encoding import Floats
from understudy.language.lexical.rows import Reals, sigmoid
from understudy.language.model_folder import read_card, shipped_folder
from understudy.people.own_words import (
    DOUBTS,
    FIRST_PERSON,
    FORMS,
    PASSING_KIND,
    Clause,
    OwnStatement,
    clauses_of,
    entries,
    filled,
    kinds,
    may_be_own,
    own_statements,
    pattern,
    shaped,
    statement,
    table,
)
from understudy.text import stop_words

# How probable it is that a sentence belongs into its speaker's profile.
#
#     P(in profile) = sigmoid(w . x + u . v + b)
#
# x says how the sentence was said (its kind, form and doubts, `own_words`; its length; whether its words were brought
# up by the other; whether the speaker comes back to it) and v is the sentence's vector (the shipped encoder's, role
# 'own'). The weights were fitted on PersonaChat's training dialogues, where everybody's profile is known (see the
# model's card).


NAME = "statements"
WORD = re.compile(r"[a-z0-9]+")
STEM = 5  # letters by which words are compared
COMMON = frozenset({"like", "love", "really", "favorite", "also", "enjoy", "hate"})
SHORT, LONG = 3, 10  # words
TYPICAL_LIKENESS = 0.4  # the mean over PersonaChat's training dialogues


def content_words(text: str) -> frozenset[str]:
    stopped = stop_words("en")
    return frozenset(
        word[:STEM]
        for word in WORD.findall(text.lower())
        if len(word) > 2 and word not in stopped and word not in COMMON
    )


def feature_names() -> tuple[str, ...]:
    return (
        *(f"kind {kind}" for kind in kinds()), *(f"form {form}" for form in FORMS),
        *(f"doubt {doubt}" for doubt in DOUBTS),
        "log words", "short", "long", "negated", "number", "my", "my first", "no content",
        "echo", "is echo", "echo of talk", "likeness", "support", "supports", "answer",
    )  # fmt: skip


def features(claim: Claim, likeness: float = TYPICAL_LIKENESS, support: float = 0.0, supports: int = 0) -> list[float]:
    """`likeness` is the largest cosine with a clause of the speech before it; TYPICAL_LIKENESS where that is not known.

    `support` is the largest cosine with what the speaker states in other lines of the scene, `supports` how many of
    these are like it.
    """
    said = claim.said
    words = said.sentence.lower().split()
    return [
        *(float(said.kind == kind) for kind in kinds()),
        *(float(said.form == form) for form in FORMS),
        *(float(doubt in said.doubts) for doubt in DOUBTS),
        math.log(max(len(words), 1)),
        float(len(words) <= SHORT),
        float(len(words) >= LONG),
        float("not" in words or "never" in words),
        float(any(map(str.isdigit, words))),
        float("my" in words),
        float(words[0] == "my"),
        float(not content_words(said.sentence)),
        claim.echo, float(claim.echo > 0), claim.echo_of_talk, likeness,
        support, float(min(supports, 3)), float(claim.is_answer),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class StatementModel:
    """Weights of the features, of the vector, and the intercept."""

    weights: Reals
    vector: Reals
    intercept: float

    @classmethod
    def load(cls, folder: Path) -> StatementModel:
        card = read_card(folder, NAME)
        names = feature_names()
        try:
            weights = np.array([card["weights"][name] for name in names], np.float64)
            vector, intercept = np.array(card["vector"], np.float64), float(card["intercept"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"the card lacks weights of this version ({error}): train the model again", folder
            ) from error
        if vector.ndim != 1 or not np.isfinite([*weights, *vector, intercept]).all():
            raise InputError("the card's weights are not finite numbers: train the model again", folder)
        return cls(weights, vector, intercept)

    def probabilities(self, rows: Sequence[Sequence[float]], vectors: Floats) -> Reals:
        if not len(rows):
            return np.zeros(0)
        return sigmoid(np.array(rows, np.float64) @ self.weights + vectors @ self.vector + self.intercept)


@cache
def shipped_model() -> StatementModel:
    return StatementModel.load(shipped_folder(NAME))


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
    said: OwnStatement
    number: int
    echo: float
    """The share of its words that the speech before it had."""
    echo_of_talk: float
    """The share that anything said by others in the scene so far had."""
    is_answer: bool
    """It comes right after a question."""
    before: tuple[str, ...] = ()
    """In a chat, the clauses of the speech that it comes after."""


class _CutSpeeches:
    """The speeches of a scene, cut into clauses and words where somebody asks for them."""

    def __init__(self, speeches: Sequence[SceneSpeech]) -> None:
        self.speeches = [speech for speech in speeches if speech.speaker is not None]
        self.texts = [speech.text[:LONGEST].replace("’", "'") for speech in self.speeches]
        self.clauses = cache(lambda index: clauses_of(self.texts[index]))
        self.words = cache(lambda index: content_words(self.texts[index]))

    def question_before(self, index: int) -> str:
        """The last question of the speech before, if somebody else asks it."""
        if index == 0 or self.speeches[index - 1].speaker == self.speeches[index].speaker:
            return ""
        return next((clause.text for clause in reversed(self.clauses(index - 1)) if clause.is_question), "")

    def echoes(self, index: int, sentence: str) -> tuple[float, float]:
        """How much of a sentence the speech before brought up, and how much that or anybody else before."""
        own, speaker = content_words(sentence), self.speeches[index].speaker
        before = self.words(index - 1) if index else frozenset[str]()
        others = (self.words(nth) for nth in range(index) if self.speeches[nth].speaker != speaker)
        brought_up = before, before.union(*others)
        first, second = (len(own & words) / max(len(own), 1) for words in brought_up)
        return first, second


def claims_of(speeches: Sequence[SceneSpeech], people: Mapping[str, str], is_chat: bool) -> Iterator[Claim]:
    """All claims of a scene, in order; `people` has whose name each is."""
    talk = _CutSpeeches(speeches)
    pretending = set[str]()
    for index, (speech, text) in enumerate(zip(talk.speeches, talk.texts)):
        speaker = speech.speaker or ""
        if not is_chat and (match := NAMED.search(text)) and people.get(match[1]) != speaker:
            pretending.add(speaker)
        for who, said in _of_chat(talk, index) if is_chat else _of_script(talk, index, people):
            if is_chat or (_is_plain(said) and speaker not in pretending):
                echo, echo_of_talk = talk.echoes(index, said.sentence)
                is_answer = said.clause <= 1 and bool(talk.question_before(index))
                before = [clause.text for clause in talk.clauses(index - 1)] if is_chat and index else []
                yield Claim(who, said, speech.number, echo, echo_of_talk, is_answer, tuple(filter(None, before)))


def _of_chat(talk: _CutSpeeches, index: int) -> Iterator[tuple[str, OwnStatement]]:
    speaker, clauses = talk.speeches[index].speaker or "", talk.clauses(index)
    if question := talk.question_before(index):
        yield from ((speaker, said) for said in answers_to(question, clauses))
    yield from ((speaker, said) for said in own_statements(clauses))


def _of_script(talk: _CutSpeeches, index: int, people: Mapping[str, str]) -> Iterator[tuple[str, OwnStatement]]:
    """Statements of a speech that may be plain; what cannot hold one is not even cut into clauses."""
    speaker, text = talk.speeches[index].speaker or "", talk.texts[index]
    question = talk.question_before(index) if index and may_be_question(talk.texts[index - 1]) else ""
    if question and is_known_question(question):
        yield from ((speaker, said) for said in answers_to(question, talk.clauses(index)))
    is_own, is_hearsay = FIRST_PERSON.search(text) is not None, _is_hearsay(text)
    if is_own:
        clauses = [clause for clause in talk.clauses(index) if may_be_own(clause)]
        yield from ((speaker, said) for said in own_statements(clauses))
    if is_own or is_hearsay:
        for clause in talk.clauses(index):
            yield from ((who, said) for who, said in of_named(clause, people) if who != speaker)
            if (said_to := list(of_you(clause))) and (addressed := _addressed(talk.speeches, index, people)):
                yield from ((addressed, said) for said in said_to)


def _is_hearsay(text: str) -> bool:
    return (
        pattern("second person").search(text) is not None
        or pattern("third person", any_case=False).search(text) is not None
    )


def _is_plain(said: OwnStatement) -> bool:
    if said.doubts or said.kind in IN_PASSING or said.form not in PLAIN_FORMS:
        return False
    return len(said.sentence.split()) <= LONGEST_PLAIN and _remark().match(said.sentence) is None


@cache
def _remark() -> re.Pattern[str]:
    """Sentences of a script that tell nothing lasting."""
    return re.compile("|".join(f"(?:{filled(pattern)})" for pattern in table()["remarks"]), re.IGNORECASE)


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


# An answer joined with its question: neither says it alone, both together do.
#
#   Do you have any kids?      Two girls.        ->  I have two girls
#   Are you married?           No.               ->  I am not married
#   What do you do?            A nurse.          ->  I am a nurse
#   What is your favorite food? Pizza, I guess.  ->  My favorite food is pizza
#
# Only the first words after a question are taken for its answer, and only where they are short: whoever says more
# says it in a sentence of their own.

LONGEST_ANSWER = 7  # words of an answer that is not a sentence
PREPOSITION = re.compile(r"(?:in|at|for|as|with|near|on|from|outside|by)\b", re.IGNORECASE)
ARTICLE = re.compile(r"(?:an?|the|my|two|three|four|five|six|\d+|one|some|lots)\b", re.IGNORECASE)
JOB = re.compile(filled(r"(?:[\w-]+ ){0,3}(?:%jobs%)s?$"), re.IGNORECASE)
FIELD = re.compile(r"[a-z]{4,}(?: [a-z]+)?")  # of work
DOUBLED = re.compile(r"\bfrom (?:from|in) ")
VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)

Join = Callable[[str], str]


def _job(answer: str) -> str:
    if PREPOSITION.match(answer):
        return f"I work {answer}"
    if JOB.search(answer) and not ARTICLE.match(answer):
        return f"I am {'an' if VOWEL.match(answer) else 'a'} {answer}"
    if ARTICLE.match(answer):
        return f"I am {answer}"
    return f"I work in {answer}" if FIELD.fullmatch(answer) else ""


def _placed(verb: str, preposition: str) -> Join:
    return lambda answer: f"I {verb} {answer}" if PREPOSITION.match(answer) else f"I {verb} {preposition} {answer}"


def _aged(answer: str) -> str:
    return f"I am {answer} years old" if pattern("number answer").fullmatch(answer) else ""


JOINS: dict[str, Join] = {
    "job": _job,
    "age": _aged,
    "work": _placed("work", "at"),
    "home": _placed("live", "in"),
    "youth": _placed("grew up", "in"),
    "birth": _placed("was born", "in"),
}


def may_be_question(text: str) -> bool:
    """A cheap test that a speech with a question of a known kind passes: all of them ask about 'you'."""
    return "you" in text or "You" in text


def is_known_question(question: str) -> bool:
    """Is it of a kind that an answer can be joined with?"""
    return any(
        expression.search(question) for kind in ("question", "yes_or_no") for expression, _ in entries(kind, "asked")
    )


def _joined(question: str, answer: str) -> str:
    """The sentence that a short answer and its question make; blank where the question is of another kind."""
    for expression, entry in entries("question", "asked"):
        if match := expression.search(question):
            if entry["join"] in JOINS:
                return JOINS[entry["join"]](answer)
            topic = next(filter(None, match.groups()), "")
            template = (
                entry["number"] if "number" in entry and pattern("number answer").fullmatch(answer) else entry["join"]
            )
            return DOUBLED.sub("from ", template.format(topic.removeprefix("any "), answer=answer))
    return ""


OWN = {"your": "my", "yours": "mine", "yourself": "myself"}


def as_own(text: str) -> str:
    """'your own dog' as 'my own dog'."""
    return re.sub(r"\b(?:your|yours|yourself)\b", lambda match: OWN[match[0].lower()], text, flags=re.IGNORECASE)


def answers_to(question: str, answer: Sequence[Clause]) -> Iterator[OwnStatement]:
    """What the first words of an answer say, given the question as a clause."""
    said = next((clause for clause in answer if clause.text or clause.opening), None)
    if said is None or said.is_question or said.is_broken:
        return
    sentence = _short_answer(question, said, answer) or _yes_or_no(question, said)
    if sentence and (shape := shaped(as_own(sentence))):
        yield statement(shape, "answer")


def _short_answer(question: str, said: Clause, answer: Sequence[Clause]) -> str:
    clause = said if said.text else next((clause for clause in answer if clause.text), said)
    if clause.is_question or clause.is_broken:
        return ""
    fragment = pattern("reply lead").sub("", clause.text.split(", ")[0], count=1).strip()
    if any(kind.match(fragment) for kind in (PREPOSITION, ARTICLE, pattern("number answer"))):
        fragment = fragment[:1].lower() + fragment[1:]
    is_no = pattern("no").match(clause.opening) is not None or pattern("no").match(said.opening) is not None
    if not fragment or is_no or pattern("answer sentence").match(fragment) or len(fragment.split()) > LONGEST_ANSWER:
        return ""
    return _joined(question, fragment)


def _yes_or_no(question: str, said: Clause) -> str:
    words = said.opening or said.text
    is_yes, is_no = pattern("yes").match(words) is not None, pattern("no").match(words) is not None
    if not (is_yes or is_no) or pattern("not about oneself").search(question[7:]):
        return ""
    for expression, entry in entries("yes_or_no", "asked"):
        if match := expression.search(question):
            topic = match[1].strip()
            return "" if is_yes and "favorite" in topic else entry["no" if is_no else "yes"].format(topic)
    return ""


# What is said of somebody else, as that person would say it.
#
#     'You're a doctor, Ross!'            ->  Ross:    I am a doctor
#     'Rachel works at Ralph Lauren.'     ->  Rachel:  I work at Ralph Lauren
#
# Only plain statements with a verb that tells of lasting things are turned round. Whom 'you' means is for the caller
# to know.


TOLD = "told"
OF_PERSON = re.compile(r"\b(?:yours?|yourself|me|us|mine)\b|\bmy\b|\bI\b", re.IGNORECASE)
FIRST_FORMS = {"is": "am", "has": "have", "does": "do", "was": "was", "teaches": "teach", "goes": "go"}
PRONOUNS = {"himself": "myself", "herself": "myself", "his": "my", "her": "my"}


def of_you(clause: Clause) -> Iterator[OwnStatement]:
    """What a clause says of whom it is said to."""
    if clause.is_question or clause.is_broken:
        return
    if match := pattern("you").match(clause.text):
        verb = {"are": "am", "were born": "was born"}.get(match[1].lower(), match[1])
        yield from _turned(f"I {verb} {match[2]}")


def of_named(clause: Clause, people: Mapping[str, str]) -> Iterator[tuple[str, OwnStatement]]:
    """(who, what) of a clause that begins with somebody's name; `people` has whose name each is."""
    if clause.is_question or clause.is_broken:
        return
    if (match := pattern("named").match(clause.text)) and (who := people.get(match[1])):
        verb, _, predicate = match[2].partition(" ")
        own = re.sub(r"\b(?:himself|herself|his|her)\b", lambda pronoun: PRONOUNS[pronoun[0].lower()], predicate)
        yield from ((who, said) for said in _turned(f"I {_first_form(verb.lower())} {own}"))


def _first_form(verb: str) -> str:
    if verb in FIRST_FORMS or verb in ("grew", "used", "never", "always"):
        return FIRST_FORMS.get(verb, verb)
    return verb.removesuffix("s")


def _turned(sentence: str) -> Iterator[OwnStatement]:
    shape = shaped(sentence)
    if shape and pattern("lasting hearsay").match(shape) and not OF_PERSON.search(shape[2:]):
        yield statement(shape, TOLD)
