from __future__ import annotations

import pytest

from understudy.people.own_words import profile_sentences


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
