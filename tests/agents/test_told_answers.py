from __future__ import annotations

import pytest

from understudy.agents.direct_answers import direct_answers, second_person, told_answers, told_evidence
from understudy.story.dialogue import Situation
from understudy.story.persona import Other, Persona, Told
from understudy.story.types import Moment

SOURCE = "Tom, chat of 3 May 2026, turn 1"
TOLD = (
    Told("I'm Tom", Moment((2,)), SOURCE),
    Told("I work at the harbour", Moment((2,)), SOURCE),
    Told("I have two dogs"),
    Told("My sister lives in Malmö"),
)
ZITA = Situation(Persona("Zita"), faced=Other("Tom", told=TOLD))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my name?", "You are Tom."),
        ("What do I do?", "You work at the harbour."),
        ("Where do I work?", "You work at the harbour."),
        ("Do I have a dog?", "You told me: you have two dogs."),
        ("Where does my sister live?", "You told me: your sister lives in Malmö."),
        (
            "Do you remember me?",
            "Yes. You are Tom. Your sister lives in Malmö. You have two dogs. You work at the harbour.",
        ),
    ],
)
def test_what_was_told_answers(question: str, answer: str) -> None:
    assert direct_answers(ZITA, question)[0].text == answer


@pytest.mark.parametrize("message", ["How are you?", "Do you like me?", "I like dogs.", "How old am I?", "Who is Pia?"])
def test_what_was_not_asked_or_not_told_is_not_answered(message: str) -> None:
    assert list(told_answers(ZITA, message)) == []


def test_the_newer_sentence_holds() -> None:
    told = (*TOLD, Told("I work at the shipyard"))
    situation = Situation(Persona("Zita"), faced=Other("Tom", told=told))
    assert next(told_answers(situation, "What do I do?")).text == "You work at the shipyard."
    here = next(told_answers(situation, "What do I do?", ["I work in a mill now."]))
    assert here.text == "You work in a mill now." and "in this chat" in here.evidence[0].text


def test_nobody_is_remembered_of_whom_nothing_was_told_before() -> None:
    stranger = Situation(Persona("Zita"), faced=Other("Tom"))
    assert list(told_answers(stranger, "Do you remember me?", ["I work in a mill."])) == []


def test_the_evidence_says_which_chat_it_comes_from() -> None:
    evidence = told_evidence(TOLD[1])
    assert (evidence.kind, evidence.text) == ("told", f"I work at the harbour ({SOURCE})")
    assert evidence.moment == Moment((2,))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I am a nurse and my wife is too", "you are a nurse and your wife is too"),
        ("I’ve got a boat of mine", "you've got a boat of yours"),
        ("My name is Mia", "your name is Mia"),
        ("I was born in India", "you were born in India"),
    ],
)
def test_said_to_whoever_said_it(first: str, second: str) -> None:
    assert second_person(first) == second


def test_a_name_is_not_said_twice() -> None:
    told = (Told("I am Tom, a one-armed baker"), Told("I have two dogs"))
    situation = Situation(Persona("Zita"), faced=Other("Tom", told=told))
    assert next(told_answers(situation, "And who am I?")).text == "You are Tom, a one-armed baker. You have two dogs."
