from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.lexical import cutting
from understudy.lexical.cutting import cut_all, is_mark
from understudy.text import words

AWKWARD = st.text(st.sampled_from("abΣσİ’''_-.!?\"“( \n1é漢\ud800😀"), max_size=12)


def cut(texts: Sequence[str], language: str = "en", marks: bool = False) -> list[list[str]]:
    found = []
    for different, places, lengths in cut_all(texts, language, marks):
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


@settings(deadline=None)
@given(st.lists(st.one_of(AWKWARD, st.text(max_size=30)), max_size=5))
def test_marks_stand_among_the_words_where_they_were_written(texts: list[str]) -> None:
    found = cut(texts, marks=True)
    assert [[token for token in line if not is_mark(token)] for line in found] == [words(text) for text in texts]
    for text, line in zip(texts, found):
        runs = [sign * len(list(run)) for sign, run in groupby(text.lower())]
        assert [token for token in line if is_mark(token)] == [run for run in runs if is_mark(run)]
        assert [cut([text, "x" * 300], marks=True)[0]] == [line], "the slow way finds the same"


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "Well... \"no!!\" (I'm-- 'off')", ["well", "...", "no", "!!", "i'm", "--", "off"]),
        ("ja", "「……行くぞ！？」", ["……", "行く", "ぞ", "！", "？"]),
        ("zh", "“好……走！”", ["好", "……", "走", "！"]),
        ("en", "'\"()", []),
        ("en", "?!", ["?", "!"]),
    ],
)
def test_a_mark_is_a_run_of_one_sign_and_no_bracket_or_quote(language: str, text: str, found: list[str]) -> None:
    assert cut([text, text], language, marks=True) == [found, found]


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


@settings(deadline=None)
@given(st.lists(st.one_of(AWKWARD, st.text(max_size=30)), max_size=5))
def test_compiled_loops_tell_the_same_words_apart(texts: list[str]) -> None:
    import understudy.lexical.fast

    assert understudy.lexical.fast.__name__ in sys.modules
    assert cut([*texts, "x" * 300]) == [words(text) for text in [*texts, "x" * 300]]
    loaded = sys.modules.pop("understudy.lexical.fast")
    try:
        plain = list(cut_all(texts, "en", marks=True))
    finally:
        sys.modules["understudy.lexical.fast"] = loaded
    compiled = list(cut_all(texts, "en", marks=True))
    assert [(one[0], one[1].tolist(), one[2].tolist()) for one in compiled] == [
        (one[0], one[1].tolist(), one[2].tolist()) for one in plain
    ]


def test_words_with_the_same_hash_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "understudy.lexical.fast", raising=False)
    monkeypatch.setattr(cutting, "BASE", np.uint64(0))  # now a word's hash is its last letter
    assert cut(["tide made ride", "side"]) == [["tide", "made", "ride"], ["side"]]


def test_a_word_too_long_to_be_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "understudy.lexical.fast", raising=False)
    assert cut(["x" * 300 + " y"]) == [["x" * 300, "y"]]


def test_many_texts_are_cut_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "CHUNK", 10)
    texts = ["the tide is out", "", "the key", "a", "b", "c d e f g h i j k l m n o p q"]
    assert len(list(cut_all(texts, "en"))) > 2
    assert cut(texts) == [words(text) for text in texts]


@pytest.mark.parametrize(("language", "text"), [("ja", "手帳はどこですか。"), ("zh", "合同在哪里？")])
def test_other_languages_are_cut_by_their_own_tokenizers(language: str, text: str) -> None:
    assert cut([text, "", text], language) == [words(text, language), [], words(text, language)]
