from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.language.lexical import Corpus
from understudy.language.lexical.kneserney import KneserNey, unigram_shares

WORDS = ["key", "lamp", "boat", "tide"]
LINES = st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), min_size=1, max_size=8)


def next_words(model: KneserNey, corpus: Corpus, history: list[str]) -> dict[str, float]:
    """How probable every word is after a history; '' is the end of the line, '?' any word the corpus does not have."""
    known = [corpus.word(number) for number in range(1, corpus.size)]
    distribution = {}
    for word in [*known, "?"]:
        said = "unheard" if word == "?" else word
        distribution[word] = float(model.probabilities(corpus.tokenize([" ".join([*history, said])]))[len(history)])
    distribution[""] = float(model.probabilities(corpus.tokenize([" ".join(history)]))[len(history)])
    return distribution


@given(LINES, st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=3), st.data())
def test_probabilities_after_any_history_sum_to_one(lines: list[str], history: list[str], data: st.DataObject) -> None:
    corpus = Corpus(lines)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    for base in (None, unigram_shares(corpus)):
        distribution = next_words(KneserNey(corpus, np.array(chosen), base), corpus, history)
        assert sum(distribution.values()) == pytest.approx(1.0, abs=1e-12)
        assert all(value > 0 for value in distribution.values())


def test_a_pair_by_hand() -> None:
    corpus = Corpus(["key", "key", "lamp"])
    model = KneserNey(corpus, np.ones(3, dtype=np.bool_))
    # Pairs: the boundary and key twice, and lamp once; key and the end, lamp and the end after one other: D = 3 / 5.
    # Words: the end stands after two others, key and lamp after one (the boundary): D = 2 / 4; four words can come.
    key = (1 - 0.5) / 4 + 0.5 * 3 / 4 / 4
    assert next_words(model, corpus, [])["key"] == pytest.approx((2 - 0.6) / 3 + 0.6 * 2 / 3 * key)


def test_what_is_said_often_is_expected_and_in_its_place() -> None:
    corpus = Corpus(["the tide is out", "the tide is in", "the tide is high", "out of the boat"])
    distribution = next_words(KneserNey(corpus, np.ones(4, dtype=np.bool_)), corpus, ["the", "tide"])
    assert max(distribution, key=lambda word: distribution[word]) == "is"
    assert distribution["boat"] > distribution["?"]


def test_lines_that_are_not_chosen_teach_nothing() -> None:
    lines = ["the tide is out", "my key is gone"]
    corpus = Corpus(lines)
    first = KneserNey(corpus, np.array([True, False]))
    assert next_words(first, corpus, ["my", "key"])["is"] == next_words(first, corpus, ["unheard", "unheard"])["is"]
    assert next_words(first, corpus, [])["my"] == next_words(first, corpus, [])["?"]


def test_words_that_were_not_chosen_are_as_probable_as_everybody_says_them() -> None:
    corpus = Corpus(["the tide is out", "my key is gone", "my lamp is gone"])
    first = KneserNey(corpus, np.array([True, False, False]), unigram_shares(corpus))
    distribution = next_words(first, corpus, [])
    assert distribution["my"] > distribution["key"]
    assert distribution["key"] == distribution["?"], "an unknown word counts as one that was said once"
    assert distribution["my"] - distribution["key"] == pytest.approx(distribution["gone"] - distribution["lamp"])
