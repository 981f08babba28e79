from __future__ import annotations

import numpy as np
import pytest

from understudy.lexical import Corpus, Rows
from understudy.lexical.logistic import evened, fit
from understudy.lexical.rows import Ints, Reals

SAID = (
    ["the tide is out", "the tide and the key", "is the boat out", "out at sea"],
    ["where is my key", "my key is gone", "my lamp", "the lamp and my key"],
    ["no", "no no no", "the sea is no place for a lamp", "no boat"],
)
ASKED = ("where is the tide", "no lamp for my boat", "sea sea sea")
# By scikit-learn 1.9.1, TfidfVectorizer(analyzer=words) and LogisticRegression(tol=1e-10).
THREE = ((0.475783, 0.305357, 0.218860), (0.193017, 0.344024, 0.462959), (0.399759, 0.264950, 0.335291))
TWO = 0.437191  # of the first line, between the first two


def data(classes: int = 3) -> tuple[Corpus, Rows, Ints]:
    texts = [text for own in SAID[:classes] for text in own]
    corpus = Corpus(texts)
    return corpus, weighted(corpus.lines.bags(), corpus.lines.bags()), np.repeat(np.arange(classes), 4)


def weighted(bags: Rows, known: Rows) -> Rows:
    idf = np.log((1 + len(known)) / (1 + np.bincount(known.columns, minlength=known.width))) + 1
    return Rows(bags.starts, bags.columns, bags.values * idf[bags.columns], known.width).unit()


def full(rows: Rows) -> Reals:
    matrix = np.zeros((len(rows), rows.width))
    matrix[rows.owners, rows.columns] = rows.values
    return matrix


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("c", [0.1, 1.0, 30.0])
def test_the_loss_has_no_slope_where_it_ends(c: float, compiled: bool) -> None:
    _, rows, labels = data()
    model = fit(rows, labels, 3, c, compiled, precision=1e-8)
    x, wrong = full(rows), model.probabilities(rows) - np.eye(3)[labels]
    assert np.abs(wrong.T @ x + model.weights / c).max() < 2e-3
    assert np.abs(wrong.sum(axis=0)).max() < 2e-3


@pytest.mark.parametrize("compiled", [False, True])
def test_probabilities_are_scikit_learns(compiled: bool) -> None:
    corpus, rows, labels = data()
    model = fit(rows, labels, 3, compiled=compiled)
    found = model.probabilities(weighted(corpus.cut(ASKED).bags(), corpus.lines.bags()))
    assert np.abs(found - np.array(THREE)).max() < 1e-3
    assert np.allclose(found.sum(axis=1), 1)


def test_two_classes_are_scikit_learns_binary_regression() -> None:
    corpus, rows, labels = data(2)
    model = fit(rows, labels, 2)
    asked = weighted(corpus.cut(ASKED[:1]).bags(), corpus.lines.bags())
    assert model.probabilities(asked)[0, 1] == pytest.approx(TWO, abs=1e-3)


def test_compiled_loops_find_the_same() -> None:
    _, rows, labels = data()
    plain, compiled = fit(rows, labels, 3, compiled=False), fit(rows, labels, 3, compiled=True)
    assert np.allclose(plain.weights, compiled.weights, atol=1e-9)
    assert np.allclose(plain.intercepts, compiled.intercepts, atol=1e-9)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_row_that_counts_twice_is_as_good_as_two(compiled: bool) -> None:
    _, rows, labels = data()
    counts = np.array([1.0] * 11 + [2.0])
    twice = np.append(np.arange(12), 11)
    once = fit(rows, labels, 3, compiled=compiled, counts=counts)
    assert np.allclose(once.weights, fit(rows.some(twice), labels[twice], 3, compiled=compiled).weights, atol=1e-3)
    assert not np.allclose(once.weights, fit(rows, labels, 3, compiled=compiled).weights, atol=1e-2)


def test_evened_classes_count_alike() -> None:
    labels = np.array([0, 0, 0, 1])
    counts = evened(labels, 2)
    assert counts.tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2])
    nothing = Rows(np.zeros(5, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), 3)
    assert fit(nothing, labels, 2, counts=counts).probabilities(nothing)[0] == pytest.approx([0.5, 0.5], abs=1e-3)


def test_frequent_and_rare_features_count_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    _, rows, labels = data()
    whole = fit(rows, labels, 3, compiled=False)
    monkeypatch.setattr("understudy.lexical.logistic.FREQUENT", 2)
    assert np.allclose(fit(rows, labels, 3, compiled=False).weights, whole.weights, atol=1e-9)


def test_rows_of_nothing_say_how_frequent_the_classes_are() -> None:
    nothing = Rows(np.zeros(5, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), 3)
    model = fit(nothing, np.array([0, 0, 0, 1]), 2)
    assert model.probabilities(nothing)[0] == pytest.approx([0.75, 0.25], abs=1e-3)
