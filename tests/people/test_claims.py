from __future__ import annotations

from understudy.people.claims import SceneSpeech, claims_of, of_named, of_you
from understudy.people.clauses import clauses_of

PEOPLE = {"Ada": "Ada", "Bela": "Bela", "Cas": "Cas"}


def told(*lines: tuple[str | None, str], is_chat: bool = False) -> list[tuple[str, str, int]]:
    speeches = [SceneSpeech(speaker, text, number) for number, (speaker, text) in enumerate(lines, 1)]
    return [(claim.who, claim.said.sentence, claim.number) for claim in claims_of(speeches, PEOPLE, is_chat)]


def test_whom_a_speech_calls_is_meant_by_you() -> None:
    lines = (("Bela", "Hello."), ("Ada", "You are a doctor, Cas!"), ("Bela", "Hm."))
    assert told(*lines) == [("Cas", "I am a doctor", 2)]


def test_else_who_speaks_before_and_after() -> None:
    assert told(("Bela", "Hello."), ("Ada", "You are a doctor!"), ("Bela", "Yes.")) == [("Bela", "I am a doctor", 2)]
    assert told(("Bela", "Hello."), ("Ada", "You are a doctor!"), ("Cas", "Yes.")) == []


def test_a_chat_is_read_for_hints_that_a_script_only_says_in_passing() -> None:
    lines = (("Ada", "hello"), ("Bela", "i am watching football"))
    assert told(*lines) == []
    assert told(*lines, is_chat=True) == [("Bela", "I am watching football", 2)]


def test_who_gives_another_name_is_not_believed() -> None:
    assert told(("Ada", "My name is Igor. I am a prince. I work at the bank."), ("Bela", "Oh.")) == []
    assert told(("Ada", "My name is Ada. I work at the bank."), ("Bela", "Oh.")) == [("Ada", "I work at the bank", 1)]


def test_words_that_the_other_brought_up_are_an_echo() -> None:
    speeches = [SceneSpeech("Ada", "do you like horses ?", 1), SceneSpeech("Bela", "i love horses . i own a boat .", 2)]
    echoes = {claim.said.sentence: claim.echo for claim in claims_of(speeches, {}, is_chat=True)}
    assert (echoes["I love horses"], echoes["I own a boat"]) == (1.0, 0.0)


def test_descriptions_state_nothing() -> None:
    assert told((None, "I am a nurse.")) == []


def test_what_is_said_of_you_is_turned_round() -> None:
    (clause,) = clauses_of("You're a doctor!")
    assert [said.sentence for said in of_you(clause)] == ["I am a doctor"]


def test_what_is_said_of_somebody_named() -> None:
    (clause,) = clauses_of("Bela works at the harbour.")
    assert [(who, said.sentence) for who, said in of_named(clause, {"Bela": "Bela Sool"})] == [
        ("Bela Sool", "I work at the harbour")
    ]


def test_opinions_are_not_facts() -> None:
    (clause,) = clauses_of("You are wonderful!")
    assert list(of_you(clause)) == []
