from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import InputError
from understudy.language.lexical import Corpus
from understudy.language.lexical.corpus import BOUNDARY

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
