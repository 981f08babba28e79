from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.lexical import cutting
from understudy.lexical.cutting import cut_all
from understudy.text import words

AWKWARD = st.text(st.sampled_from("abΣσİ’''_- \n1é漢\ud800😀"), max_size=12)


def cut(texts: Sequence[str], language: str = "en") -> list[list[str]]:
    found = []
    for different, places, lengths in cut_all(texts, language):
        said = [different[place] for place in places.tolist()]
        for length in lengths.tolist():
            found.append(said[:length])
            del said[:length]
        assert said == []
    return found


@settings(deadline=None)
@given(st.lists(st.one_of(AWKWARD, st.text(max_size=30)), max_size=5))
def test_english_is_cut_as_one_text_at_a_time_is(texts: list[str]) -> None:
    assert cut(texts) == [words(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Don’t, o'clock 'tis rock 'n' roll", ["don't", "o'clock", "tis", "rock", "n", "roll"]),
        ("a''b a'", ["a", "b", "a"]),
        ("snake_case", ["snake", "case"]),
        ("", []),
    ],
)
def test_apostrophes_belong_to_a_word_only_inside_it(text: str, found: list[str]) -> None:
    assert cut([text, "next"]) == [found, ["next"]]


def test_different_words_come_in_the_order_they_come_up() -> None:
    ((different, places, lengths),) = cut_all(["the tide the key", "key"], "en")
    assert different == ["the", "tide", "key"]
    assert (places.tolist(), lengths.tolist()) == ([0, 1, 0, 2, 2], [4, 1])


def test_words_with_the_same_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "BASE", np.uint64(0))  # now a word's hash is its last letter
    assert cut(["tide made ride", "side"]) == [["tide", "made", "ride"], ["side"]]


def test_a_word_too_long_to_be_any(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cut(["x" * 300 + " y"]) == [["x" * 300, "y"]]


def test_many_texts_are_cut_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "CHUNK", 10)
    texts = ["the tide is out", "", "the key", "a", "b", "c d e f g h i j k l m n o p q"]
    assert len(list(cut_all(texts, "en"))) > 2
    assert cut(texts) == [words(text) for text in texts]


@pytest.mark.parametrize(("language", "text"), [("ja", "手帳はどこですか。"), ("zh", "合同在哪里？")])
def test_other_languages_are_cut_by_their_own_tokenizers(language: str, text: str) -> None:
    assert cut([text, "", text], language) == [words(text, language), [], words(text, language)]
