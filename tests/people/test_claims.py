from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import InputError
from understudy.people.claims import (
    NAME,
    Claim,
    SceneSpeech,
    StatementModel,
    answers_to,
    claims_of,
    content_words,
    feature_names,
    features,
    of_named,
    of_you,
    shipped_model,
)
from understudy.people.own_words import clauses_of, statement

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


def joined(question: str, answer: str) -> list[str]:
    asked = [clause.text for clause in clauses_of(question) if clause.is_question][-1]
    return [item.sentence for item in answers_to(asked, clauses_of(answer))]


@pytest.mark.parametrize(
    ("question", "answer", "sentence"),
    [
        ("Do you have any kids?", "Two girls.", "I have two girls"),
        ("Do you have any kids?", "Two.", "I have two kids"),
        ("Are you married?", "No.", "I am not married"),
        ("What do you do?", "A nurse.", "I am a nurse"),
        ("what is your favorite food ?", "pizza , i guess .", "My favorite food is pizza"),
        ("Where do you live?", "In Boston.", "I live in Boston"),
        ("How old are you?", "Thirty-two.", "I am thirty-two years old"),
        ("Do you like your dogs?", "Yeah!", "I like my dogs"),
    ],
)
def test_an_answer_is_joined_with_its_question(question: str, answer: str, sentence: str) -> None:
    assert joined(question, answer) == [sentence]


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Are you okay?", "Yes."), ("Do you know that?", "No."), ("Where do you live?", "Why do you ask?")],
)
def test_what_answers_nothing_about_oneself(question: str, answer: str) -> None:
    assert joined(question, answer) == []


DOGS = Claim("Ada", statement("I have two dogs", "said"), 1, 0.0, 0.0, False)


def test_every_feature_has_a_name() -> None:
    assert len(features(DOGS)) == len(feature_names())


def test_words_are_compared_by_their_stems_without_common_ones() -> None:
    assert content_words("I really love my horses") == {"horse"[:5]}


def test_what_the_other_brought_up_is_less_likely_a_trait_of_ones_own() -> None:
    model = shipped_model()
    echoed = replace(DOGS, echo=1.0, echo_of_talk=1.0, is_answer=True)
    rows = [features(DOGS), features(echoed, likeness=0.9)]
    alone, prompted = model.probabilities(rows, np.zeros((2, len(model.vector)), np.float32))
    assert alone > prompted


def test_a_card_without_weights_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({"agent": NAME, "format": 1}), encoding="utf-8")
    with pytest.raises(InputError, match="train the model again"):
        StatementModel.load(tmp_path)
