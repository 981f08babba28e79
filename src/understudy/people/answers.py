"""An answer joined with its question: neither says it alone, both together do.

    Do you have any kids?      Two girls.        ->  I have two girls
    Are you married?           No.               ->  I am not married
    What do you do?            A nurse.          ->  I am a nurse
    What is your favorite food? Pizza, I guess.  ->  My favorite food is pizza

Only the first words after a question are taken for its answer, and only where they are short: whoever says more says
it in a sentence of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from understudy.people.clauses import Clause
from understudy.people.own_words import Statement, shaped, statement
from understudy.people.patterns import filled, pattern, table

__all__ = ["answers_to", "as_own", "is_known_question", "may_be_question"]

LONGEST_ANSWER = 7  # words of an answer that is not a sentence
YES = pattern("yes")
NO = pattern("no")
SENTENCE = pattern("answer sentence")
REPLY_LEAD = pattern("reply lead")
PREPOSITION = re.compile(r"(?:in|at|for|as|with|near|on|from|outside|by)\b", re.IGNORECASE)
ARTICLE = re.compile(r"(?:an?|the|my|two|three|four|five|six|\d+|one|some|lots)\b", re.IGNORECASE)
JOB = re.compile(filled(r"(?:[\w-]+ ){0,3}(?:%jobs%)s?$"), re.IGNORECASE)
FIELD = re.compile(r"[a-z]{4,}(?: [a-z]+)?")  # of work
DOUBLED = re.compile(r"\bfrom (?:from|in) ")
VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)
NUMBER = pattern("number answer")
NOT_ABOUT_ONESELF = pattern("not about oneself")

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
    return f"I am {answer} years old" if NUMBER.fullmatch(answer) else ""


JOINS: dict[str, Join] = {
    "job": _job,
    "age": _aged,
    "work": _placed("work", "at"),
    "home": _placed("live", "in"),
    "youth": _placed("grew up", "in"),
    "birth": _placed("was born", "in"),
}


@cache
def _questions() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    return tuple(
        (re.compile(entry["asked"], re.IGNORECASE), entry["join"], entry.get("number", ""))
        for entry in table()["question"]
    )


@cache
def _yes_or_no_questions() -> tuple[tuple[re.Pattern[str], str, str], ...]:
    return tuple(
        (re.compile(entry["asked"], re.IGNORECASE), entry["yes"], entry["no"]) for entry in table()["yes_or_no"]
    )


def may_be_question(text: str) -> bool:
    """A cheap test that a speech with a question of a known kind passes: all of them ask about 'you'."""
    return "you" in text or "You" in text


def is_known_question(question: str) -> bool:
    """Is it of a kind that an answer can be joined with?"""
    return any(asked.search(question) for asked, _, _ in (*_questions(), *_yes_or_no_questions()))


def _joined(question: str, answer: str) -> str:
    """The sentence that a short answer and its question make; blank where the question is of another kind."""
    for asked, join, with_number in _questions():
        if match := asked.search(question):
            if join in JOINS:
                return JOINS[join](answer)
            topic = next(filter(None, match.groups()), "")
            template = with_number if with_number and NUMBER.fullmatch(answer) else join
            return DOUBLED.sub("from ", template.format(topic.removeprefix("any "), answer=answer))
    return ""


OWN = {"your": "my", "yours": "mine", "yourself": "myself"}


def as_own(text: str) -> str:
    """'your own dog' as 'my own dog'."""
    return re.sub(r"\b(?:your|yours|yourself)\b", lambda match: OWN[match[0].lower()], text, flags=re.IGNORECASE)


def answers_to(question: str, answer: Sequence[Clause]) -> Iterator[Statement]:
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
    fragment = REPLY_LEAD.sub("", clause.text.split(", ")[0], count=1).strip()
    if any(kind.match(fragment) for kind in (PREPOSITION, ARTICLE, NUMBER)):
        fragment = fragment[:1].lower() + fragment[1:]
    is_no = NO.match(clause.opening) is not None or NO.match(said.opening) is not None
    if not fragment or is_no or SENTENCE.match(fragment) or len(fragment.split()) > LONGEST_ANSWER:
        return ""
    return _joined(question, fragment)


def _yes_or_no(question: str, said: Clause) -> str:
    words = said.opening or said.text
    is_yes, is_no = YES.match(words) is not None, NO.match(words) is not None
    if not (is_yes or is_no) or NOT_ABOUT_ONESELF.search(question[7:]):
        return ""
    for asked_by, yes, no in _yes_or_no_questions():
        if match := asked_by.search(question):
            template, asked = (no if is_no else yes), match[1].strip()
            if is_yes and "favorite" in asked:
                return ""
            return template.format(asked)
    return ""
