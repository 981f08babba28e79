"""Who answers when several are there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.server.chats.replies import MAX_ANSWERS, Listener, who_answers

ZITA = Listener("Zita Karst", ("Zita Karst", "Zee", "Miss Karst"))
PIA = Listener("Pia Lenk", ("Pia Lenk", "Pia"))
OULD = Listener("Casimir Ould", ("Casimir Ould", "Prior", "the Prior"))
NAN = Listener("Magda Lenk", ("Magda Lenk", "Nan"))
HERE = (ZITA, PIA, OULD, NAN)


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("Zita, who wrote it?", ["Zita Karst"]),
        ("Who wrote it, Prior?", ["Casimir Ould"]),
        ("Pia! Come here.", ["Pia Lenk"]),
        ("Zee: did Pia see it?", ["Zita Karst"]),
        ("Did Pia see it?", ["Pia Lenk"]),
        ("Did the Prior tell Pia?", ["Casimir Ould"]),
        ("Zita and Pia, what have you done?", ["Zita Karst", "Pia Lenk"]),
        ("Pia, Zita, what have you done?", ["Pia Lenk", "Zita Karst"]),
        ("Good morning, Nan.", ["Magda Lenk"]),
        ("hello pia", ["Pia Lenk"]),
        ("ＰＩＡ, is it you?", ["Pia Lenk"]),
        ("The utopian, pianist and priory are no names.", ["Zita Karst"]),
        ("Lenk, is it true?", ["Zita Karst"]),  # two are called so: nobody in particular
        ("What is in the box?", ["Zita Karst"]),
    ],
)
def test_the_one_spoken_to_answers(text: str, answers: list[str]) -> None:
    assert who_answers(text, HERE) == answers


@pytest.mark.parametrize("text", ["Hello!", "Good evening.", "Hello everybody", "Good morning, all!", "Hi there."])
def test_a_greeting_to_all_is_answered_by_more_than_one_but_not_by_a_crowd(text: str) -> None:
    assert who_answers(text, HERE) == ["Zita Karst", "Pia Lenk", "Casimir Ould"]


def test_spoken_to_by_nobody_they_answer_in_turn() -> None:
    assert who_answers("And then?", HERE, "Casimir Ould") == ["Magda Lenk"]
    assert who_answers("And then?", HERE, "Magda Lenk") == ["Zita Karst"]
    assert who_answers("And then?", HERE, "Somebody who left") == ["Zita Karst"]
    assert who_answers("And then, Pia?", HERE, "Casimir Ould") == ["Pia Lenk"]


def test_names_are_found_in_scripts_without_spaces() -> None:
    here = (Listener("灯子", ("灯子",)), Listener("圭吾", ("圭吾",)))
    assert who_answers("圭吾さんは手紙を読みましたか", here) == ["圭吾"]
    assert who_answers("圭吾、灯子、来て", here) == ["圭吾", "灯子"]
    assert who_answers("大家好。你们好！", here) == ["灯子", "圭吾"]


def test_alone_one_always_answers_and_nobody_never() -> None:
    assert who_answers("Pia, are you there?", [ZITA]) == ["Zita Karst"]
    assert who_answers("Hello!", []) == []


@given(st.text(max_size=200), st.sampled_from([None, "Pia Lenk", "Nobody"]))
def test_somebody_answers_whatever_is_said(text: str, last: str | None) -> None:
    answers = who_answers(text, HERE, last)
    assert 1 <= len(answers) <= MAX_ANSWERS
    assert len(set(answers)) == len(answers)
    assert set(answers) <= {listener.name for listener in HERE}
