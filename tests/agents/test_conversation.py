"""What each side of a conversation knows of it."""

from __future__ import annotations

from understudy.agents.conversation import ConversationTurn, message_last, perspective
from understudy.story.dialogue import Situation, Turn
from understudy.story.persona import Other, Persona
from understudy.story.types import Moment

EARLY, LATE = Moment.parse("1.1"), Moment.parse("2.1")
ANN = Situation(Persona("Ann", EARLY), faced=Other("Bob"))


def test_what_was_said_later_than_its_moment_a_character_does_not_know() -> None:
    said = [
        ConversationTurn(None, "Hello", EARLY),
        ConversationTurn("Ann", "It burned", LATE),
        ConversationTurn(None, "And now?"),
    ]
    assert perspective(said, ANN) == (Turn("Bob", "Hello"), Turn("Bob", "And now?"))


def test_what_was_said_while_it_was_away_it_does_not_know_but_for_the_message_it_answers() -> None:
    away = ("Carl", "Dora")
    said = [
        ConversationTurn("Carl", "Psst", present=away),
        ConversationTurn("Ann", "Hm", present=away),
        ConversationTurn("Carl", "Ann?", present=away),
    ]
    assert perspective(said, ANN) == (Turn("Ann", "Hm"), Turn("Carl", "Ann?"))


def test_a_stranger_has_a_name_too_and_what_must_not_come_again_stands_before_the_message() -> None:
    said = [ConversationTurn(None, "Hello")]
    assert perspective(said, Situation(Persona("Ann"))) == (Turn("You", "Hello"),)
    assert perspective(said, ANN, ["Hi"]) == (Turn("Ann", "Hi"), Turn("Bob", "Hello"))


def test_each_of_several_answers_the_message_whoever_else_has_by_now() -> None:
    def order(said: str, own: str) -> str:
        return "".join(message_last(said, str.islower, lambda each: each == own))

    assert order("XaYbc", "a") == "XabcY"
    assert order("XaYbc", "b") == "XaYbc"
    assert order("XaY", "b") == "XaY"
    assert order("abc", "d") == "abc"
