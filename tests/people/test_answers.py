from __future__ import annotations

import pytest

from understudy.people.claims import answers_to
from understudy.people.clauses import clauses_of


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
