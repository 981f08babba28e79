"""What participants write: copies of the profile, words counted, and replies of agents cut to the rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import MissingExtra
from understudy.studies import item
from understudy.studies.item import copied_words, count_words, message_problems, shortened

PROFILE = ("i love to ski in winter.", "i knit.")


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("I love to ski in spring!", "i love to ski"),
        ("So, I knit.", "i knit"),
        ("do you love to ski?", ""),
        ("skiing is what i love", ""),
        ("", ""),
    ],
)
def test_runs_of_words_from_the_profile_are_copied(text: str, copied: str) -> None:
    assert copied_words(text, PROFILE, "en") == copied


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("One two three.", "One two three."),
        ("One two. Three four five six.", "One two."),
        ("One two three, four five six", "One two three"),
        ("one two three four five six", "one two three four five"),
        ("我喜欢猫。我每天去图书馆读书。", "我喜欢猫。"),
    ],
)
def test_a_reply_is_cut_where_a_sentence_or_clause_ends(text: str, cut: str) -> None:
    assert shortened(text, 5) == cut


@given(st.text(max_size=300), st.integers(1, 20))
def test_a_cut_reply_is_a_beginning_and_never_too_long(text: str, most: int) -> None:
    cut = shortened(text, most)
    assert len(cut.split()) <= most
    assert " ".join(text.split()).startswith(" ".join(cut.split()))
    assert not any("words, and" in problem.message for problem in message_problems(cut, (), most, "en"))


@pytest.mark.parametrize(("text", "count"), [("", 0), ("one two, three", 3), ("  a  ", 1), ("私は猫が好きです", 6)])
def test_words_of_a_language_are_its_own(text: str, count: int) -> None:
    assert count_words(text) == count


def test_without_a_tokenizer_letters_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_text: str, _language: str) -> list[str]:
        raise MissingExtra("Japanese", "ja")

    monkeypatch.setattr(item, "words", missing)
    assert count_words("私は猫が好きです") == 4
