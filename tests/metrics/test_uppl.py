from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import tiny_language_model, words_of
from understudy.language.backends.transformer import CAUSAL, MASKED, Transformer, open_transformer
from understudy.language.lexical import Corpus
from understudy.metrics import Samples, uppl
from understudy.metrics.uppl import KneserNey, NgramPerplexity, TransformerPerplexity, unigram_shares
from understudy.story.dialogue import Situation
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
    metric = NgramPerplexity(samples, "Ines")
    log_probs = np.log(metric._model.probabilities(samples.tokenize(["my boat is gone"])))
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
    assert scores[0].name == "uppl"
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


WORDS = ["key", "lamp", "boat", "tide"]
SAID_LINES = st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), min_size=1, max_size=8)


def next_words(model: KneserNey, corpus: Corpus, history: list[str]) -> dict[str, float]:
    """How probable every word is after a history; '' is the end of the line, '?' any word the corpus does not have."""
    known = [corpus.word(number) for number in range(1, corpus.size)]
    distribution = {}
    for word in [*known, "?"]:
        said = "unheard" if word == "?" else word
        distribution[word] = float(model.probabilities(corpus.tokenize([" ".join([*history, said])]))[len(history)])
    distribution[""] = float(model.probabilities(corpus.tokenize([" ".join(history)]))[len(history)])
    return distribution


@given(SAID_LINES, st.lists(st.sampled_from([*WORDS, "unheard"]), max_size=3), st.data())
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
