from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.language.lexical import Query, TfIdf

WORDS = st.sampled_from(["key", "lamp", "boat", "harbour", "night", "storm", "rope", "tide"])
TEXTS = st.lists(st.lists(WORDS, max_size=6), max_size=40)


def obvious_cosines(texts: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    frequency = Counter(word for text in texts for word in set(text))
    idf = {word: math.log((1 + len(texts)) / (1 + df)) + 1 for word, df in frequency.items()}

    def unit(bag: Sequence[str]) -> dict[str, float]:
        weights = {word: count * idf[word] for word, count in Counter(bag).items() if word in idf}
        norm = math.sqrt(sum(weight**2 for weight in weights.values()))
        return {word: weight / norm for word, weight in weights.items()}

    query_weights = unit(query)
    return [sum(weight * query_weights.get(word, 0.0) for word, weight in unit(text).items()) for text in texts]


@given(TEXTS, st.lists(WORDS, max_size=8))
def test_scores_are_the_cosines(texts: list[list[str]], query: list[str]) -> None:
    assert TfIdf(texts).scores(query).tolist() == pytest.approx(obvious_cosines(texts, query), abs=1e-5)


@given(st.integers(0, 2**32), st.integers(0, 900), st.integers(1, 12), st.integers(1, 9))
def test_top_is_the_best_of_all_scores_with_equals_in_order(seed: int, size: int, k: int, length: int) -> None:
    random = np.random.default_rng(seed)
    words = [f"w{number}" for number in range(60)]
    zipf = 1 / np.arange(1, 61)  # a few words in most texts and many in few, as in language
    texts = [random.choice(words, random.integers(0, 8), p=zipf / zipf.sum()).tolist() for _ in range(size)]
    query = random.choice(words, length).tolist()
    index = TfIdf(texts)
    scores = index.scores(query).tolist()
    ranked = sorted((doc for doc in range(size) if scores[doc] > 0), key=lambda doc: (-scores[doc], doc))
    assert index.top(query, k) == [(doc, scores[doc]) for doc in ranked[:k]]


def test_a_frequent_word_counts_like_a_rare_one() -> None:
    texts = [["the", f"filler{number}"] for number in range(5000)]
    texts[1234] = ["the", "brass", "key"]
    index = TfIdf(texts)
    assert index.top("the brass key", 1) == [(1234, pytest.approx(1.0))]  # type: ignore[comparison-overlap]
    assert [doc for doc, _ in index.top("the", 3)] == [0, 1, 2]
    assert [doc for doc, _ in index.top("the brass key", 3)] == [1234, 0, 1]


def test_equal_texts_keep_their_order() -> None:
    assert [doc for doc, _ in TfIdf(["a lamp", "a key", "a key", "a key"]).top("key", 2)] == [1, 2]


def test_texts_without_a_word_in_common_are_no_result() -> None:
    index = TfIdf(["the key", "a boat"])
    assert [doc for doc, _ in index.top("boat", 10)] == [1]
    assert index.top("lamp", 10) == []
    assert index.top("boat", 0) == []


def test_more_asked_for_than_there_is() -> None:
    index = TfIdf(["red key", "key", "blue lamp"])
    assert [doc for doc, _ in index.top("key", 1000)] == [1, 0]


@pytest.mark.parametrize("query", ["", [], {}, "unheard of", {"key": 0.0}])
def test_nothing_to_look_for(query: Query) -> None:
    index = TfIdf(["the key", ""])
    assert index.scores(query).tolist() == [0.0, 0.0]
    assert index.top(query, 3) == []


def test_an_index_of_nothing() -> None:
    index = TfIdf([])
    assert (len(index), index.scores("key").tolist(), index.top("key", 5)) == (0, [], [])
    assert index.idf("key") == 1.0


def test_weights_stand_for_counts() -> None:
    index = TfIdf(["key key lamp", "lamp boat"])
    assert index.scores({"key": 2.0, "lamp": 1.0}).tolist() == index.scores("key lamp key").tolist()


def test_shared_terms_add_up_to_the_score() -> None:
    index = TfIdf(["the brass key", "the lamp", "a boat"])
    query = "where is the brass lamp key"
    shared = index.shared_terms(query, 0)
    assert [word for word, _ in shared][-1] == "the"
    assert {word for word, _ in shared} == {"the", "brass", "key"}
    assert sum(part for _, part in shared) == pytest.approx(float(index.scores(query)[0]), abs=1e-6)


def test_a_rarer_word_is_more_telling() -> None:
    index = TfIdf(["the key", "the lamp"])
    assert index.idf("the") < index.idf("key") < index.idf("unheard")
    assert "key" in index
    assert "unheard" not in index


@pytest.mark.parametrize(
    ("language", "texts", "query"),
    [
        ("ja", ["映写機を止める", "手帳に控える"], "手帳はどこですか"),
        ("zh", ["我们下象棋吧", "合同我逐条看"], "合同在哪里"),
    ],
)
def test_other_languages_are_cut_into_their_words(language: str, texts: list[str], query: str) -> None:
    assert TfIdf(texts, language).top(query, 1)[0][0] == 1
