from __future__ import annotations

import marshal
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.text import (
    _loaded_pieces,
    did_you_mean,
    fold,
    guess_language,
    sentence_ends,
    sentences,
    stop_words,
    words,
)


def test_english_words_keep_their_apostrophes() -> None:
    assert words("It's Ann’s net -- isn't it?") == ["it's", "ann's", "net", "isn't", "it"]


def test_japanese_and_chinese_are_cut_into_words() -> None:
    assert words("私は映画が好きです。", "ja") == ["私", "は", "映画", "が", "好き", "です"]
    assert "澡堂" in words("我喜欢这个澡堂。", "zh")


def test_chinese_is_cut_without_a_file_in_the_shared_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    planted = tmp_path / "jieba.cache"
    planted.write_bytes(marshal.dumps(({"我喜欢这个澡": 10**9}, 10**9)))
    before = planted.read_bytes()
    cut = _loaded_pieces.__wrapped__("zh")
    assert "澡堂" in cut("我喜欢这个澡堂。")
    assert [path.name for path in tmp_path.iterdir()] == ["jieba.cache"]
    assert planted.read_bytes() == before


def test_an_unknown_language_is_an_error() -> None:
    with pytest.raises(InputError, match="'xx' is not one of en, ja, zh"):
        words("hello", "xx")


@pytest.mark.parametrize(
    ("text", "language"),
    [("Good evening.", "en"), ("こんばんは、先生。", "ja"), ("晚上好，先生。", "zh"), ("", "en"), ("¿Qué?", "en")],
)
def test_the_language_is_told_by_its_letters(text: str, language: str) -> None:
    assert guess_language(text) == language


def test_names_are_compared_without_case_and_punctuation() -> None:
    assert fold("MR. O’Brien") == fold("Mr O'brien") == "mrobrien"
    assert fold("Ｒｏｓｓ") == "ross"


def test_stop_words_carry_no_meaning_but_names_do() -> None:
    assert {"the", "i'm", "you"} <= stop_words("en")
    assert "key" not in stop_words("en")


@given(st.text())
def test_words_are_never_blank(text: str) -> None:
    assert all(word.strip() for language in ("en", "ja", "zh") for word in words(text, language))


@pytest.mark.parametrize(
    ("word", "meant"),
    [("Zta", "Zita"), ("zita", "Zita"), ("Benedeck", "Benedek"), ("encodr", "encoder"), ("Nobody", None), ("", None)],
)
def test_a_misspelt_word_is_recognised(word: str, meant: str | None) -> None:
    told = did_you_mean(word, ["Zita", "Benedek", "encoder"])
    assert told == ("" if meant is None else f" (did you mean '{meant}'?)")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I saw Mr. Ould. He was not there.", ["I saw Mr. Ould.", "He was not there."]),
        ("Ask Dr. J. R. Bohm, i.e. a friend. So am I. Go.", ["Ask Dr. J. R. Bohm, i.e. a friend.", "So am I.", "Go."]),
        ('"No." And he left! "Late?" he said. 3 came...', ['"No."', "And he left!", '"Late?" he said.', "3 came..."]),
        ("Well... if you like. (Not now.) Then", ["Well... if you like.", "(Not now.)", "Then"]),
        ("i mend clocks . i sail !", ["i mend clocks .", "i sail !"]),
        ("「行く。」と言った。遠い！はい!いいえ", ["「行く。」と言った。", "遠い！", "はい!", "いいえ"]),
        ("「行く。」「待て。」", ["「行く。」", "「待て。」"]),
        ("version 3.5 of it", ["version 3.5 of it"]),
        ("  ", []),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@given(st.text(alphabet='aA.!? \n。」"Mr…', max_size=40))
def test_sentences_lose_nothing_but_blanks(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    ends = sentence_ends(text)
    assert ends == sorted(set(ends)) and all(0 < end <= len(text) for end in ends)


@pytest.mark.parametrize("unit", [".", "!", "…", "?!", ".)", "。", "。」", "Mr.", "a "])
def test_a_long_run_of_marks_is_looked_at_in_time_proportional_to_it(unit: str) -> None:
    sentence_ends((unit * 500_000)[:500_000] + "x!")  # squared, it would take hours
