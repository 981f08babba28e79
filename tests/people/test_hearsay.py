from __future__ import annotations

from understudy.people.clauses import clauses_of
from understudy.people.hearsay import of_named, of_you


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
