from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from understudy.people.clauses import clauses_of, normalised


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
