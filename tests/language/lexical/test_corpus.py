from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.language.lexical import Corpus
from understudy.language.lexical import corpus as tokenization
from understudy.language.lexical.corpus import BOUNDARY, is_mark, tokenize_all
from understudy.text import stems, words

WORDS = st.sampled_from(["key", "lamp", "boat", "tide"])
TEXTS = st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=6)


def grams_of(text: str, order: int) -> list[tuple[str, ...]]:
    words = text.split()
    return [tuple(words[at : at + order]) for at in range(len(words) - order + 1)]


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_bags_count_the_runs_of_words_that_the_corpus_has(known: list[str], texts: list[str], order: int) -> None:
    corpus = Corpus(known)
    there = {gram for text in known for gram in grams_of(text, order)}
    lines = corpus.tokenize(texts)
    bags = lines.bags(order)
    for index, text in enumerate(texts):
        row = slice(bags.starts[index], bags.starts[index + 1])
        expected = grams_of(text, order)
        if order == 1:  # words that are new are kept, by numbers of their own
            runs: list[tuple[str, ...]] = [(lines.word(number),) for number in bags.columns[row].tolist()]
        else:
            runs = [corpus.gram(order, number) for number in bags.columns[row].tolist()]
            expected = [gram for gram in expected if gram in there]
        assert dict(zip(runs, bags.values[row].tolist())) == {gram: expected.count(gram) for gram in expected}


@given(TEXTS)
def test_a_corpus_and_the_same_lines_cut_again_have_the_same_numbers(texts: list[str]) -> None:
    corpus = Corpus(texts)
    again = corpus.tokenize(texts)
    assert again.ids.tolist() == corpus.lines.ids.tolist()
    for order in (2, 3, 4):
        assert again.grams(order).tolist() == corpus.lines.grams(order).tolist()


def test_boundaries_stand_around_every_line_and_never_inside_a_run() -> None:
    corpus = Corpus(["the tide", "", "out"])
    assert corpus.lines.ids.tolist() == [0, 1, 2, 0, 0, 3, 0]
    assert corpus.word(BOUNDARY) == ""
    triples = [corpus.gram(3, number) for number in corpus.lines.grams(3).tolist() if number >= 0]
    assert triples == [("", "the", "tide"), ("the", "tide", ""), ("", "out", "")]


def test_words_that_are_new_have_numbers_of_that_cut_alone() -> None:
    corpus = Corpus(["the tide"])
    lines = corpus.tokenize(["the moon and the moon"])
    assert lines.words(0) == ["the", "moon", "and", "the", "moon"]
    assert lines.size == corpus.size + 2
    assert lines.number("moon") == corpus.size
    assert corpus.number("moon") == -1
    assert lines.valued({"moon": 2.0, "the": 1.0, "unsaid": 9.0}).tolist() == [0.0, 1.0, 0.0, 2.0, 0.0]


def test_plain_lines_are_without_marks() -> None:
    corpus = Corpus(["The tide... is out!", "...", "No"], marks=True)
    assert corpus.lines.words(0) == ["the", "tide", "...", "is", "out", "!"]
    assert [corpus.lines.plain.words(index) for index in range(3)] == [["the", "tide", "is", "out"], [], ["no"]]
    lines = corpus.tokenize(["Out?? Moon, tide"])
    assert lines.plain.words(0) == ["out", "moon", "tide"]
    assert lines.plain.ids[0] == lines.plain.ids[-1] == BOUNDARY
    assert lines.plain.plain is lines.plain
    bare = Corpus(["The tide... is out!"])
    assert bare.lines.plain is bare.lines


def test_marks_are_written_next_to_their_word() -> None:
    assert Corpus([]).joined(["well", "...", "no", "!"]) == "well... no!"
    assert Corpus([], "ja").joined(["行く", "ぞ", "！"]) == "行くぞ！"


def test_a_language_without_a_tokenizer_is_named() -> None:
    with pytest.raises(InputError, match="'tlh' is not one of en, ja, zh"):
        Corpus(["nuqneH"], "tlh")


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
