"""The network against numpy, one step after the other."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from models import tiny_lstm
from people import hearing, situation
from understudy.agents import agent_named, draws_on_lines
from understudy.agents.lstm import LSTMAgent, initial_parameters, parameter_shapes, rarity_weights
from understudy.errors import InputError
from understudy.language.model_folder import read_tensors, write_tensors
from understudy.story.dialogue import BatchAgent, BatchLanguageModel, Situation, Turn
from understudy.story.persona import Other, Persona

torch = pytest.importorskip("torch", reason="the models that write need the extra 'train'")

from understudy.agents.lstm import decode, encode, entries_of, log_softmax, padded, start_of, step  # noqa: E402

Reals = NDArray[np.float64]

TOKENS, WIDTH, HIDDEN = 14, 5, 7
CPU = torch.device("cpu")
WEIGHTS = rarity_weights(np.arange(1, TOKENS + 1))
START = initial_parameters(parameter_shapes(TOKENS, WIDTH, HIDDEN, has_memory=True), HIDDEN, seed=1)
START["embedding"][0] = 1  # padding is never looked up as a word
PARAMETERS = {name: torch.from_numpy(3 * tensor) for name, tensor in START.items()}
PLAIN: dict[str, Reals] = {name: 3 * tensor.astype(np.float64) for name, tensor in START.items()}


def sigmoid(values: Reals) -> Reals:
    result: Reals = 1 / (1 + np.exp(-values))
    return result


def softmax(values: Reals) -> Reals:
    grown = np.exp(values - values.max())
    result: Reals = grown / grown.sum()
    return result


def lstm(part: str, vector: Reals, hidden: Reals, cell: Reals) -> tuple[Reals, Reals]:
    gates = PLAIN[f"{part}.input"] @ vector + PLAIN[f"{part}.hidden"] @ hidden + PLAIN[f"{part}.bias"]
    opened, kept, new, shown = np.split(gates, 4)
    cell = sigmoid(kept) * cell + sigmoid(opened) * np.tanh(new)
    return sigmoid(shown) * np.tanh(cell), cell


def read(ids: list[int]) -> Reals:
    hidden = cell = np.zeros(HIDDEN)
    for index in ids:
        hidden, cell = lstm("encoder", PLAIN["embedding"][index], hidden, cell)
    return hidden


def memory(profile: list[list[int]]) -> Reals:
    alpha = [1 / (1 + np.log(1 + 1e6 / rank**1.07)) for rank in range(1, TOKENS + 1)]
    return np.stack([sum(alpha[index] * PLAIN["embedding"][index] for index in ids) for ids in profile])


def written(context: list[int], profile: list[list[int]], ids: list[int]) -> list[Reals]:
    """The probabilities of the next word at each step, by the formulas of the paper."""
    hidden = cell = read(context)
    distributions = []
    for index in ids:
        vector = PLAIN["embedding"][index]
        if profile:
            entries = memory(profile)
            attended = softmax(entries @ PLAIN["attention"] @ hidden) @ entries
            vector = np.tanh(PLAIN["combine"] @ np.concatenate([attended, vector]))
        hidden, cell = lstm("decoder", vector, hidden, cell)
        distributions.append(softmax(PLAIN["output.weight"] @ hidden + PLAIN["output.bias"]))
    return distributions


CONTEXTS = [[2, 7, 9], [2, 11, 8, 8, 12, 13], [2]]
PROFILES: list[list[list[int]]] = [[[8, 9], [10]], [[11, 12, 13]], []]
REPLIES = [[2, 8, 9, 10], [2, 13], [2, 12, 12]]


def start() -> Any:
    states = encode(PARAMETERS, padded(CONTEXTS, CPU))
    return start_of(states[torch.arange(3), torch.tensor([len(ids) - 1 for ids in CONTEXTS])])


def test_the_encoder_is_an_lstm_and_padding_changes_nothing() -> None:
    for state, ids in zip(start().hidden, CONTEXTS):
        np.testing.assert_allclose(state, read(ids), atol=1e-5)


@pytest.mark.parametrize("profiles", [PROFILES, [[], [], []]], ids=["memory", "none"])
def test_every_step_of_the_decoder_is_the_paper_s(profiles: list[list[list[int]]]) -> None:
    entries = entries_of(PARAMETERS, torch.from_numpy(WEIGHTS), profiles, CPU)
    assert (entries is None) == (not any(profiles))
    together = log_softmax(PARAMETERS, decode(PARAMETERS, start(), entries, padded(REPLIES, CPU))).exp()
    for row, (context, profile, ids) in enumerate(zip(CONTEXTS, profiles, REPLIES)):
        for position, expected in enumerate(written(context, profile, ids)):
            np.testing.assert_allclose(together[row, position], expected, atol=1e-5)


def test_one_step_after_the_other_is_the_same_as_all_at_once() -> None:
    entries = entries_of(PARAMETERS, torch.from_numpy(WEIGHTS), PROFILES, CPU)
    ids = padded([reply[:2] for reply in REPLIES], CPU)
    whole, state = decode(PARAMETERS, start(), entries, ids), start()
    for position in range(2):
        state = step(PARAMETERS, state, entries, ids[:, position])
        np.testing.assert_allclose(state.hidden, whole[:, position], atol=1e-6)
    assert state.attention is not None
    np.testing.assert_allclose(state.attention[:2].sum(dim=1), 1, atol=1e-6)
    assert state.attention[1, 1] == 0, "padding is not attended to"


def test_frequent_words_weigh_less() -> None:
    weights = rarity_weights(np.array([1, 10, 5000]))
    assert weights[0] == pytest.approx(1 / (1 + np.log(1_000_001)))
    assert weights[0] < weights[1] < weights[2] < 1


pytest.importorskip("torch", reason="the models that write need the extra 'train'")

AGENTS = ("seq2seq", "generative-memory")
agents = pytest.mark.parametrize("name", AGENTS)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("lstm")
    return {name: tiny_lstm(name, folder / name) for name in AGENTS}


def opened(model: Path) -> LSTMAgent:
    agent = agent_named(str(model))
    assert isinstance(agent, LSTMAgent)
    return agent


def questions(count: int) -> list[tuple[Situation, list[Turn], list[str]]]:
    """Questions of any shape: with and without profiles, history and candidates."""
    rng = random.Random(5)
    words = "where is the brass key ? in my pocket . unheard harbour pilot lost it".split()

    def text() -> str:
        return " ".join(rng.choices(words, k=rng.randrange(0, 12)))

    asked = []
    for number in range(count):
        profile = tuple(text() for _ in range(number % 4))
        faced = Other("Ines", tuple(text() for _ in range(number % 3))) if number % 2 else None
        history = [Turn(rng.choice(["Ines", "Tomas"]), text()) for _ in range(number % 5)]
        asked.append(
            (Situation(Persona("Tomas", profile=profile), faced=faced), history, [text() for _ in range(number % 6)])
        )
    return asked


@agents
def test_it_speaks_the_protocols(models: dict[str, Path], name: str) -> None:
    agent = opened(models[name])
    assert isinstance(agent, BatchLanguageModel) and isinstance(agent, BatchAgent)
    assert not draws_on_lines(str(models[name]))


@agents
def test_many_at_once_are_the_same_as_one_at_a_time(models: dict[str, Path], name: str) -> None:
    agent, asked = opened(models[name]), questions(60)
    together = agent.log_probs_many(asked)
    for (where, history, texts), of_texts in zip(asked, together):
        assert len(of_texts) == len(texts)
        for text, values in zip(texts, of_texts):
            alone = agent.log_probs(where, history, text)
            assert len(alone) == len(agent.vocabulary.ids(text)) + 1
            np.testing.assert_allclose(values, alone, atol=1e-4)
    replies = agent.reply_many([(where, history) for where, history, _ in asked])
    assert [reply.text for reply in replies] == [agent.reply(*question[:2]).text for question in asked]
    for scores, (where, history, texts) in zip(agent.score_many(asked), asked):
        np.testing.assert_allclose(scores, agent.score(where, history, texts), atol=1e-4)


@agents
def test_probabilities_of_all_next_words_add_up_to_1(models: dict[str, Path], name: str) -> None:
    agent = opened(models[name])
    where, history, _ = questions(8)[7]
    words = [*agent.vocabulary.words, "unheard"]
    first = [agent.log_probs(where, history, word)[0] for word in words]
    end = agent.log_probs(where, history, "")
    assert len(end) == 1
    special = 1 - sum(np.exp([*first, *end]))  # padding and markers, which no text has
    assert 0 < special < 0.7


@agents
def test_a_reply_has_the_log_probs_of_its_text(models: dict[str, Path], name: str) -> None:
    agent = opened(models[name])
    for where, history, _ in questions(12):
        reply = agent.reply(where, history)
        assert reply.log_probs is not None and "<unk>" not in reply.text
        expected = agent.log_probs(where, history, reply.text)
        np.testing.assert_allclose(reply.log_probs, expected[: len(reply.log_probs)], atol=1e-4)


@agents
def test_the_profile_matters(models: dict[str, Path], name: str) -> None:
    agent, text = opened(models[name]), "in my pocket ."
    values = [
        agent.log_probs(situation(profile=profile), hearing("where is the key ?"), text)
        for profile in ((), ("i lost the brass key.",), ("i lost the brass key.", "the pilot is in the harbour."))
    ]
    assert values[0] != values[1] != values[2]


def test_without_a_profile_the_memory_is_empty(models: dict[str, Path]) -> None:
    agent, text = opened(models["generative-memory"]), "in my pocket ."
    none, empty = (agent.log_probs(situation(profile=profile), [], text) for profile in ((), ("",)))
    assert none == empty
    agent.card["condition"] = "none"
    assert agent.log_probs(situation(), [], text) != none, "trained without memories, it has none"


def test_the_memory_says_which_sentence_it_looked_at(models: dict[str, Path]) -> None:
    sentences = ("the harbour pilot .", "where is it ?")
    reply = opened(models["generative-memory"]).reply(situation(profile=sentences), hearing("the key ?"))
    assert reply.evidence[0].kind == "profile" and reply.evidence[0].text in sentences
    assert {item.kind for item in opened(models["seq2seq"]).reply(situation(profile=sentences), []).evidence} == {
        "notice"
    }


@agents
def test_a_damaged_folder_is_refused(models: dict[str, Path], name: str, tmp_path: Path) -> None:
    def damaged(change: Any) -> Path:
        folder = tiny_lstm(name, tmp_path / "model")
        tensors, _ = read_tensors(folder / "weights.safetensors")
        change(tensors)
        write_tensors(folder / "weights.safetensors", tensors)
        return folder

    with pytest.raises(InputError, match=r"'output\.bias'"):
        opened(damaged(lambda tensors: tensors.pop("output.bias")))
    with pytest.raises(InputError, match=r"'embedding' is float32"):
        opened(damaged(lambda tensors: tensors.update(embedding=np.zeros((3, 12), np.float32))))
