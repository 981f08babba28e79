"""What is said of somebody else, as that person would say it.

    'You're a doctor, Ross!'            ->  Ross:    I am a doctor
    'Rachel works at Ralph Lauren.'     ->  Rachel:  I work at Ralph Lauren

Only plain statements with a verb that tells of lasting things are turned round. Whom 'you' means is for the caller
to know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from understudy.people.clauses import Clause, pattern
from understudy.people.own_words import Statement, shaped, statement

__all__ = ["TOLD", "of_named", "of_you"]

TOLD = "told"
YOU = pattern("you")
NAMED = pattern("named")
OF_PERSON = re.compile(r"\b(?:yours?|yourself|me|us|mine)\b|\bmy\b|\bI\b", re.IGNORECASE)
LASTING = pattern("lasting hearsay")
FIRST_FORMS = {"is": "am", "has": "have", "does": "do", "was": "was", "teaches": "teach", "goes": "go"}
PRONOUNS = {"himself": "myself", "herself": "myself", "his": "my", "her": "my"}


def of_you(clause: Clause) -> Iterator[Statement]:
    """What a clause says of whom it is said to."""
    if clause.is_question or clause.is_broken:
        return
    if match := YOU.match(clause.text):
        verb = {"are": "am", "were born": "was born"}.get(match[1].lower(), match[1])
        yield from _turned(f"I {verb} {match[2]}")


def of_named(clause: Clause, people: Mapping[str, str]) -> Iterator[tuple[str, Statement]]:
    """(who, what) of a clause that begins with somebody's name; `people` has whose name each is."""
    if clause.is_question or clause.is_broken:
        return
    if (match := NAMED.match(clause.text)) and (who := people.get(match[1])):
        verb, _, rest = match[2].partition(" ")
        own = re.sub(r"\b(?:himself|herself|his|her)\b", lambda found: PRONOUNS[found[0].lower()], rest)
        yield from ((who, said) for said in _turned(f"I {_first_form(verb.lower())} {own}"))


def _first_form(verb: str) -> str:
    if verb in FIRST_FORMS or verb in ("grew", "used", "never", "always"):
        return FIRST_FORMS.get(verb, verb)
    return verb.removesuffix("s")


def _turned(sentence: str) -> Iterator[Statement]:
    shape = shaped(sentence)
    if shape and LASTING.match(shape) and not OF_PERSON.search(shape[2:]):
        yield statement(shape, TOLD)
