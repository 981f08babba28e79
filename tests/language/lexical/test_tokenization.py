from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.language.lexical import corpus as tokenization
from understudy.language.lexical.corpus import is_mark, tokenize_all
from understudy.text import stems, words

AWKWARD = st.text(st.sampled_from("abΣσİ’''_-.!?\"“( \n1é漢\ud800😀"), max_size=12)


def tokenize(texts: Sequence[str], language: str = "en", marks: bool = False) -> list[list[str]]:
    result = []
    for distinct, ids, lengths in tokenize_all(texts, language, marks):
        words = [distinct[number] for number in ids.tolist()]
        for length in lengths.tolist():
            result.append(words[:length])
            del words[:length]
        assert words == []
    return result


@given(st.lists(st.one_of(AWKWARD, st.text(max_size=30)), max_size=5))
def test_english_is_split_as_one_text_at_a_time_is(texts: list[str]) -> None:
    assert tokenize(texts) == [words(text) for text in texts]


@given(st.lists(st.one_of(AWKWARD, st.text(max_size=30)), max_size=5))
def test_marks_stand_among_the_words_where_they_were_written(texts: list[str]) -> None:
    lines = tokenize(texts, marks=True)
    assert [[token for token in line if not is_mark(token)] for line in lines] == [words(text) for text in texts]
    for text, line in zip(texts, lines):
        runs = [sign * len(list(run)) for sign, run in groupby(text.lower())]
        assert [token for token in line if is_mark(token)] == [run for run in runs if is_mark(run)]


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("en", "Well... \"no!!\" (I'm-- 'off')", ["well", "...", "no", "!!", "i'm", "--", "off"]),
        ("ja", "「……行くぞ！？」", ["……", "行く", "ぞ", "！", "？"]),
        ("zh", "“好……走！”", ["好", "……", "走", "！"]),
        ("en", "'\"()", []),
        ("en", "?!", ["?", "!"]),
    ],
)
def test_a_mark_is_a_run_of_one_sign_and_no_bracket_or_quote(language: str, text: str, tokens: list[str]) -> None:
    assert tokenize([text, text], language, marks=True) == [tokens, tokens]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don’t, o'clock 'tis rock 'n' roll", ["don't", "o'clock", "tis", "rock", "n", "roll"]),
        ("a''b a'", ["a", "b", "a"]),
        ("snake_case", ["snake", "case"]),
        ("", []),
    ],
)
def test_apostrophes_belong_to_a_word_only_inside_it(text: str, tokens: list[str]) -> None:
    assert tokenize([text, "next"]) == [tokens, ["next"]]


def test_distinct_words_come_in_order_of_appearance() -> None:
    ((distinct, ids, lengths),) = tokenize_all(["the tide the key", "key"], "en")
    assert distinct == ["the", "tide", "key"]
    assert (ids.tolist(), lengths.tolist()) == ([0, 1, 0, 2, 2], [4, 1])


def test_a_word_too_long_to_be_any() -> None:
    assert tokenize(["x" * 300 + " y"]) == [["x" * 300, "y"]]


def test_many_texts_are_tokenized_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenization, "CHUNK", 10)
    texts = ["the tide is out", "", "the key", "a", "b", "c d e f g h i j k l m n o p q"]
    assert len(list(tokenize_all(texts, "en"))) > 2
    assert tokenize(texts) == [words(text) for text in texts]


@pytest.mark.parametrize(("language", "text"), [("ja", "手帳はどこですか。"), ("zh", "合同在哪里？")])
def test_other_languages_are_split_by_their_own_tokenizers(language: str, text: str) -> None:
    assert tokenize([text, "", text], language) == [words(text, language), [], words(text, language)]


# Stems: forms of a word meet, other words do not.


def test_stems_meet() -> None:
    for item, another in (("remodeling", "remodel"), ("hobbies", "hobby"), ("running", "run"), ("dog's", "dogs")):
        assert stems(item) == stems(another)
    assert stems("bus glass is") == ["bus", "glass", "is"]
