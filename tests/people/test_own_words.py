from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.people.own_words import PASSING_KIND, clauses_of, normalised, own_statements, profile_sentences


def stated(said: str) -> dict[str, str]:
    """The sentences that are stated without doubt, with their kinds."""
    found = own_statements(clauses_of(said))
    return {item.sentence: item.kind for item in found if not item.doubts and item.kind != PASSING_KIND}


@pytest.mark.parametrize(
    ("said", "sentence", "kind"),
    [
        ("I'm a nurse.", "I am a nurse", "job"),
        ("I work at a bank.", "I work at a bank", "job"),
        ("I grew up in Boston.", "I grew up in Boston", "home"),
        ("I've been sober for two years.", "I have been sober for two years", "past"),
        ("I have two dogs.", "I have two dogs", "animal"),
        ("I hate cilantro!", "I hate cilantro", "taste"),
        ("hunting is one of my favorite hobbies .", "I like hunting", "taste"),
        ("I was out with my three dogs.", "I have three dogs", "animal"),
        ("My mother is here. She is a chef.", "My mother is a chef", "kin"),
    ],
)
def test_statements(said: str, sentence: str, kind: str) -> None:
    assert stated(said).get(sentence) == kind


@pytest.mark.parametrize(
    "said",
    [
        "I'm tired.",
        "I'm here!",
        "I'm sorry.",
        "I am going to leave.",
        "I have to go.",
        "I have no idea.",
        "If I were a king, I'd sleep.",
        "I wish I was a dancer.",
        "Am I a nurse?",
        "I love it.",
        "I work there.",
    ],
)
def test_what_passes_or_is_not_said_as_true_is_no_statement(said: str) -> None:
    assert stated(said) == {}


def test_what_is_denied_is_not_taken_for_granted() -> None:
    assert "I have a baby" not in stated("It is not my baby.")


def texts(said: str) -> list[str]:
    return [clause.text for clause in clauses_of(said) if clause.text]


def test_a_speech_is_cut_into_clauses_in_one_spelling() -> None:
    assert texts("Well, I'm a nurse and my sister teaches, Ross! I-I don't cook.") == [
        "I am a nurse",
        "my sister teaches",
        "I do not cook",
    ]


def test_a_chat_without_full_stops_is_cut_before_a_new_first_person() -> None:
    assert texts("i'm a researcher i'm reading about whales") == ["I am a researcher", "I am reading about whales"]


def test_questions_are_marked_and_tags_are_none() -> None:
    clauses = clauses_of("I'm a doctor, okay? How old are you?")
    assert [(clause.text, clause.is_question) for clause in clauses] == [
        ("I am a doctor", False),
        ("How old are you", True),
    ]


def test_what_is_quoted_or_broken_off_is_marked() -> None:
    assert all(clause.is_broken for clause in clauses_of('And he said, "I am a king."'))
    assert clauses_of("I am a very...")[0].is_broken


def test_two_people_are_we() -> None:
    assert "we are engaged" in texts("Monica and I are engaged.")


def test_asides_are_left_out() -> None:
    assert normalised("I'm [sits down] a baker (sighs).") == "I am a baker ."


@given(st.text(max_size=300))
def test_any_text_can_be_cut(said: str) -> None:
    assert [clause.index for clause in clauses_of(said)] == list(range(len(clauses_of(said))))


@pytest.mark.parametrize(
    ("turn", "sentences"),
    [
        ("Hello, I'm Tom. I work at the harbour. What about you?", ["I'm Tom", "I work at the harbour"]),
        ("my sister lives in Malmö!", ["My sister lives in Malmö"]),
        ("Are you sure? I am sorry.", []),
        ("The harbour is cold.", []),
    ],
)
def test_what_a_turn_tells_of_its_speaker(turn: str, sentences: list[str]) -> None:
    assert profile_sentences([turn]) == sentences


def test_each_sentence_once_and_in_order() -> None:
    assert profile_sentences(["I have two dogs.", "Well, I have two dogs. I live here."]) == [
        "I have two dogs",
        "I live here",
    ]


def test_japanese_and_chinese() -> None:
    assert profile_sentences(["私は船乗りです。"], "ja") == ["私は船乗りです"]
    assert profile_sentences(["我在港口工作。"], "zh") == ["我在港口工作"]


@pytest.mark.parametrize(
    ("turn", "sentences"),
    [
        ("Well, I work at the shipyard and I have two dogs!", ["I work at the shipyard", "I have two dogs"]),
        ("I live in Oslo, I like tea but I hate rain.", ["I live in Oslo", "I like tea", "I hate rain"]),
        ("I love the house and the yard so well.", ["I love the house and the yard so well"]),
    ],
)
def test_what_is_joined_is_kept_apart_and_no_word_is_lost(turn: str, sentences: list[str]) -> None:
    assert profile_sentences([turn]) == sentences
