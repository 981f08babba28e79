from __future__ import annotations

import pytest

from understudy.errors import MissingExtra
from understudy.studies import word_counts
from understudy.studies.word_counts import count_words


@pytest.mark.parametrize(("text", "count"), [("", 0), ("one two, three", 3), ("  a  ", 1), ("私は猫が好きです", 6)])
def test_words_of_a_language_are_its_own(text: str, count: int) -> None:
    assert count_words(text) == count


def test_without_a_tokenizer_letters_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_text: str, _language: str) -> list[str]:
        raise MissingExtra("Japanese", "ja")

    monkeypatch.setattr(word_counts, "words", missing)
    assert count_words("私は猫が好きです") == 4
