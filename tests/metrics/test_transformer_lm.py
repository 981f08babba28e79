from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from languagemodels import tiny_model, words_of
from understudy.language.backends.transformer import CAUSAL, MASKED, Transformer, open_transformer
from understudy.metrics import Samples, uppl
from understudy.metrics.transformer_lm import TransformerPerplexity
from understudy.story.dialogue import Situation
from understudy.story.persona import Persona

pytest.importorskip("transformers", reason="a transformer needs the extra 'train'")

LINES = ["the tide is out", "my key is on the hook and the tide is in", "key", "where is my boat , Tobias ?"]
SAMPLES = Samples({"Ines": LINES})
SOMEWHERE = Situation(Persona("Ines"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {kind: tiny_model(folder / kind, kind, words_of(LINES)) for kind in (CAUSAL, MASKED)}


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
    log_probs = models[kind].log_probs(SOMEWHERE, (), LINES[0])
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
