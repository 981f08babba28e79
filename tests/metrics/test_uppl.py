from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from understudy.metrics import Samples, uppl
from understudy.metrics.uppl import PersonaModel
from understudy.story.dialogue import LanguageModel, Situation, Turn

SAID = {
    "Ines": ["my key is on the hook", "my key is gone", "where is my key", "the key is on the hook"] * 5,
    "Tobias": ["the tide is out", "the boat is out", "we row with the tide", "no boat is out"] * 5,
}


def test_a_line_like_the_personas_surprises_less() -> None:
    samples = Samples(SAID)
    own, foreign, unheard = uppl(samples, "Ines")(["my key is on the hook", "the tide is out", "quantum flux"])
    assert own.value is not None and foreign.value is not None and unheard.value is not None
    assert own.value < foreign.value < unheard.value
    assert own.value < uppl(samples, "Tobias")(["my key is on the hook"])[0].value  # type: ignore[operator]
    assert unheard.reason == "least expected: quantum, flux"


def test_it_is_the_perplexity_of_the_models_own_probabilities() -> None:
    samples = Samples(SAID)
    model = PersonaModel(samples, "Ines")
    assert isinstance(model, LanguageModel)
    log_probs = model.log_probs(SOMEWHERE, (), "my boat is gone")
    assert len(log_probs) == 5, "four words and the end of the line"
    values = uppl(samples, "Ines").values(samples.tokenize(["a", "my boat is gone", ""]))
    assert values[1] == pytest.approx(math.exp(-sum(log_probs) / 5))
    assert np.isnan(values[2])


def test_a_word_that_others_say_often_surprises_less_than_one_they_say_once() -> None:
    samples = Samples({**SAID, "Mara": ["a lamp is lit"]})
    metric = uppl(samples, "Ines")
    usual, rare, unknown = (score.value for score in metric(["my boat is gone", "my lamp is gone", "my moon is gone"]))
    assert usual is not None and rare is not None and unknown is not None
    assert usual < rare
    assert unknown > usual


def test_background_is_talk_of_everybody() -> None:
    samples = Samples({"Ines": ["my key is gone"]}, background=["the tide is out", "the tide is in"] * 5)
    usual, unheard = (score.value for score in uppl(samples, "Ines")(["my tide is gone", "my moon is gone"]))
    assert usual is not None and unheard is not None
    assert usual < unheard


SOMEWHERE = Situation(None)  # type: ignore[arg-type]


class Letters:
    """A language model that finds every letter but e hard."""

    def __init__(self) -> None:
        self.asked: list[Situation] = []

    def log_probs(self, situation: Situation, history: Sequence[Turn], text: str) -> list[float]:
        self.asked.append(situation)
        return [math.log(0.5 if letter == "e" else 0.125) for letter in text]


def test_any_language_model_can_be_asked() -> None:
    model = Letters()
    metric = uppl(Samples({}), "Ines", model)
    easy, mixed, nothing = metric(["eee", "ea", ""])
    assert easy.value == pytest.approx(2.0)
    assert mixed.value == pytest.approx(4.0)
    assert nothing.value is None
    assert model.asked[0].persona.name == "Ines"
    assert mixed.reason == "2 tokens, the least expected one with probability 0.13"
    uppl(Samples({}), "Ines", model, SOMEWHERE)(["e"])
    assert model.asked[-1] is SOMEWHERE


def test_without_lines_there_is_no_value() -> None:
    (score,) = uppl(Samples(SAID), "Mara")(["my key"])
    assert (score.value, score.reason) == (None, "no sample lines of Mara")
