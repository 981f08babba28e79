from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from understudy.errors import InputError
from understudy.language.model_folder import ModelFolder
from understudy.metrics.contradiction import (
    LABELS,
    ContradictionModel,
    contradiction,
    pair_features,
    sentences_of,
    shipped_contradiction_model,
)
from understudy.metrics.line_metric import Samples
from understudy.story.persona import Persona
from understudy.story.types import Moment, Relation

SAMPLES = Samples({"Ann": ["hello there ."]})
ANN = Persona("Ann", profile=("i have two dogs .", "i am a nurse ."))


def test_what_the_profile_says_otherwise_is_found_and_named() -> None:
    scores = contradiction(SAMPLES, ANN)(["i work as a lawyer .", "i am a nurse ."])
    against, same = scores
    assert against.value is not None and same.value is not None and against.value > 0.5 > same.value
    assert "lawyer" in against.reason and "nurse" in against.reason


def test_the_strongest_sentence_of_a_line_decides() -> None:
    alone, within = contradiction(SAMPLES, ANN)(
        ["i work as a lawyer .", "It is late. i work as a lawyer . Good night."]
    )
    assert alone.value is not None and within.value is not None and within.value >= alone.value - 1e-6


def test_a_question_states_nothing() -> None:
    assert sentences_of("Are you a lawyer? I am. (Sits.) ...") == ["I am.", "(Sits.)"]
    (score,) = contradiction(SAMPLES, ANN)(["Do you work as a lawyer?"])
    assert score.value == 0.0


def test_a_tie_is_contradicted_only_by_what_names_the_other_one() -> None:
    tie = Relation("Ann", "Bob Stone", "affection", 8, Moment((1,)))
    ann = Persona("Ann", relations=(tie,))
    model = replace(
        shipped_contradiction_model(),
        output=np.zeros_like(shipped_contradiction_model().output),
        output_bias=np.array([9.0, 0.0, 0.0], np.float32),
    )  # to which everything is a contradiction
    scores = contradiction(SAMPLES, ann, model=model)(["I hate bob.", "I hate him."])
    assert [round(score.value or 0.0) for score in scores] == [1, 0]


def test_without_a_profile_or_in_another_language_there_is_no_value() -> None:
    (score,) = contradiction(SAMPLES, Persona("Ann"))(["i am a lawyer ."])
    assert score.value is None and "no profile of Ann" in score.reason
    (score,) = contradiction(SAMPLES, replace(ANN, language="ja"))(["i am a lawyer ."])
    assert score.value is None and "English only" in score.reason


def test_probabilities_are_those_of_the_formula() -> None:
    rng = np.random.default_rng(0)
    scale, hidden, hidden_bias, output, output_bias = (
        np.abs(rng.normal(size=size)).astype(np.float32) for size in (12, (12, 4), 4, (4, 3), 3)
    )
    model = ContradictionModel(scale, np.float32(1 / 9) * hidden, hidden_bias, output, output_bias)
    first, second = rng.normal(size=(2, 5, 3)).astype(np.float32)
    probabilities = model.probabilities(first, second)
    assert probabilities.shape == (5, len(LABELS)) and np.allclose(probabilities.sum(axis=1), 1)
    x = np.concatenate([first[0], second[0], abs(first[0] - second[0]), first[0] * second[0]]) / scale
    odds = np.exp(np.maximum(x @ model.hidden + hidden_bias, 0) @ output + output_bias)
    assert np.allclose(probabilities[0], odds / odds.sum(), atol=1e-5)
    assert pair_features(first, second).shape == (5, 12)


def test_weights_that_do_not_fit_are_refused() -> None:
    tensors = shipped_contradiction_model().tensors()
    with pytest.raises(InputError, match="output"):
        ContradictionModel.of(ModelFolder({}, {**tensors, "output": np.zeros((3, 3), np.float32)}))
    with pytest.raises(InputError, match="scale"):
        ContradictionModel.of(ModelFolder({}, {**tensors, "scale": np.zeros_like(tensors["scale"])}))
