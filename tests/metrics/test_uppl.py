from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from languagemodels import tiny_language_model, words_of
from understudy.language.backends.transformer import CAUSAL, MASKED, Transformer, open_transformer
from understudy.metrics import Samples, uppl
from understudy.metrics.uppl import PersonaModel, TransformerPerplexity
from understudy.story.dialogue import LanguageModel, Situation, Turn
from understudy.story.persona import Persona

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


pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

LINES = ["the tide is out", "my key is on the hook and the tide is in", "key", "where is my boat , Tobias ?"]
SAMPLES = Samples({"Ines": LINES})
NEAR_INES = Situation(Persona("Ines"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {kind: tiny_language_model(folder / kind, kind, words_of(LINES)) for kind in (CAUSAL, MASKED)}


@pytest.fixture(scope="module")
def models(folders: dict[str, Path]) -> dict[str, Transformer]:
    return {kind: open_transformer(folder) for kind, folder in folders.items()}


@pytest.mark.parametrize("kind", [CAUSAL, MASKED])
def test_uppl_by_a_model_has_values_reasons_and_none_where_there_are_no_words(
    models: dict[str, Transformer], kind: str
) -> None:
    scores = TransformerPerplexity(SAMPLES, models[kind])([LINES[0], "   ", ""])
    by_protocol = uppl(SAMPLES, "Ines", models[kind])([LINES[0]])
    assert scores[0].name == "uppl" and scores[0].value == pytest.approx(by_protocol[0].value, rel=1e-5)
    log_probs = models[kind].log_probs(NEAR_INES, (), LINES[0])
    assert scores[0].value == pytest.approx(math.exp(-sum(log_probs) / len(log_probs)), rel=1e-5)
    least = min(zip(log_probs, models[kind].tokens(LINES[0])))[1]
    assert scores[0].reason.startswith(f"least expected: {least}")
    assert [score.value for score in scores[1:]] == [None, None]


@pytest.mark.parametrize("kind", [CAUSAL, MASKED])
def test_a_line_longer_than_the_window_is_read_as_far_as_it_goes(models: dict[str, Transformer], kind: str) -> None:
    long = " ".join(["tide"] * 1000)
    (score,) = TransformerPerplexity(SAMPLES, models[kind])([long])
    assert score.value is not None and np.isfinite(score.value)
    assert "more tokens are beyond what the model reads" in score.reason
