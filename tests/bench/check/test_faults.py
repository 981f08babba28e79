from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.bench.check.faults import FAULTS, LANGUAGES, too_long, wrong_language


@pytest.mark.parametrize(
    ("fault", "reply"),
    [
        ("assistant", "As an AI, I have no father."),
        ("assistant", "I\u2019m just a language model, so I cannot know."),
        ("assistant", "Hello! How can I assist you today?"),
        ("refusal", "I'm sorry, but I can't help with that."),
        ("refusal", "I am unable to provide an answer."),
        ("stage_directions", "*looks up from the letters* Good day."),
        ("stage_directions", "(She laughs.) Never."),
        ("stage_directions", "（笑って）いいえ。"),
        ("speaks_for_other", "I see.\nUser: And then?\nI left."),
        ("speaks_for_other", "Zita: Good day.\nPia: Good day to you."),
        ("speaks_for_other", "I see.\nTom Reed: And then?"),
        ("loops", "I do not know what it is. I do not know what it is. I do not know what it is."),
        ("loops", "no no no no no no"),
        ("repeats", "Where is it?"),
        ("breaks_off", "I went to the harbour and the"),
        ("breaks_off", "I went to the harbour,"),
        ("markdown", "There are two:\n- one\n- two"),
        ("markdown", "This is **very** important."),
    ],
)
def test_a_fault_is_found(fault: str, reply: str) -> None:
    assert FAULTS[fault](reply, ["Where is it?", "On the hook."])


@pytest.mark.parametrize(
    "reply",
    [
        "Smoked twice. It has lost some of its opinion of itself.",
        "Listen: I have told you already.",
        "I was an assistant to the doctor's brother once.",
        "I can't help it, I love him.",
        "No, no, no! Never!",
        "I would not, and you would not. I would, if I could, and you would too.",
        "It is half past two - or later",
        "Well...",
    ],
)
def test_plain_talk_has_none(reply: str) -> None:
    assert {
        name: fault(reply, ["Where is it?"]) for name, fault in FAULTS.items() if fault(reply, ["Where is it?"])
    } == {}


@pytest.mark.parametrize(
    ("reply", "language"),
    [
        ("I do not know where the letters are.", "en"),
        ("Ich weiß nicht, wo die Briefe sind, und es ist mir gleich.", "de"),
        ("Je ne sais pas où sont les lettres de mon père.", "fr"),
        ("No sé dónde están las cartas de mi padre, pero es muy tarde.", "es"),
        ("手紙がどこにあるのか、わかりません。", "ja"),
        ("我不知道信在哪里。", "zh"),
    ],
)
def test_a_language_is_told_from_the_others(reply: str, language: str) -> None:
    assert wrong_language(reply, language) == ""
    assert all(wrong_language(reply, other) for other in LANGUAGES if other != language)


def test_a_word_or_two_are_of_any_language_in_the_same_letters() -> None:
    assert wrong_language("Non, merci.", "en") == ""
    assert wrong_language("Non, merci.", "ja")


def test_words_are_counted() -> None:
    assert too_long("one two three", 3) == ""
    assert too_long("one two three", 2) == "has 3 words, more than 2"
    assert too_long("一二三四五", 4)


@given(st.text(), st.lists(st.text(), max_size=2))
def test_any_text_can_be_looked_at(reply: str, before: list[str]) -> None:
    for fault in FAULTS.values():
        assert isinstance(fault(reply, before), str)
    assert isinstance(wrong_language(reply, "en"), str)


@pytest.mark.parametrize("unit", ["\n", "[", "[a](", "(a", "*", "a_", "a ", "**a"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_long_reply_of_whatever_is_looked_at_in_time_proportional_to_it(fault: str, unit: str) -> None:
    FAULTS[fault]((unit * 400_000)[:400_000] + "\0", ("Well?",))  # squared, it would take hours


def test_a_label_after_blank_lines_is_one() -> None:
    assert FAULTS["speaks_for_other"]("Good evening.\n\n\n  **Tom** : Well?", ()) == "speaks for 'Tom'"
