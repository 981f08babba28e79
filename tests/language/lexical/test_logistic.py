from __future__ import annotations

import numpy as np
import pytest

from understudy.language.lexical import Corpus, SparseRows
from understudy.language.lexical.logistic import balanced_weights, fit, fit_binary
from understudy.language.lexical.rows import Ints, Reals, sigmoid

SAID = (
    ["the tide is out", "the tide and the key", "is the boat out", "out at sea"],
    ["where is my key", "my key is gone", "my lamp", "the lamp and my key"],
    ["no", "no no no", "the sea is no place for a lamp", "no boat"],
)
LINES = ("where is the tide", "no lamp for my boat", "sea sea sea")
# By scikit-learn 1.9.1, TfidfVectorizer(analyzer=words) and LogisticRegression(tol=1e-10).
THREE = ((0.475783, 0.305357, 0.218860), (0.193017, 0.344024, 0.462959), (0.399759, 0.264950, 0.335291))
TWO = 0.437191  # of the first line, between the first two
EMPTY = SparseRows(np.zeros(5, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0), 3)


def data(classes: int = 3) -> tuple[Corpus, SparseRows, Ints]:
    texts = [text for own in SAID[:classes] for text in own]
    corpus = Corpus(texts)
    return corpus, weighted(corpus.lines.bags(), corpus.lines.bags()), np.repeat(np.arange(classes), 4)


def weighted(bags: SparseRows, known: SparseRows) -> SparseRows:
    idf = np.log((1 + len(known)) / (1 + np.bincount(known.columns, minlength=known.width))) + 1
    return SparseRows(bags.starts, bags.columns, bags.values * idf[bags.columns], known.width).normalized()


def full(rows: SparseRows) -> Reals:
    matrix = np.zeros((len(rows), rows.width))
    matrix[rows.owners, rows.columns] = rows.values
    return matrix


@pytest.mark.parametrize("c", [0.1, 1.0, 30.0])
def test_the_gradient_is_zero_at_the_end(c: float) -> None:
    _, rows, labels = data()
    model = fit(rows, labels, 3, c, tolerance=1e-8)
    x, wrong = full(rows), model.probabilities(rows) - np.eye(3)[labels]
    assert np.abs(wrong.T @ x + model.weights / c).max() < 2e-3
    assert np.abs(wrong.sum(axis=0)).max() < 2e-3


def test_probabilities_are_scikit_learns() -> None:
    corpus, rows, labels = data()
    model = fit(rows, labels, 3)
    probabilities = model.probabilities(weighted(corpus.tokenize(LINES).bags(), corpus.lines.bags()))
    assert np.abs(probabilities - np.array(THREE)).max() < 1e-3
    assert np.allclose(probabilities.sum(axis=1), 1)


def test_two_classes_are_scikit_learns_binary_regression() -> None:
    corpus, rows, labels = data(2)
    model = fit(rows, labels, 2)
    line = weighted(corpus.tokenize(LINES[:1]).bags(), corpus.lines.bags())
    assert model.probabilities(line)[0, 1] == pytest.approx(TWO, abs=1e-3)


def test_a_row_of_weight_two_is_as_good_as_two_rows() -> None:
    _, rows, labels = data()
    row_weights = np.array([1.0] * 11 + [2.0])
    twice = np.append(np.arange(12), 11)
    once = fit(rows, labels, 3, row_weights=row_weights)
    assert np.allclose(once.weights, fit(rows.take(twice), labels[twice], 3).weights, atol=1e-3)
    assert not np.allclose(once.weights, fit(rows, labels, 3).weights, atol=1e-2)


def test_balanced_classes_weigh_alike() -> None:
    labels = np.array([0, 0, 0, 1])
    row_weights = balanced_weights(labels, 2)
    assert row_weights.tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2])
    model = fit(EMPTY, labels, 2, row_weights=row_weights)
    assert model.probabilities(EMPTY)[0] == pytest.approx([0.5, 0.5], abs=1e-3)


def test_empty_rows_say_how_frequent_the_classes_are() -> None:
    model = fit(EMPTY, np.array([0, 0, 0, 1]), 2)
    assert model.probabilities(EMPTY)[0] == pytest.approx([0.75, 0.25], abs=1e-3)


def test_a_regression_of_few_columns_finds_the_gradient_zero_too() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 2)) * [1.0, 30.0]
    labels = (features @ [1.0, -0.05] + rng.normal(size=200) > 0).astype(np.float64)
    row_weights = rng.uniform(0.5, 2.0, 200)
    *weights, intercept = fit_binary(features, labels, row_weights).tolist()
    wrong = row_weights / row_weights.sum() * (sigmoid(features @ weights + intercept) - labels)
    assert wrong.sum() == pytest.approx(0.0, abs=1e-6)
    deviation = features.std(axis=0)
    assert wrong @ (features / deviation) == pytest.approx(-2e-3 * np.array(weights) * deviation, abs=1e-6)
